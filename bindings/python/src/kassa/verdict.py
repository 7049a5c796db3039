"""What the gateway says about a payment, compared with what was asked for."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal, NoReturn, TypeAlias

from . import _check
from ._calls import call
from ._convert import lower, mirror_fields
from ._generated import native
from .payments import PaymentRef, PaymentStatus, StatusReport


class _Judged:
    """What all verdicts share."""

    __slots__ = ()

    @property
    def is_charged(self) -> bool:
        """True where the money was taken, and nothing contradicts what was asked for: the only reason to ship."""
        charged: bool = call(lower(self).is_charged)
        return charged

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "verdict.is_charged, or whether it is None")


@dataclass(frozen=True, slots=True)
class Charged(_Judged):
    """The money was taken, nothing contradicts what was asked for, and something of the merchant's own ties the report to this
    payment: its number, or, where the number was only claimed, the amount. **The only reason to ship.**

    **One payment pays for one order**: where the number was only claimed (a pay-form's always is), remember it, and accept it
    for no other order.
    """

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    compared: tuple[str, ...]
    """The fields of the report that were there and are as they were asked for: ``orderNumber``, ``amount``, ``currency``.
    And ``code.amount``, where the report of a QR payment has no amount: its transaction stood in the code that was shown to the
    payer, whose amount is the one that was asked for, and cannot be changed by the payer."""
    kind: Literal["charged"] = field(default="charged", repr=False, kw_only=True)
    """Tells stored verdicts apart."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        object.__setattr__(self, "compared", _check.texts("compared", self.compared))
        _check.verdict(self, "charged", report.status == PaymentStatus.CHARGED)


@dataclass(frozen=True, slots=True)
class Rejected(_Judged):
    """The payment ended without the money being taken. On a pay-form the payer may try again."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    kind: Literal["rejected"] = field(default="rejected", repr=False, kw_only=True)
    """Tells stored verdicts apart."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        _check.verdict(self, "rejected", report.status == PaymentStatus.REJECTED)


@dataclass(frozen=True, slots=True)
class Pending(_Judged):
    """The gateway says that the payment is still pending. Watch it."""

    payment: PaymentRef
    """The payment to watch, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    kind: Literal["pending"] = field(default="pending", repr=False, kw_only=True)
    """Tells stored verdicts apart."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        _check.verdict(self, "pending", not report.status.is_final)


@dataclass(frozen=True, slots=True)
class Mismatch(_Judged):
    """The report, the callback or the return is about another order, amount or currency than was asked for. Do not act on it;
    let a person look."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    fields: tuple[str, ...]
    """The fields that differ, as the interface spells them."""
    report: StatusReport | None = None
    """The gateway's own report, where it was asked."""
    kind: Literal["mismatch"] = field(default="mismatch", repr=False, kw_only=True)
    """Tells stored verdicts apart."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        object.__setattr__(self, "fields", _check.texts("fields", self.fields))
        _check.optional_instance("report", self.report, StatusReport)
        _check.verdict(self, "mismatch")


@dataclass(frozen=True, slots=True)
class Unverifiable(_Judged):
    """Nothing can be proved: there is nothing to ask the gateway with, or what it says is not tied to this payment."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    why: str
    """What is missing."""
    report: StatusReport | None = None
    """The gateway's own report, where it was asked."""
    kind: Literal["unverifiable"] = field(default="unverifiable", repr=False, kw_only=True)
    """Tells stored verdicts apart."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        _check.text("why", self.why)
        _check.optional_instance("report", self.report, StatusReport)
        _check.verdict(self, "unverifiable")


Verdict: TypeAlias = Charged | Rejected | Pending | Mismatch | Unverifiable
"""What the gateway says about a payment, compared with what was asked for. **Only `Charged` is a reason to ship.**

It is the same, made in the same place, whether a payment is asked about once (``check``), until it ends (``watch``), or because
of a callback or a return (``verify_callback``, ``verify_return``). Each has ``is_charged``, the ``payment`` that it is about,
and ``report``, which is None where the gateway was not asked. ``kind`` names the verdict; JSON needs it, so that no verdict is
read back as another.

A verdict is neither true nor false: ``if verdict`` raises `TypeError`, because every verdict would pass it. Ask ``is_charged``.
"""


def _mirrors(core: Any, own: type[_Judged]) -> None:
    mirror_fields(core, own, [each.name for each in fields(own) if each.name != "kind"])  # type: ignore[arg-type]


_mirrors(native.Verdict.CHARGED, Charged)
_mirrors(native.Verdict.REJECTED, Rejected)
_mirrors(native.Verdict.PENDING, Pending)
_mirrors(native.Verdict.MISMATCH, Mismatch)
_mirrors(native.Verdict.UNVERIFIABLE, Unverifiable)
