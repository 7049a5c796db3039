"""What a program relies on of a gateway: interfaces (protocols), so that its tests can put stubs of their own behind them."""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from typing import Protocol

from .answers import CardPaymentCreated, MbankConfirmed, MbankPaymentCreated, PayFormCreated, QrData, QrImage
from .callbacks import Callback, ReturnRedirect
from .payments import PaymentRef, Provider, StatusReport
from .requests import CardPayment, MbankPayment, PayForm, QrPayment
from .verdict import Verdict
from .watching import AsyncStatusWatch, PollPolicy, StatusWatch


class PaymentGateway(Protocol):
    """What `Gateway` does, as a type for the parameters of your own functions. `Gateway` fits it as it is, and so does any
    class with these methods, such as a stub of your tests.

    >>> def is_paid(gateway: PaymentGateway, payment: PaymentRef) -> bool:
    ...     return gateway.check(payment).is_charged

    A stub that inherits from it has to have all of the methods. Where a test wants a gateway that behaves like the real one,
    `kassa.testing.FakeGateway` makes it, and a stub may hand calls on to that; a `StatusWatch` comes from there, too.
    """

    @abstractmethod
    def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money.** See `Gateway.create_card_payment`."""

    @abstractmethod
    def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Asks for the status of a payment by the **gateway's** own number. See `Gateway.payment_status`."""

    @abstractmethod
    def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment. **Moves money.** See `Gateway.create_mbank_payment`."""

    @abstractmethod
    def confirm_mbank_payment(self, payment: PaymentRef, otp: str) -> MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money.** See
        `Gateway.confirm_mbank_payment`."""

    @abstractmethod
    def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Makes a hosted page on which the payer picks how to pay. See `Gateway.create_pay_form`."""

    @abstractmethod
    def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Asks for the status of a payment by the **merchant's** order number. See `Gateway.provider_status`."""

    @abstractmethod
    def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Makes a QR code as the gateway's own picture. See `Gateway.create_qr_image`."""

    @abstractmethod
    def create_qr_data(self, payment: QrPayment) -> QrData:
        """Makes the data of a QR code. See `Gateway.create_qr_data`."""

    @abstractmethod
    def qr_status(self, transaction_id: str) -> StatusReport:
        """Asks for the status of a QR payment. See `Gateway.qr_status`."""

    @abstractmethod
    def check(self, payment: PaymentRef) -> Verdict:
        """Asks about a payment once. See `Gateway.check`."""

    @abstractmethod
    def verify_callback(self, callback: Callback, payment: PaymentRef) -> Verdict:
        """Verifies a callback, which is only a hint. See `Gateway.verify_callback`."""

    @abstractmethod
    def verify_return(self, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict:
        """Verifies that a payment is made when its payer comes back. See `Gateway.verify_return`."""

    @abstractmethod
    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> StatusWatch:  # noqa: B008 (frozen)
        """Asks about a payment until there is a final `Verdict`. See `Gateway.watch`."""

    @abstractmethod
    def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls and waits for the payments on their way, not longer than the timeout: whether none is left. See
        `Gateway.close`."""


class AsyncPaymentGateway(Protocol):
    """What `AsyncGateway` does, as a type for the parameters of your own functions: the methods of `PaymentGateway`, each to be
    awaited.

    >>> async def is_paid(gateway: AsyncPaymentGateway, payment: PaymentRef) -> bool:
    ...     return (await gateway.check(payment)).is_charged
    """

    @abstractmethod
    async def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money.** See `Gateway.create_card_payment`."""

    @abstractmethod
    async def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Asks for the status of a payment by the **gateway's** own number. See `Gateway.payment_status`."""

    @abstractmethod
    async def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment. **Moves money.** See `Gateway.create_mbank_payment`."""

    @abstractmethod
    async def confirm_mbank_payment(self, payment: PaymentRef, otp: str) -> MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money.** See
        `Gateway.confirm_mbank_payment`."""

    @abstractmethod
    async def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Makes a hosted page on which the payer picks how to pay. See `Gateway.create_pay_form`."""

    @abstractmethod
    async def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Asks for the status of a payment by the **merchant's** order number. See `Gateway.provider_status`."""

    @abstractmethod
    async def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Makes a QR code as the gateway's own picture. See `Gateway.create_qr_image`."""

    @abstractmethod
    async def create_qr_data(self, payment: QrPayment) -> QrData:
        """Makes the data of a QR code. See `Gateway.create_qr_data`."""

    @abstractmethod
    async def qr_status(self, transaction_id: str) -> StatusReport:
        """Asks for the status of a QR payment. See `Gateway.qr_status`."""

    @abstractmethod
    async def check(self, payment: PaymentRef) -> Verdict:
        """Asks about a payment once. See `Gateway.check`."""

    @abstractmethod
    async def verify_callback(self, callback: Callback, payment: PaymentRef) -> Verdict:
        """Verifies a callback, which is only a hint. See `Gateway.verify_callback`."""

    @abstractmethod
    async def verify_return(self, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict:
        """Verifies that a payment is made when its payer comes back. See `Gateway.verify_return`."""

    @abstractmethod
    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> AsyncStatusWatch:  # noqa: B008 (frozen)
        """Asks about a payment until there is a final `Verdict`. See `Gateway.watch`."""

    @abstractmethod
    async def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls and waits for the payments on their way, not longer than the timeout: whether none is left. See
        `Gateway.close`."""
