"""Answers: the gateway accepted a request."""

from datetime import timedelta
from decimal import Decimal
from typing import NoReturn, TypeAlias

from . import _check
from ._codec import record, variant
from ._core import method
from ._dataclass import dataclass
from .payment_entry import PaymentEntry
from .payments import PaymentRef
from .violations import Advice


class _Accepted:
    """Base class of all answers."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        # The gateway accepted a request. It does not mean "paid".
        _check.no_truth(self, "gateway.check(payment).is_charged whether it is paid")


@variant("NextStep.OpenConfirmation")
@dataclass(frozen=True, slots=True)
class OpenConfirmation:
    """Open this page for the payer, who confirms the payment there (3DS)."""

    url: str
    """The page to open. Always https, or loopback."""


@variant("NextStep.CheckStatus")
@dataclass(frozen=True, slots=True)
class CheckStatus:
    """Nothing to confirm. Query the status: only a status query decides whether the payment is charged."""

    status: str | None = None
    """The status word in the create response, such as ``Success``."""


NextStep: TypeAlias = OpenConfirmation | CheckStatus
"""The next step after a card payment was accepted."""


@record("CardPaymentCreated")
@dataclass(frozen=True, slots=True)
class CardPaymentCreated(_Accepted):
    """The gateway accepted a card payment. **It is not paid yet**: follow `next_step`, then watch `payment`."""

    payment: PaymentRef
    """The payment reference. Store it in place of the one made before sending: it may hold more numbers."""
    next_step: NextStep
    """The next step: `OpenConfirmation` or `CheckStatus`."""
    code: str | None
    """The gateway's code, ``110``."""
    amount: Decimal | None
    """The amount as the gateway reports it."""
    currency: str | None
    """The currency as the gateway reports it."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """The entry to store in place of the reference: it also holds the confirmation page, if any."""
        entry: PaymentEntry = method("CardPaymentCreated.entry", self)
        return entry


@record("MbankPaymentCreated")
@dataclass(frozen=True, slots=True)
class MbankPaymentCreated(_Accepted):
    """The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password."""

    payment: PaymentRef
    """The payment reference, for the confirmation and for status queries. Store it in place of the one made before sending:
    it may hold more numbers."""
    code: str | None
    """The gateway's code, if any."""
    reason: str | None
    """The gateway's message, if any."""
    status: str | None
    """The status word in the response, if any. Only a status query decides whether the payment is charged."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """The entry to store in place of the reference."""
        entry: PaymentEntry = method("MbankPaymentCreated.entry", self)
        return entry


@record("MbankConfirmed")
@dataclass(frozen=True, slots=True)
class MbankConfirmed(_Accepted):
    """The gateway accepted a confirmation. **Accepted, not final**: watch `payment` for its final status."""

    payment: PaymentRef
    """The payment reference, for status queries."""
    code: str | None
    """The gateway's code, if any."""
    reason: str | None
    """The gateway's message, if any."""
    status: str | None
    """The status word in the response, if any. Only a status query decides whether the payment is charged."""
    raw: str
    """The whole response, with secrets masked."""


@record("MegapayChecked")
@dataclass(frozen=True, slots=True)
class MegapayChecked(_Accepted):
    """The wallet can pay, and its PIN is on its way to the payer. **Nothing is paid yet**: show the payer the total, ask for
    the PIN, and call ``pay_by_megapay``."""

    payment: PaymentRef
    """The payment reference, for status queries."""
    commission: Decimal | None
    """The amount that the payer pays in addition, in KGS. None if the response has none, or the dialect does not find it."""
    total: Decimal | None
    """The amount that the payer pays in all, in KGS: the requested amount and the commission. None without a commission."""
    pin_lifetime: timedelta | None
    """How long the PIN is valid, counted from the response. None if the response does not say so."""
    code: str | None
    """The gateway's code, if any."""
    reason: str | None
    """The gateway's message, if any."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """The entry to store in place of the reference."""
        entry: PaymentEntry = method("MegapayChecked.entry", self)
        return entry


@record("MegapayAccepted")
@dataclass(frozen=True, slots=True)
class MegapayAccepted(_Accepted):
    """The gateway accepted a MegaPay payment with its PIN. **Accepted, not final**: watch `payment` for its final status."""

    payment: PaymentRef
    """The payment reference, for status queries."""
    transaction_id: str | None
    """MegaPay's number of the operation, if any: for statements and receipts. No status query takes it."""
    code: str | None
    """The gateway's code, if any."""
    reason: str | None
    """The gateway's message, if any."""
    status: str | None
    """The status word in the response, if any. Only a status query decides whether the payment is charged."""
    raw: str
    """The whole response, with secrets masked."""


@record("PayFormCreated")
@dataclass(frozen=True, slots=True)
class PayFormCreated(_Accepted):
    """A pay-form (the gateway's own payment page), ready for the payer."""

    payment: PaymentRef
    """The payment reference, to verify the callback and the return. Store it."""
    pay_form_url: str
    """The page to open in a new browser window. Always https, or loopback."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """The entry to store in place of the reference: it also holds the page."""
        entry: PaymentEntry = method("PayFormCreated.entry", self)
        return entry


@record("QrImage")
@dataclass(frozen=True, slots=True, repr=False)
class QrImage(_Accepted):
    """A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, validated. It carries no identifier: see
    `QrPayment`."""

    payment: PaymentRef
    """The payment reference, to verify the callback. Store it."""
    png: bytes
    """The PNG file."""
    raw: str
    """The whole response as text."""

    def __repr__(self) -> str:
        return f"QrImage(400x400, {len(self.png)} bytes)"


@record("QrData")
@dataclass(frozen=True, slots=True)
class QrData(_Accepted):
    """The data of a dynamic QR code, as far as the dialect finds it in the response. The whole response is in `raw`."""

    payload: str | None
    """The text of the code, to be drawn with `QrCode`. If it is an ELQR code, `Elqr.parse` reads it, and Kassa has checked
    that its amount is the requested one, its currency the som, and its checksum right."""
    transaction_id: str | None
    """The identifier of the QR transaction."""
    payment: PaymentRef
    """The payment reference. Store it. A status query needs its transaction id."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """The entry to store in place of the reference: it also holds the text of the code, if the dialect finds it."""
        entry: PaymentEntry = method("QrData.entry", self)
        return entry

    def advice(self) -> tuple[Advice, ...]:
        """What the dialect does not find in the response: without ``payload`` there is no code to show; without
        ``transaction_id`` the status cannot be queried. It blocks nothing."""
        advice: tuple[Advice, ...] = method("QrData.advice", self)
        return advice
