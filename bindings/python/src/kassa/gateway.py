"""The gateway, for callers that wait."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from types import TracebackType

from . import _check
from ._calls import ask, call, call_on_disk
from ._wait import wait, wait_for_query
from .answers import CardPaymentCreated, MbankConfirmed, MbankPaymentCreated, PayFormCreated, QrData, QrImage
from .callbacks import Callback, ReturnRedirect
from .journal import Pages
from .journal_entry import Unfinished, id_of
from .payments import PaymentRef, Provider, StatusReport
from .recovery import Recovery, RecoveryPolicy, begun
from .requests import CardPayment, MbankPayment, PayForm, QrPayment
from .settings import Connected, note_what_is_left
from .verdict import Verdict
from .watching import PollPolicy, StatusWatch, made


class Gateway(Connected):
    """The payment gateway for scripts and other callers that wait. For asyncio and trio there is `AsyncGateway`.

    It can be used from any thread, and by several at once; while a call waits, other threads run, and under gevent other
    greenlets. ``with`` closes it; where an exception leaves the block, Ctrl-C among them, it waits for no payment.

    >>> gateway = Gateway("https://pay.example.kg", kassa.Credentials("shop", "secret"))
    >>> gateway
    Gateway('https://pay.example.kg')

    A call that is ended by Ctrl-C, or by killing its greenlet, before a connection was made sends nothing; afterwards the
    payment goes on, and its ``payment_ref()`` finds it. After a fork a gateway goes on working in the child, over connections
    of its own.
    """

    __slots__ = ()

    def create_card_payment(self, payment: CardPayment) -> CardPaymentCreated:
        """Creates a card payment. **Moves money**; sent at most once.

        The answer means that the gateway accepted it, not that it is paid: follow its ``next_step``, then watch it.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved."""
        answer: CardPaymentCreated = wait(
            ask(self._core().create_card_payment, _check.instance("payment", payment, CardPayment))
        )
        return answer

    def payment_status(self, gateway_number: str, language: str | None = None) -> StatusReport:
        """Asks for the status of a payment by the **gateway's** own number (the ``token`` of the confirmation page).

        ``language`` (ISO 639-1) is that of the gateway's messages; the merchant's default without it.

        No error says anything about the payment itself. A number that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = wait_for_query(
            ask(
                self._core().payment_status,
                _check.text("gateway_number", gateway_number),
                _check.optional_text("language", language),
            )
        )
        return answer

    def create_mbank_payment(self, payment: MbankPayment) -> MbankPaymentCreated:
        """Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent at most once.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved."""
        answer: MbankPaymentCreated = wait(
            ask(self._core().create_mbank_payment, _check.instance("payment", payment, MbankPayment))
        )
        return answer

    def confirm_mbank_payment(self, payment: PaymentRef, otp: str) -> MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent at most once.

        ``payment`` is the one that the create answer holds: with the merchant's order number, and the identifier that the
        gateway wants back where the dialect names it.

        Raises `kassa.OutcomeUnknown` where the payment may exist all the same: watch it, never send it again. Every other
        error says that no money moved. A wrong password is `kassa.Refused`."""
        answer: MbankConfirmed = wait(
            ask(
                self._core().confirm_mbank_payment,
                _check.instance("payment", payment, PaymentRef),
                _check.text("otp", otp),
            )
        )
        return answer

    def create_pay_form(self, form: PayForm) -> PayFormCreated:
        """Makes a hosted page on which the payer picks how to pay. Moves no money, whatever the error; sent once."""
        answer: PayFormCreated = wait(ask(self._core().create_pay_form, _check.instance("form", form, PayForm)))
        return answer

    def provider_status(self, order_number: str, provider: Provider) -> StatusReport:
        """Asks for the status of a payment by the **merchant's** order number and the provider.

        No error says anything about the payment itself. A number that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = wait_for_query(
            ask(
                self._core().provider_status,
                _check.text("order_number", order_number),
                _check.instance("provider", provider, Provider),
            )
        )
        return answer

    def create_qr_image(self, payment: QrPayment) -> QrImage:
        """Makes a QR code as the gateway's own picture, 400x400. Moves no money, whatever the error; sent once."""
        answer: QrImage = wait(ask(self._core().create_qr_image, _check.instance("payment", payment, QrPayment)))
        return answer

    def create_qr_data(self, payment: QrPayment) -> QrData:
        """Makes the data of a QR code, to be drawn with `QrCode`. Moves no money, whatever the error; sent once."""
        answer: QrData = wait(ask(self._core().create_qr_data, _check.instance("payment", payment, QrPayment)))
        return answer

    def qr_status(self, transaction_id: str) -> StatusReport:
        """Asks for the status of a QR payment by its transaction id.

        No error says anything about the payment itself. An id that the gateway does not know is `kassa.Refused`."""
        answer: StatusReport = wait_for_query(
            ask(self._core().qr_status, _check.text("transaction_id", transaction_id))
        )
        return answer

    def check(self, payment: PaymentRef) -> Verdict:
        """Asks about a payment once and compares what the gateway reports with what was asked for. It asks by the surest of the
        payment's numbers, and by the next one where that question is refused or its answer not understood.

        Raises `kassa.Invalid` where the reference has nothing to ask with. No error says anything about the payment itself."""
        verdict: Verdict = wait_for_query(ask(self._core().check, _check.instance("payment", payment, PaymentRef)))
        return verdict

    def verify_callback(self, callback: Callback, payment: PaymentRef) -> Verdict:
        """Verifies a callback: compares it with what was asked for, and asks the gateway. **A callback is only a hint**:
        nothing proves who sent it.

        ``payment`` is the reference that was stored at the sale, **never one made from the callback**. Where it has no number
        of its own (a pay-form, the gateway's own QR picture), the callback's is taken as a claim: then the gateway must report
        the amount that was asked for, and it must be ruled out that the number is that of a QR payment, whose amount may be in
        tyiyn (390 tyiyn must not pass as 390 som): ``qr_numbers`` in the `Dialect` says how. All queries share one deadline.

        Raises where the gateway could not be asked, or does not know the payment. Nothing is proved then: ask again."""
        verdict: Verdict = wait_for_query(
            ask(
                self._core().verify_callback,
                _check.instance("callback", callback, Callback),
                _check.instance("payment", payment, PaymentRef),
            )
        )
        return verdict

    def verify_return(self, redirect: ReturnRedirect, payment: PaymentRef) -> Verdict:
        """Verifies that a payment is made when its payer comes back: asks the gateway. **A return is only a hint**: it passes
        through the payer's browser. For a pay-form, its order number is taken as a claim, as ``verify_callback`` takes a
        callback's.

        Raises as ``verify_callback`` does."""
        verdict: Verdict = wait_for_query(
            ask(
                self._core().verify_return,
                _check.instance("redirect", redirect, ReturnRedirect),
                _check.instance("payment", payment, PaymentRef),
            )
        )
        return verdict

    def watch(self, payment: PaymentRef, policy: PollPolicy = PollPolicy()) -> StatusWatch:  # noqa: B008 (frozen)
        """Asks about a payment until there is a final `Verdict`, or the policy's deadline passes. Nothing is sent until the
        watch is asked for a report.

        Raises `kassa.Invalid` where the reference has nothing to ask with.
        """
        _check.instance("payment", payment, PaymentRef)
        return made(StatusWatch, call(self._core().watch, payment, _check.instance("policy", policy, PollPolicy)))

    def unfinished(self) -> Iterator[Unfinished]:
        """The unfinished entries of the gateway's journal, the oldest first, read as it is asked for: payments to ask about
        (``check``), to deliver where they are charged, and to ``finish``; and files that cannot be read. See
        `Journal.unfinished`.

        Raises `kassa.Misconfigured` where the gateway has no journal, and `kassa.Unavailable` where that cannot be read."""
        return Pages(call_on_disk(self._core().unfinished_pages)).items()

    def recover(self, policy: RecoveryPolicy = RecoveryPolicy()) -> Recovery:  # noqa: B008 (frozen)
        """Polls every unfinished payment of the gateway's journal until it is final: at the start, and again and again in a
        program that runs for long. ``for recovered in gateway.recover():`` brings each payment when it ends: deliver what
        is charged, then ``finish`` it. Nothing is asked until then. See `Recovery`.

        Raises `kassa.Misconfigured` where the gateway has no journal, and `kassa.Invalid` for a policy that asks about no
        payment at once."""
        return begun(Recovery, call(self._core().recover, _check.instance("policy", policy, RecoveryPolicy)))

    def finish(self, entry: Unfinished | str) -> None:
        """Says that a payment of the gateway's journal is done with, by its entry or the entry's ``id``: the goods were
        delivered, or a person has dealt with it. Finishing it again does nothing. See `Journal.finish`.

        Raises `kassa.Misconfigured` where the gateway has no journal, `kassa.Invalid` where there is no such entry, and
        `kassa.Unavailable` where that cannot be written: then it is still unfinished."""
        wait(ask(self._core().finish, id_of(entry)))

    def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls, and ends every watch and recovery at once: whoever waits in one gets `kassa.Misconfigured`,
        which says nothing about a payment. Then waits until every payment on its way has its response.

        ``timeout`` (a `timedelta` or a number of seconds) limits that wait; 0 waits for nothing. With None it is as long as the
        longest deadline of those payments, ``payment_deadline`` unless another was set for the call.

        The answer is True where every payment has its response. **Where it is False, the outcome of a payment is unknown**: it
        goes on while the process lives. A journal has it, and the next ``recover`` follows it, also that of another process;
        without a journal, ask with the ``payment_ref()`` that was stored. Never send it again."""
        longest = _check.optional_duration("timeout", timeout)
        core = self._to_close()
        if core is None:
            return True
        if longest is None:
            wait(ask(core.close))
            return True
        is_done: bool = wait(ask(core.close_within, longest))
        return is_done

    def __enter__(self) -> Gateway:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        elif not self.close(0):
            note_what_is_left(error)
