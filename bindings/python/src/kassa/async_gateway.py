"""The gateway for asyncio and trio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta
from types import TracebackType
from typing import Protocol

import kassa

from . import _calls, _check
from ._schedulers import on_disk
from .policies import PollPolicy, RecoveryPolicy
from .settings import Connected, note_what_is_left


class StopEvent(Protocol):
    """An ``asyncio.Event``, which need not be imported for it."""

    def is_set(self) -> bool:
        """Whether it was set."""
        ...

    async def wait(self) -> object:
        """Waits until it is set."""
        ...


class AsyncGateway(Connected):
    """The payment gateway for asyncio and trio: the methods of `Gateway` as coroutines. ``async with`` closes it; if an
    exception leaves the block (also a cancellation), it does not wait for payments in flight.

    >>> gateway = AsyncGateway("https://pay.example.kg", kassa.Credentials("shop", "secret"))
    >>> gateway
    AsyncGateway('https://pay.example.kg')

    A cancelled task or a timeout stops the wait at once. If no connection was made yet, nothing is sent. Later the payment
    continues, and its ``payment_ref()`` finds it. The gateway is bound to no event loop.
    """

    __slots__ = ()

    async def create_card_payment(self, payment: kassa.CardPayment) -> kassa.CardPaymentCreated:
        """Creates a card payment. **Moves money**; sent at most once.

        An answer means that the gateway accepted the payment, not that it is paid: follow ``next_step``, then watch it.

        Raises `kassa.OutcomeUnknown` if the payment may exist: watch it, and never send it again. Every other error says that
        no money moved."""
        answer: kassa.CardPaymentCreated = await _calls.call_async(
            _calls.CREATE_CARD_PAYMENT, self._core(), _check.instance("payment", payment, kassa.CardPayment)
        )
        return answer

    async def payment_status(self, gateway_number: str, language: str | None = None) -> kassa.StatusReport:
        """Queries the status of a payment by the **gateway's** own number (the ``token`` of the confirmation page).

        ``language`` (ISO 639-1) is the language of the gateway's messages; by default the merchant's.

        An error says nothing about the payment itself. If the gateway does not know the number, the error is `kassa.Refused`.
        """
        answer: kassa.StatusReport = await _calls.call_async(
            _calls.PAYMENT_STATUS,
            self._core(),
            _check.text("gateway_number", gateway_number),
            _check.optional_text("language", language),
        )
        return answer

    async def create_mbank_payment(self, payment: kassa.MbankPayment) -> kassa.MbankPaymentCreated:
        """Creates a mobile-bank payment; the payer then receives a one-time password. **Moves money**; sent at most once.

        Raises `kassa.OutcomeUnknown` if the payment may exist: watch it, and never send it again. Every other error says that
        no money moved."""
        answer: kassa.MbankPaymentCreated = await _calls.call_async(
            _calls.CREATE_MBANK_PAYMENT, self._core(), _check.instance("payment", payment, kassa.MbankPayment)
        )
        return answer

    async def confirm_mbank_payment(self, payment: kassa.PaymentRef, otp: str) -> kassa.MbankConfirmed:
        """Confirms a mobile-bank payment with the payer's one-time password. **Moves money**; sent at most once.

        ``payment`` is the reference from the create answer: it has the merchant's order number, and the identifier that the
        gateway wants back, if the dialect names it.

        Raises `kassa.OutcomeUnknown` if the payment may exist: watch it, and never send it again. Every other error says that
        no money moved. A wrong password is `kassa.Refused`."""
        answer: kassa.MbankConfirmed = await _calls.call_async(
            _calls.CONFIRM_MBANK_PAYMENT,
            self._core(),
            _check.instance("payment", payment, kassa.PaymentRef),
            _check.text("otp", otp),
        )
        return answer

    async def check_megapay(self, payment: kassa.MegapayPayment) -> kassa.MegapayChecked:
        """Sends the payer a PIN and returns the commission. **Treat it as moving money**: the gateway's interface does not say
        that it does not. It is sent once. Show the payer the total before you ask for the PIN.

        Raises `kassa.OutcomeUnknown` if the payment may exist: watch it, and never send it again. Every other error says that
        no money moved. `kassa.Misconfigured` if the dialect has no MegaPay requests (``megapay``): without them, payers
        choose MegaPay on the pay-form."""
        answer: kassa.MegapayChecked = await _calls.call_async(
            _calls.CHECK_MEGAPAY, self._core(), _check.instance("payment", payment, kassa.MegapayPayment)
        )
        return answer

    async def pay_by_megapay(self, payment: kassa.MegapayPayment, pin: str) -> kassa.MegapayAccepted:
        """Pays from a MegaPay wallet with the payer's PIN, which ``check_megapay`` had sent. **Moves money**; sent at most
        once.

        ``payment`` is the request that was checked.

        Raises as ``check_megapay`` does. A wrong PIN is `kassa.Refused`."""
        answer: kassa.MegapayAccepted = await _calls.call_async(
            _calls.PAY_BY_MEGAPAY,
            self._core(),
            _check.instance("payment", payment, kassa.MegapayPayment),
            _check.text("pin", pin),
        )
        return answer

    async def create_pay_form(self, form: kassa.PayForm) -> kassa.PayFormCreated:
        """Creates a pay-form, the gateway's own page on which the payer chooses a method. Moves no money, whatever the error,
        and is sent once."""
        answer: kassa.PayFormCreated = await _calls.call_async(
            _calls.CREATE_PAY_FORM, self._core(), _check.instance("form", form, kassa.PayForm)
        )
        return answer

    async def provider_status(self, order_number: str, provider: kassa.Provider) -> kassa.StatusReport:
        """Queries the status of a payment by the **merchant's** order number and the provider.

        An error says nothing about the payment itself. If the gateway does not know the number, the error is `kassa.Refused`.
        """
        answer: kassa.StatusReport = await _calls.call_async(
            _calls.PROVIDER_STATUS,
            self._core(),
            _check.text("order_number", order_number),
            _check.instance("provider", provider, kassa.Provider),
        )
        return answer

    async def create_qr_image(self, payment: kassa.QrPayment) -> kassa.QrImage:
        """Creates a QR code as the gateway's own picture, 400x400. Moves no money, whatever the error, and is sent once."""
        answer: kassa.QrImage = await _calls.call_async(
            _calls.CREATE_QR_IMAGE, self._core(), _check.instance("payment", payment, kassa.QrPayment)
        )
        return answer

    async def create_qr_data(self, payment: kassa.QrPayment) -> kassa.QrData:
        """Creates the data of a QR code, to be drawn with `QrCode`. Moves no money, whatever the error, and is sent once."""
        answer: kassa.QrData = await _calls.call_async(
            _calls.CREATE_QR_DATA, self._core(), _check.instance("payment", payment, kassa.QrPayment)
        )
        return answer

    async def qr_status(self, transaction_id: str) -> kassa.StatusReport:
        """Queries the status of a QR payment by its transaction id.

        An error says nothing about the payment itself. If the gateway does not know the id, the error is `kassa.Refused`."""
        answer: kassa.StatusReport = await _calls.call_async(
            _calls.QR_STATUS, self._core(), _check.text("transaction_id", transaction_id)
        )
        return answer

    async def check(self, payment: kassa.PaymentRef) -> kassa.Verdict:
        """Queries a payment once and compares the gateway's report with the request. It queries by the most reliable of the
        payment's numbers, and by the next one if that query is refused or its response is not understood.

        Raises `kassa.Invalid` if the reference has no number to query by. An error says nothing about the payment itself."""
        verdict: kassa.Verdict = await _calls.call_async(
            _calls.CHECK, self._core(), _check.instance("payment", payment, kassa.PaymentRef)
        )
        return verdict

    async def verify_callback(self, callback: kassa.Callback, payment: kassa.PaymentRef) -> kassa.Verdict:
        """Verifies a callback: compares it with the request, and queries the gateway. **A callback is only a hint**: nothing
        proves who sent it.

        ``payment`` is the reference that you stored at the sale, **never one made from the callback**. If it has no number of
        its own (a pay-form, the gateway's own QR picture), the callback's number is taken as a claim. Then the gateway must
        report the requested amount, and the number must not be that of a QR payment, whose amount may be in tyiyn (390 tyiyn
        must not pass as 390 som): ``qr_numbers`` in the `Dialect` says how to exclude that. All queries share one deadline.

        Raises an error if the query failed, or the gateway does not know the payment. That proves nothing: verify again."""
        verdict: kassa.Verdict = await _calls.call_async(
            _calls.VERIFY_CALLBACK,
            self._core(),
            _check.instance("callback", callback, kassa.Callback),
            _check.instance("payment", payment, kassa.PaymentRef),
        )
        return verdict

    async def verify_return(self, redirect: kassa.ReturnRedirect, payment: kassa.PaymentRef) -> kassa.Verdict:
        """Verifies the payer's return: queries the gateway. **A return is only a hint**: it passes through the payer's
        browser. For a pay-form, its order number is taken as a claim, as ``verify_callback`` does with a callback's.

        Raises as ``verify_callback`` does."""
        verdict: kassa.Verdict = await _calls.call_async(
            _calls.VERIFY_RETURN,
            self._core(),
            _check.instance("redirect", redirect, kassa.ReturnRedirect),
            _check.instance("payment", payment, kassa.PaymentRef),
        )
        return verdict

    def watch(self, payment: kassa.PaymentRef, policy: PollPolicy = PollPolicy()) -> kassa.AsyncStatusWatch:  # noqa: B008 (frozen)
        """Polls a payment until there is a final `Verdict`, or the policy's deadline passes. Nothing is sent until the watch
        is awaited.

        Raises `kassa.Invalid` if the reference has no number to query by.
        """
        _check.instance("payment", payment, kassa.PaymentRef)
        from .watching import made

        return made(
            kassa.AsyncStatusWatch, self._core().watch(payment, _check.instance("policy", policy, kassa.PollPolicy))
        )

    def unfinished(self) -> AsyncIterator[kassa.Unfinished]:
        """The unfinished entries of the gateway's journal, oldest first, for ``async for``: payments and unreadable files.
        Query each payment (``check``), deliver it if it is charged, and ``finish`` it. Entries are read lazily in a thread,
        so the event loop never waits for the disk. See `Journal.unfinished`.

        Raises `kassa.Misconfigured` if the gateway has no journal, and `kassa.Unavailable` if the journal cannot be read."""
        from .journal import Pages

        return Pages(on_disk(self._core().unfinished_pages)).items_read_apart()

    def recover(self, policy: RecoveryPolicy = RecoveryPolicy()) -> kassa.AsyncRecovery:  # noqa: B008 (frozen)
        """Polls every unfinished payment of the gateway's journal until it is final. Call it at startup, and repeatedly in a
        long-running program. ``async for recovered in gateway.recover():`` yields each payment when it is final: deliver what
        is charged, then ``finish`` it. No query is sent before you iterate. See `AsyncRecovery`.

        Raises `kassa.Misconfigured` if the gateway has no journal, and `kassa.Invalid` for a policy with zero concurrent
        payments."""
        from .recovery import begun

        return begun(kassa.AsyncRecovery, self._core().recover(_check.instance("policy", policy, kassa.RecoveryPolicy)))

    async def finish(self, entry: kassa.Unfinished | str) -> None:
        """Marks an entry of the gateway's journal as finished, by the entry or its ``id``: the goods were delivered, or a
        person has dealt with it. Finishing it again does nothing. See `Journal.finish`.

        Raises `kassa.Misconfigured` if the gateway has no journal, `kassa.Invalid` if there is no such entry, and
        `kassa.Unavailable` if the change cannot be written: then the entry is still unfinished."""
        from .journal_entry import id_of

        await _calls.call_async(_calls.FINISH, self._core(), id_of(entry))

    async def deliver_forever(
        self,
        deliver: Callable[[kassa.JournalEntry], Awaitable[object]],
        *,
        otherwise: Callable[[kassa.Recovered], Awaitable[object]] | None = None,
        stop: StopEvent | None = None,
        interval: timedelta | float = timedelta(seconds=10),
        at_once: int = 8,
    ) -> kassa.DeliverySummary:
        """Delivers what is charged, for as long as the program runs: recovers everything unfinished in the journal, polls
        also new payments of other threads and processes, calls ``deliver(entry)`` for each charged payment, and marks it
        as finished when the call has returned. For asyncio alone. Calls of ``deliver`` run one after the other.

        * ``deliver`` is called for **charged payments alone**, with their `JournalEntry`. If it raises, it is called again,
          after a second, then two, up to five minutes; other payments do not wait for that. **It must do nothing when it is
          repeated**: a program may die between delivering and marking.
        * ``otherwise`` is called for every other result: a rejected payment, a mismatch, a file that cannot be read, a
          payment that the gateway does not answer about (see `Recovered`). The journal does not mark these; a result is
          reported once a run. By default they are logged.
        * ``stop`` ends it, after the call that runs. Cancelling the task ends it at once, and the payment that
          ``deliver`` was handling is delivered again. Closing the gateway does the same.
        * ``interval`` and ``at_once``: see `RecoveryPolicy`. Abandoned payments are polled less and less often, down to once
          a day, and are never dropped: see ``left_open`` of the result.

        Of all processes that share the folder, one delivers at a time; another one waits, and logs that it does. After an
        error (no connection, wrong credentials, a disk that is full) the recovery begins again, after a minute at most. All
        this is logged to ``kassa``.

        Returns what was delivered and what is left open, which is also its last line in the log.

        Raises `kassa.Misconfigured` if the gateway has no journal."""
        from ._delivery_worker import deliver_forever_in_loop

        return await deliver_forever_in_loop(self, deliver, otherwise, stop, interval, at_once)

    async def deliver_unfinished(
        self,
        deliver: Callable[[kassa.JournalEntry], Awaitable[object]],
        *,
        otherwise: Callable[[kassa.Recovered], Awaitable[object]] | None = None,
        deadline: timedelta | float = timedelta(minutes=20),
        interval: timedelta | float = timedelta(seconds=10),
        at_once: int = 8,
    ) -> kassa.DeliverySummary:
        """Delivers what is charged, once: recovers everything unfinished in the journal, calls ``deliver(entry)`` for each
        charged payment, and marks it as finished when the call has returned. It returns when nothing is open any more, or at
        the deadline. For scripts, scheduled jobs and a program's start; a program that runs long has `deliver_forever`. For
        asyncio alone.

        * ``deliver`` is called for **charged payments alone**, one after the other, and once for each. If it raises, this is
          logged, and the payment stays unfinished (``undelivered`` of the result): the next delivery brings it again. **It
          must do nothing when it is repeated**: a program may die between delivering and marking.
        * ``otherwise`` is called for every other result: a rejected payment, a mismatch, a file that cannot be read, a
          payment that the gateway does not answer about (see `Recovered`). By default they are logged.
        * ``deadline`` is how long it polls what is open, in seconds or as a `timedelta`; the time of ``deliver`` does not
          count. What is open even then is in ``undecided`` of the result. ``interval`` and ``at_once``: see `RecoveryPolicy`.

        Cancelling the task interrupts the call of ``deliver`` that runs, and its payment is delivered again. Closing the
        gateway ends it with `kassa.Misconfigured`, after payments already found are delivered. Of all processes that share the
        folder, one delivers at a time; this one waits for another one until its deadline.

        Returns what was delivered and what is left open, which is also its last line in the log.

        Raises `kassa.Misconfigured` if the gateway has no journal, and what `recover` raises, such as `kassa.Unauthorized`:
        nothing is repeated after an error. What was delivered before is finished."""
        from ._delivery_worker import deliver_unfinished_in_loop

        policy = RecoveryPolicy(interval, deadline, at_once)
        return await deliver_unfinished_in_loop(self, deliver, otherwise, policy)

    async def close(self, timeout: timedelta | float | None = None) -> bool:
        """Refuses further calls, and ends every watch and recovery at once: their callers get `kassa.Misconfigured`, which
        says nothing about a payment. Then waits until every payment in flight has its response.

        ``timeout`` (a `timedelta` or a number of seconds) limits that wait; 0 does not wait. With None the limit is the
        longest deadline of those payments: ``payment_deadline`` unless the call has its own.

        Returns True if every payment has its response. **False means that the outcome of a payment is unknown**: it continues
        while the process lives. The next ``recover`` polls it if there is a journal, also in another process. Without a
        journal, query with the ``payment_ref()`` that you stored. Never send it again."""
        longest = _check.optional_duration("timeout", timeout)
        core = self._to_close()
        if core is None:
            return True
        if longest is None:
            await _calls.call_async(_calls.CLOSE, core)
            return True
        is_done: bool = await _calls.call_async(_calls.CLOSE_WITHIN, core, longest)
        return is_done

    async def __aenter__(self) -> AsyncGateway:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.close()
        elif not await self.close(0):
            note_what_is_left(error)
