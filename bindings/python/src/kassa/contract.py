"""Protocols of the gateway, so that tests of your own code can use stubs."""

from __future__ import annotations

from abc import abstractmethod
from datetime import timedelta
from typing import Protocol

from .answers import (
    CardPaymentCreated,
    MbankConfirmed,
    MbankPaymentCreated,
    MegapayAccepted,
    MegapayChecked,
    PayFormCreated,
    QrData,
    QrImage,
)
from .callbacks import Callback, ReturnRedirect
from .errors import Misconfigured
from .payments import PaymentRef, Provider, StatusReport
from .policies import PollPolicy
from .requests import CardPayment, MbankPayment, MegapayPayment, PayForm, QrPayment
from .verdict import Verdict
from .watching import AsyncStatusWatch, StatusWatch


class PaymentGateway(Protocol):
    """The methods of `Gateway`, as a type for parameters of your own functions. `Gateway` satisfies it, and so does any class
    with these methods, such as a stub in your tests.

    >>> def is_paid(gateway: PaymentGateway, payment: PaymentRef) -> bool:
    ...     return gateway.check(payment).is_charged

    A stub that inherits from it must implement all methods but those of MegaPay, which raise `Misconfigured` unless they are
    overridden. For a gateway that behaves like the real one, use `kassa.testing.FakeGateway`; a stub may delegate to it, also
    to get a `StatusWatch`.
    """

    @abstractmethod
    def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money.** See `Gateway.create_card_payment`."""

    @abstractmethod
    def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Queries the status of a payment by the **gateway's** own number. See `Gateway.payment_status`."""

    @abstractmethod
    def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment. **Moves money.** See `Gateway.create_mbank_payment`."""

    @abstractmethod
    def confirm_mbank_payment(self, payment: PaymentRef, otp: str) -> MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money.** See
        `Gateway.confirm_mbank_payment`."""

    def check_megapay(self, payment: MegapayPayment) -> MegapayChecked:  # noqa: ARG002 (overridden in subclasses)
        """Sends the payer a PIN and returns the commission. **Treat it as moving money.** See `Gateway.check_megapay`. Raises
        `Misconfigured` unless it is overridden."""
        raise _no_megapay()

    def pay_by_megapay(self, payment: MegapayPayment, pin: str) -> MegapayAccepted:  # noqa: ARG002 (overridden in subclasses)
        """Pays from a MegaPay wallet with the payer's PIN. **Moves money.** See `Gateway.pay_by_megapay`. Raises
        `Misconfigured` unless it is overridden."""
        raise _no_megapay()

    @abstractmethod
    def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Creates a pay-form, the gateway's own page on which the payer chooses a method. See `Gateway.create_pay_form`."""

    @abstractmethod
    def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Queries the status of a payment by the **merchant's** order number. See `Gateway.provider_status`."""

    @abstractmethod
    def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Creates a QR code as the gateway's own picture. See `Gateway.create_qr_image`."""

    @abstractmethod
    def create_qr_data(self, payment: QrPayment) -> QrData:
        """Creates the data of a QR code. See `Gateway.create_qr_data`."""

    @abstractmethod
    def qr_status(self, transaction_id: str) -> StatusReport:
        """Queries the status of a QR payment. See `Gateway.qr_status`."""

    @abstractmethod
    def check(self, payment: PaymentRef) -> Verdict:
        """Queries a payment once. See `Gateway.check`."""

    @abstractmethod
    def verify_callback(self, callback: Callback, payment: PaymentRef) -> Verdict:
        """Verifies a callback, which is only a hint. See `Gateway.verify_callback`."""

    @abstractmethod
    def verify_return(self, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict:
        """Verifies the payer's return. See `Gateway.verify_return`."""

    @abstractmethod
    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> StatusWatch:  # noqa: B008 (frozen)
        """Polls a payment until there is a final `Verdict`. See `Gateway.watch`."""

    @abstractmethod
    def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls and waits for the payments in flight, at most until the timeout; returns whether none is
        left. See `Gateway.close`."""


class AsyncPaymentGateway(Protocol):
    """The methods of `AsyncGateway`, as a type for parameters of your own functions: those of `PaymentGateway` as coroutines.

    >>> async def is_paid(gateway: AsyncPaymentGateway, payment: PaymentRef) -> bool:
    ...     return (await gateway.check(payment)).is_charged
    """

    @abstractmethod
    async def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money.** See `Gateway.create_card_payment`."""

    @abstractmethod
    async def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Queries the status of a payment by the **gateway's** own number. See `Gateway.payment_status`."""

    @abstractmethod
    async def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment. **Moves money.** See `Gateway.create_mbank_payment`."""

    @abstractmethod
    async def confirm_mbank_payment(self, payment: PaymentRef, otp: str) -> MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money.** See
        `Gateway.confirm_mbank_payment`."""

    async def check_megapay(self, payment: MegapayPayment) -> MegapayChecked:  # noqa: ARG002 (overridden in subclasses)
        """Sends the payer a PIN and returns the commission. **Treat it as moving money.** See `Gateway.check_megapay`. Raises
        `Misconfigured` unless it is overridden."""
        raise _no_megapay()

    async def pay_by_megapay(self, payment: MegapayPayment, pin: str) -> MegapayAccepted:  # noqa: ARG002 (overridden in subclasses)
        """Pays from a MegaPay wallet with the payer's PIN. **Moves money.** See `Gateway.pay_by_megapay`. Raises
        `Misconfigured` unless it is overridden."""
        raise _no_megapay()

    @abstractmethod
    async def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Creates a pay-form, the gateway's own page on which the payer chooses a method. See `Gateway.create_pay_form`."""

    @abstractmethod
    async def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Queries the status of a payment by the **merchant's** order number. See `Gateway.provider_status`."""

    @abstractmethod
    async def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Creates a QR code as the gateway's own picture. See `Gateway.create_qr_image`."""

    @abstractmethod
    async def create_qr_data(self, payment: QrPayment) -> QrData:
        """Creates the data of a QR code. See `Gateway.create_qr_data`."""

    @abstractmethod
    async def qr_status(self, transaction_id: str) -> StatusReport:
        """Queries the status of a QR payment. See `Gateway.qr_status`."""

    @abstractmethod
    async def check(self, payment: PaymentRef) -> Verdict:
        """Queries a payment once. See `Gateway.check`."""

    @abstractmethod
    async def verify_callback(self, callback: Callback, payment: PaymentRef) -> Verdict:
        """Verifies a callback, which is only a hint. See `Gateway.verify_callback`."""

    @abstractmethod
    async def verify_return(self, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict:
        """Verifies the payer's return. See `Gateway.verify_return`."""

    @abstractmethod
    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> AsyncStatusWatch:  # noqa: B008 (frozen)
        """Polls a payment until there is a final `Verdict`. See `Gateway.watch`."""

    @abstractmethod
    async def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls and waits for the payments in flight, at most until the timeout; returns whether none is
        left. See `Gateway.close`."""


def _no_megapay() -> Misconfigured:
    return Misconfigured("this gateway does not implement check_megapay and pay_by_megapay")
