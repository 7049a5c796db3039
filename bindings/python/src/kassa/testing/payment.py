"""Payments of the fake gateway, as a test sees them."""

from decimal import Decimal
from typing import NoReturn

from .. import _check
from .._codec import record
from .._dataclass import dataclass
from ..payments import PaymentKind, PaymentStatus


@record("FakePayment")
@dataclass(frozen=True, slots=True)
class FakePayment:
    """A payment of a `FakeGateway`."""

    kind: PaymentKind
    """The kind of payment."""
    order_number: str | None
    """The merchant's order number; for a pay-form the number that the payment got when its payer acted."""
    gateway_number: str | None
    """The gateway's own number, for cards."""
    transaction_id: str | None
    """The identifier of a QR transaction."""
    amount: Decimal | None
    """The amount in units of the currency (for KGS: som); None for a QR code without an amount."""
    currency: str
    """The currency's three letters."""
    status: PaymentStatus
    """The payment's status."""
    page_url: str | None
    """The page that the payer opens: the 3DS confirmation, or the pay-form."""
    qr_text: str | None
    """The text of the QR code."""
    callback_url: str | None
    """The callback URL. The fake gateway sends nothing to it: it returns callbacks to the test."""

    def __bool__(self) -> NoReturn:
        # A test that asserts it would pass though nothing was paid.
        _check.no_truth(self, "payment.status == kassa.PaymentStatus.CHARGED")


@record("FakeNotification")
@dataclass(frozen=True, slots=True)
class FakeNotification:
    """What the gateway sends after the payer has paid or declined, for a test to pass to the code that handles callbacks and
    returns."""

    callback: str
    """The body of the callback (webhook), for `kassa.Callback.parse`."""
    return_url: str | None
    """The URL to which the payer's browser would return, for `kassa.ReturnRedirect.parse`; only after a payment, and if there
    is a return URL."""
