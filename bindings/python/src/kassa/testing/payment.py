"""What a test sees of the fake gateway's books."""

from dataclasses import dataclass
from decimal import Decimal
from typing import NoReturn

from .. import _check
from .._convert import mirrors
from .._generated import native
from ..payments import PaymentKind, PaymentStatus


@mirrors(native.FakePayment)
@dataclass(frozen=True, slots=True)
class FakePayment:
    """A payment in the books of a `FakeGateway`."""

    kind: PaymentKind
    """What kind of payment it is."""
    order_number: str | None
    """The merchant's order number; for a pay-form the one that the payment got when its payer acted."""
    gateway_number: str | None
    """The gateway's own number, for cards."""
    transaction_id: str | None
    """The identifier of a QR transaction."""
    amount: Decimal | None
    """The amount in units of the currency (for KGS: som); None for a QR code of an open amount."""
    currency: str
    """The currency's three letters."""
    status: PaymentStatus
    """Where the payment stands."""
    page_url: str | None
    """The page that the payer opens: the 3DS confirmation, or the pay-form."""
    qr_text: str | None
    """The text of the QR code."""
    callback_url: str | None
    """Where callbacks about it would go. The fake gateway sends none: it hands them to the test."""

    def __bool__(self) -> NoReturn:
        # A test that asserts it would pass though nothing was paid.
        _check.no_truth(self, "payment.status == kassa.PaymentStatus.CHARGED")


@mirrors(native.FakeNotification)
@dataclass(frozen=True, slots=True)
class FakeNotification:
    """What the gateway tells about a payment that its payer has just made or declined, for a test to hand to the code that
    takes callbacks and returns."""

    callback: str
    """The body of the callback (webhook), for `kassa.Callback.parse`."""
    return_url: str | None
    """Where the payer's browser would come back to, for `kassa.ReturnRedirect.parse`; only after a payment, and where there is
    an address to return to."""
