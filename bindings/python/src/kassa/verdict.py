"""Verdicts: the gateway's report on a payment, compared with the request."""

from typing import Literal, NoReturn, TypeAlias

from . import _check
from ._codec import variant
from ._core import method
from ._dataclass import dataclass, field
from .payments import PaymentRef, PaymentStatus, StatusReport


class _Judged:
    """Base class of all verdicts."""

    __slots__ = ()

    @property
    def is_charged(self) -> bool:
        """True if the money was taken and nothing contradicts the request: the only reason to ship."""
        charged: bool = method("Verdict.is_charged", self)
        return charged

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "verdict.is_charged, or whether it is None")


@variant("Verdict.Charged")
@dataclass(frozen=True, slots=True)
class Charged(_Judged):
    """The money was taken, nothing contradicts the request, and data of the merchant's ties the report to this payment: its
    number or, if the number was only claimed, the amount. **The only reason to ship.**

    **One payment pays for one order**: if the number was only claimed (a pay-form's always is), store it, and accept it for
    no other order.
    """

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    compared: tuple[str, ...]
    """The fields of the report that match the request: ``orderNumber``, ``amount``, ``currency``. Also ``code.amount`` if the
    report of a QR payment has no amount: its transaction was in the code that the payer was shown, and that code has the
    requested amount, which the payer cannot change."""
    kind: Literal["charged"] = field(default="charged", repr=False, kw_only=True)
    """Distinguishes stored verdicts."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        object.__setattr__(self, "compared", _check.texts("compared", self.compared))
        _check.verdict(self, "charged", report.status == PaymentStatus.CHARGED)


@variant("Verdict.Rejected")
@dataclass(frozen=True, slots=True)
class Rejected(_Judged):
    """The payment ended without the money being taken. On a pay-form the payer may try again."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    kind: Literal["rejected"] = field(default="rejected", repr=False, kw_only=True)
    """Distinguishes stored verdicts."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        _check.verdict(self, "rejected", report.status == PaymentStatus.REJECTED)


@variant("Verdict.Pending")
@dataclass(frozen=True, slots=True)
class Pending(_Judged):
    """The gateway says that the payment is still pending. Watch it."""

    payment: PaymentRef
    """The payment to watch, with the number by which it was found."""
    report: StatusReport
    """The gateway's own report."""
    kind: Literal["pending"] = field(default="pending", repr=False, kw_only=True)
    """Distinguishes stored verdicts."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        report = _check.instance("report", self.report, StatusReport)
        _check.verdict(self, "pending", not report.status.is_final)


@variant("Verdict.Mismatch")
@dataclass(frozen=True, slots=True)
class Mismatch(_Judged):
    """The report, the callback or the return is about another order, amount or currency than the request. Do not act on it;
    let a person look."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    fields: tuple[str, ...]
    """The fields that differ, by their names in the interface."""
    report: StatusReport | None = None
    """The gateway's own report, if it was queried."""
    kind: Literal["mismatch"] = field(default="mismatch", repr=False, kw_only=True)
    """Distinguishes stored verdicts."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        object.__setattr__(self, "fields", _check.texts("fields", self.fields))
        _check.optional_instance("report", self.report, StatusReport)
        _check.verdict(self, "mismatch")


@variant("Verdict.Unverifiable")
@dataclass(frozen=True, slots=True)
class Unverifiable(_Judged):
    """Nothing can be proved: there is no number to query by, or the report is not tied to this payment."""

    payment: PaymentRef
    """The payment, with the number by which it was found."""
    why: str
    """What is missing."""
    report: StatusReport | None = None
    """The gateway's own report, if it was queried."""
    kind: Literal["unverifiable"] = field(default="unverifiable", repr=False, kw_only=True)
    """Distinguishes stored verdicts."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        _check.text("why", self.why)
        _check.optional_instance("report", self.report, StatusReport)
        _check.verdict(self, "unverifiable")


Verdict: TypeAlias = Charged | Rejected | Pending | Mismatch | Unverifiable
"""The gateway's report on a payment, compared with the request. **Only `Charged` is a reason to ship.**

Every status check returns one: a single query (``check``), polling (``watch``), and the verification of a callback or a
return (``verify_callback``, ``verify_return``). Each has ``is_charged``, its ``payment``, and ``report``, which is None if
the gateway was not queried. ``kind`` names the verdict; JSON needs it, so that no verdict is read back as another.

A verdict has no truth value: ``if verdict`` raises `TypeError`, because every verdict would be true. Use ``is_charged``.
"""
