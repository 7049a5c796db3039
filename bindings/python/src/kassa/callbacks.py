"""What the gateway tells the merchant on its own, and what the payer's browser brings back. Both are hints."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, TypeAlias

from . import _check
from ._calls import call
from ._convert import lift, lifts, lower, lowers, mirrors
from ._generated import native
from .errors import Invalid
from .payments import PaymentRef, PaymentStatus, Provider, StatusReport
from .violations import Rule, Violation


@dataclass(frozen=True, slots=True)
class Callback:
    """A notification that the gateway sends to the merchant when the status of a payment changes.

    **It is a hint**: the interface shows no signature, so anybody can send one, and it can come late, twice or never. Ask the
    gateway with ``gateway.verify_callback(callback, expected)`` before anything is shipped.
    """

    order_number: str
    """The order number of the payment."""
    amount: Decimal
    """The amount. **For QR payments the unit is not known** (som or tyiyn)."""
    currency: str | None
    """The currency, where it is given."""
    status: PaymentStatus
    """The status that the callback claims, by the default words."""
    date_created: datetime | None
    """When the payment was made, where the text of it is understood: **without a zone**, because the interface names none,
    and in whole microseconds."""
    date_created_text: str
    """The same as it came."""
    requisite: str | None
    """The payee, given for QR payments only."""
    provider: Provider
    """Who carried the payment out."""
    raw: str
    """The whole body."""

    @classmethod
    def parse(cls, body: str | bytes) -> "Callback":
        """Reads the body of a callback. Fields that are not known are kept in `raw`.

        Raises `kassa.Invalid` naming every field that is missing or cannot be read.
        """
        callback: Callback = call(native.parse_callback, _body_text(body))
        return callback

    def dedup_key(self) -> str:
        """The same text for every copy of the same notification, however it is formatted: remember it, and a duplicate is
        seen."""
        key: str = call(lower(self).dedup_key)
        return key

    def payment_ref(self) -> PaymentRef | None:
        """What to ask about the payment with; a QR payment has nothing of that kind in its callback."""
        ref: PaymentRef | None = call(lower(self).payment_ref)
        return ref


def _body_text(body: str | bytes) -> str:
    if isinstance(body, bytes | bytearray | memoryview):
        try:
            return bytes(body).decode()
        except UnicodeDecodeError:
            violation = Violation("callback", Rule.FORMAT, None, "callback is not UTF-8")
            raise Invalid((violation,)) from None
    return _check.text("body", body)


_PLAIN = ("order_number", "amount", "currency", "status", "date_created_text", "requisite", "provider", "raw")


def _lift_callback(callback: Any) -> Callback:
    fields = {name: lift(getattr(callback, name)) for name in _PLAIN}
    return Callback(date_created=lift(callback.date_created), **fields)


def _lower_callback(callback: Callback) -> Any:
    """As it came, where it is still what came: the core knows nanoseconds, and the key of a duplicate depends on them."""
    try:
        original = native.parse_callback(callback.raw)
    except native.PaymentError:
        original = None
    if original is not None and _lift_callback(original) == callback:
        return original
    fields = {name: lower(getattr(callback, name)) for name in _PLAIN}
    return native.Callback(date_created=lower(callback.date_created), **fields)


def _lift_moment(moment: Any) -> datetime | None:
    try:
        return datetime(
            moment.year,
            moment.month,
            moment.day,
            moment.hour,
            moment.minute,
            moment.second,
            moment.nanosecond // 1000,
        )
    except ValueError:
        # A year that Python has no date for. The text is still there.
        return None


def _lower_moment(moment: datetime) -> Any:
    return native.LocalDateTime(
        year=moment.year,
        month=moment.month,
        day=moment.day,
        hour=moment.hour,
        minute=moment.minute,
        second=moment.second,
        nanosecond=moment.microsecond * 1000,
    )


lifts(native.LocalDateTime, _lift_moment)
lowers(datetime, _lower_moment)
lifts(native.Callback, _lift_callback)
lowers(Callback, _lower_callback)


@mirrors(native.ExpectedPayment)
@dataclass(frozen=True, slots=True)
class ExpectedPayment:
    """What a merchant knows of a payment, to be compared with a callback.

    **One payment pays for one order.** The number of a pay-form or QR payment is the gateway's own, so anybody who paid once
    can name that payment in a callback for another cart of the same amount: remember which numbers were taken, and take none
    twice.
    """

    payment: PaymentRef
    """What was stored before the payment was sent; `PaymentRef.unnumbered` where its number is not known yet."""
    amount: Decimal | int
    """The amount in units of the currency (for KGS: som)."""
    currency: str
    """The currency's three letters."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        object.__setattr__(self, "amount", _check.amount("amount", self.amount))
        _check.text("currency", self.currency)


@mirrors(native.CallbackVerdict.CONFIRMED)
@dataclass(frozen=True, slots=True)
class Confirmed:
    """The payment is final, and nothing contradicts anything. **Act on the report's status**; see `is_charged`."""

    report: StatusReport
    """The gateway's own report."""

    def __post_init__(self) -> None:
        _check.report_of(self, self.report.status.is_final)

    @property
    def is_charged(self) -> bool:
        """True where the gateway itself says that the money was taken: the only reason to ship."""
        return _is_charged(self)


@mirrors(native.CallbackVerdict.PENDING)
@dataclass(frozen=True, slots=True)
class Pending:
    """The gateway says that the payment is still open. Watch it."""

    report: StatusReport
    """The gateway's own report."""

    def __post_init__(self) -> None:
        _check.report_of(self, not self.report.status.is_final)

    @property
    def is_charged(self) -> bool:
        """False."""
        return _is_charged(self)


@mirrors(native.CallbackVerdict.CONTRADICTED)
@dataclass(frozen=True, slots=True)
class Contradicted:
    """The callback, the gateway's report and what the merchant expects do not agree. Do not act on it."""

    fields: tuple[str, ...]
    """The fields that differ, as the interface spells them."""
    report: StatusReport | None
    """The gateway's own report, where it was asked."""

    @property
    def is_charged(self) -> bool:
        """False."""
        return _is_charged(self)


@mirrors(native.CallbackVerdict.UNVERIFIABLE)
@dataclass(frozen=True, slots=True)
class Unverifiable:
    """Nothing can be proved: there is nothing to ask the gateway with (a QR payment without a transaction id, a provider
    that is not known), or nothing ties the payment to what is expected: it has no number of the merchant's own choice (no
    pay-form has one), and the gateway tells no amount to compare, or one of an unknown unit."""

    @property
    def is_charged(self) -> bool:
        """False."""
        return _is_charged(self)


CallbackVerdict: TypeAlias = Confirmed | Pending | Contradicted | Unverifiable
"""What the gateway says about a callback. Only `Confirmed` with a charged report is a reason to ship."""


def _is_charged(verdict: CallbackVerdict) -> bool:
    charged: bool = call(lower(verdict).is_charged)
    return charged


@mirrors(native.ReturnRedirect)
@dataclass(frozen=True, slots=True)
class ReturnRedirect:
    """The payer's return from the gateway's pages. **It is a hint**: anybody can make one. The status decides."""

    order_number: str
    """The order number, from ``OrderNumber``."""
    status_code: str | None = None
    """The status code, from ``statusCode``; ``200`` on success. Any text is carried."""

    @classmethod
    def parse(cls, url: str) -> "ReturnRedirect":
        """Reads the URL that the payer came back to. Where a name occurs twice, the last one counts: the gateway adds its own
        after the merchant's.

        Raises `kassa.Invalid` where the text is not an absolute URI, or names no order.
        """
        redirect: ReturnRedirect = call(native.parse_return_redirect, _check.text("url", url))
        return redirect
