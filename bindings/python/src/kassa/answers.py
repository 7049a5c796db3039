"""What the gateway answers where it accepted something."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn, TypeAlias

from . import _check
from ._calls import call
from ._convert import lower, mirrors
from ._generated import native
from .payment_entry import PaymentEntry
from .payments import PaymentRef
from .violations import Advice


class _Accepted:
    """What all answers share."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        # The gateway accepted a request, which is easily taken for "paid".
        _check.no_truth(self, "gateway.check(payment).is_charged whether it is paid")


@mirrors(native.NextStep.OPEN_CONFIRMATION)
@dataclass(frozen=True, slots=True)
class OpenConfirmation:
    """Open this page for the payer, who confirms the payment there (3DS)."""

    url: str
    """The page to open. Always https, or loopback."""


@mirrors(native.NextStep.CHECK_STATUS)
@dataclass(frozen=True, slots=True)
class CheckStatus:
    """Nothing to confirm. Ask for the status: only a status query decides a payment."""

    status: str | None = None
    """The word that the create response showed, such as ``Success``."""


NextStep: TypeAlias = OpenConfirmation | CheckStatus
"""What comes after a card payment was accepted."""


@mirrors(native.CardPaymentCreated)
@dataclass(frozen=True, slots=True)
class CardPaymentCreated(_Accepted):
    """The gateway accepted a card payment. **It is not paid yet**: follow `next_step`, then watch `payment`."""

    payment: PaymentRef
    """What to ask about the payment with. Store it: it may know more than the one made before sending."""
    next_step: NextStep
    """What comes next: `OpenConfirmation` or `CheckStatus`."""
    code: str | None
    """The gateway's code, ``110``."""
    amount: Decimal | None
    """The amount as the gateway reports it."""
    currency: str | None
    """The currency as the gateway reports it."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """What to store in place of the reference: it also holds the confirmation page, where there is one."""
        entry: PaymentEntry = call(lower(self).entry)
        return entry


@mirrors(native.MbankPaymentCreated)
@dataclass(frozen=True, slots=True)
class MbankPaymentCreated(_Accepted):
    """The gateway accepted a mobile-bank payment. **Accepted, not paid**: confirm it with the payer's one-time password."""

    payment: PaymentRef
    """What to ask about the payment with, and to confirm it with. Store it: it may know more than the one made before
    sending."""
    code: str | None
    """The gateway's code, where there is one."""
    reason: str | None
    """The gateway's own words, where there are any."""
    status: str | None
    """The status word that the response shows, where there is one. Only a status query decides a payment."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """What to store in place of the reference."""
        entry: PaymentEntry = call(lower(self).entry)
        return entry


@mirrors(native.MbankConfirmed)
@dataclass(frozen=True, slots=True)
class MbankConfirmed(_Accepted):
    """The gateway accepted a confirmation. **Accepted, not final**: watch `payment` for its final status."""

    payment: PaymentRef
    """What to ask about the payment with."""
    code: str | None
    """The gateway's code, where there is one."""
    reason: str | None
    """The gateway's own words, where there are any."""
    status: str | None
    """The status word that the response shows, where there is one. Only a status query decides a payment."""
    raw: str
    """The whole response, with secrets masked."""


@mirrors(native.PayFormCreated)
@dataclass(frozen=True, slots=True)
class PayFormCreated(_Accepted):
    """A hosted page, ready for the payer."""

    payment: PaymentRef
    """What to verify its callback and return with. Store it."""
    pay_form_url: str
    """The page to open in a new browser window. Always https, or loopback."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """What to store in place of the reference: it also holds the page."""
        entry: PaymentEntry = call(lower(self).entry)
        return entry


@mirrors(native.QrImage)
@dataclass(frozen=True, slots=True, repr=False)
class QrImage(_Accepted):
    """A dynamic QR code as the gateway's own picture: a PNG of 400x400 pixels, checked. It carries no identifier: see
    `QrPayment`."""

    payment: PaymentRef
    """What to verify its callback with. Store it."""
    png: bytes
    """The PNG file."""
    raw: str
    """The whole response as text."""

    def __repr__(self) -> str:
        return f"QrImage(400x400, {len(self.png)} bytes)"


@mirrors(native.QrData)
@dataclass(frozen=True, slots=True)
class QrData(_Accepted):
    """The data of a dynamic QR code. What the dialect finds in the response is here; the whole response is in `raw`."""

    payload: str | None
    """The text of the code, to be drawn with `QrCode`. Where it is one in ELQR, `Elqr.parse` reads it, and it is what was asked
    for: its amount, the som, and a right checksum."""
    transaction_id: str | None
    """The identifier of the QR transaction."""
    payment: PaymentRef
    """What to ask about the payment with; only where there is a transaction id, it can be asked about. Store it."""
    raw: str
    """The whole response, with secrets masked."""

    def entry(self) -> PaymentEntry:
        """What to store in place of the reference: it also holds the text of the code, where the dialect finds it."""
        entry: PaymentEntry = call(lower(self).entry)
        return entry

    def advice(self) -> tuple[Advice, ...]:
        """What the dialect does not find in the response, and what that means: without ``payload`` there is no code to show,
        without ``transaction_id`` the payment cannot be asked about. It blocks nothing."""
        advice: tuple[Advice, ...] = call(lower(self).advice)
        return advice
