"""The gateway, for asyncio."""

from __future__ import annotations

from types import TracebackType

from . import _check
from ._calls import ask, call
from .answers import CardPaymentCreated, GatewayReply, MbankPaymentCreated, PayFormCreated, QrData, QrImage
from .callbacks import Callback, CallbackVerdict, ExpectedPayment
from .payments import PaymentRef, Provider, StatusReport
from .requests import CardPayment, MbankPayment, PayForm, QrPayment
from .settings import Connected
from .watching import AsyncStatusWatch, PollPolicy


class AsyncGateway(Connected):
    """The payment gateway for asyncio: the methods of `Gateway`, each to be awaited. ``async with`` closes it.

    >>> gateway = AsyncGateway("https://pay.example.kg", kassa.Credentials("shop", "secret"))
    >>> gateway
    AsyncGateway('https://pay.example.kg')

    Cancelling a task, or a timeout, stops the wait at once. Before a connection was made it also prevents the payment;
    afterwards the payment goes on, and its ``payment_ref()`` finds it. It is bound to no event loop.
    """

    __slots__ = ()

    async def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money**; sent at most once.

        The answer means that the gateway accepted it, not that it is paid: follow its ``next_step``, then watch it.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved."""
        answer: CardPaymentCreated = await ask(
            self._core().create_card_payment, _check.instance("payment", payment, CardPayment)
        )
        return answer

    async def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Asks for the status of a payment by the **gateway's** own number (the ``token`` of the confirmation page).

        ``language`` (ISO 639-1) is that of the gateway's messages; the merchant's default without it.

        No error says anything about the payment itself. A number that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = await ask(
            self._core().payment_status,
            _check.text("gateway_number", gateway_number),
            _check.optional_text("language", language),
        )
        return answer

    async def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent at most once.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved."""
        answer: MbankPaymentCreated = await ask(
            self._core().create_mbank_payment, _check.instance("payment", payment, MbankPayment)
        )
        return answer

    async def confirm_mbank_payment(self, order_number: str, otp: str, identifier: str | None = None) -> GatewayReply:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent at most once.

        ``order_number`` is the merchant's. ``identifier`` is the one that the create answer holds where the dialect names it.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved. A wrong password is `kassa.Refused`."""
        answer: GatewayReply = await ask(
            self._core().confirm_mbank_payment,
            _check.text("order_number", order_number),
            _check.text("otp", otp),
            _check.optional_text("identifier", identifier),
        )
        return answer

    async def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Makes a hosted page on which the payer picks how to pay. Moves no money, whatever the error; sent once."""
        answer: PayFormCreated = await ask(self._core().create_pay_form, _check.instance("form", form, PayForm))
        return answer

    async def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Asks for the status of a payment by the **merchant's** order number and the provider.

        No error says anything about the payment itself. A number that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = await ask(
            self._core().provider_status,
            _check.text("order_number", order_number),
            _check.instance("provider", provider, Provider),
        )
        return answer

    async def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Makes a QR code as the gateway's own picture, 400x400. Moves no money, whatever the error; sent once."""
        answer: QrImage = await ask(self._core().create_qr_image, _check.instance("payment", payment, QrPayment))
        return answer

    async def create_qr_data(self, payment: QrPayment) -> QrData:
        """Makes the data of a QR code, to be drawn with `QrCode`. Moves no money, whatever the error; sent once."""
        answer: QrData = await ask(self._core().create_qr_data, _check.instance("payment", payment, QrPayment))
        return answer

    async def qr_status(self, transaction_id: str) -> StatusReport:
        """Asks for the status of a QR payment by its transaction id.

        No error says anything about the payment itself. An id that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = await ask(self._core().qr_status, _check.text("transaction_id", transaction_id))
        return answer

    async def verify_callback(self, callback: Callback, expected: ExpectedPayment | None = None) -> CallbackVerdict:
        """Asks the gateway whether a callback is true. **A callback is only a hint**: nothing proves who sent it.

        ``expected`` is what the merchant knows of the order; give it, and a callback with another amount is found out.

        The number of a pay-form payment comes from the payer's side, so once it is charged the gateway is also asked whether
        that number is one of a QR payment, whose amount may be in tyiyn: 390 tyiyn must not pass as 390 som. Both queries
        share one deadline.

        Raises where the gateway could not be asked, does not know the order, or does not say whether the number is that of a
        QR payment. Nothing is proved then: ask again. A gateway that answers for an unknown QR transaction with HTTP 200 and
        a code of its own needs a `Dialect` that lists this code among the refusals of ``qr_status``."""
        answer: CallbackVerdict = await ask(
            self._core().verify_callback,
            _check.instance("callback", callback, Callback),
            None if expected is None else _check.instance("expected", expected, ExpectedPayment),
        )
        return answer

    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> AsyncStatusWatch:  # noqa: B008 (frozen)
        """Follows a payment until it is charged or rejected, or the policy's deadline passes. Nothing is sent until the watch
        is awaited.

        Raises `kassa.Invalid` where the reference has nothing to ask with.
        """
        _check.instance("payment", payment, PaymentRef)
        return AsyncStatusWatch(call(self._core().watch, payment, _check.instance("policy", policy, PollPolicy)))

    async def close(self) -> None:
        """Refuses further calls and waits until every payment on its way has its reply."""
        core = self._to_close()
        if core is not None:
            await ask(core.close)

    async def __aenter__(self) -> AsyncGateway:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()
