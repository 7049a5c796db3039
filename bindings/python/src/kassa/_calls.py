"""Calls of the core that take time: makes each as one message (`_boundary`), blocking or awaited."""

from __future__ import annotations

from functools import partial
from typing import Any

from . import _boundary, _codec, _logs, _schedulers
from ._core import raise_error, read


class Operation:
    """A call that takes time: how its message is written, and its answer is read."""

    __slots__ = ("_answer", "message")

    def __init__(self, name: str, answer: str | None) -> None:
        self._answer = answer
        self.message: Any = getattr(_codec.tables, f"call_{name}")
        """Makes the message, from the core's object and the arguments. The core gets a share of the object with it."""

    def answer(self, completion: _boundary.Completion) -> Any:
        """What the call was answered with; raises what it failed with."""
        code, value = completion
        if code:
            raise_error(code, value)
        return None if self._answer is None else read(self._answer, value)


CREATE_CARD_PAYMENT = Operation("CreateCardPayment", "CardPaymentCreated")
PAYMENT_STATUS = Operation("PaymentStatus", "StatusReport")
CREATE_MBANK_PAYMENT = Operation("CreateMbankPayment", "MbankPaymentCreated")
CONFIRM_MBANK_PAYMENT = Operation("ConfirmMbankPayment", "MbankConfirmed")
CHECK_MEGAPAY = Operation("CheckMegapay", "MegapayChecked")
PAY_BY_MEGAPAY = Operation("PayByMegapay", "MegapayAccepted")
CREATE_PAY_FORM = Operation("CreatePayForm", "PayFormCreated")
PROVIDER_STATUS = Operation("ProviderStatus", "StatusReport")
CREATE_QR_IMAGE = Operation("CreateQrImage", "QrImage")
CREATE_QR_DATA = Operation("CreateQrData", "QrData")
QR_STATUS = Operation("QrStatus", "StatusReport")
CHECK = Operation("Check", "Verdict")
VERIFY_CALLBACK = Operation("VerifyCallback", "Verdict")
VERIFY_RETURN = Operation("VerifyReturn", "Verdict")
FINISH = Operation("Finish", None)
CLOSE = Operation("Close", None)
CLOSE_WITHIN = Operation("CloseWithin", "bool")
WATCH_NEXT = Operation("WatchNext", "?WatchReport")
WATCH_OUTCOME = Operation("WatchOutcome", "?Verdict")
RECOVERY_NEXT = Operation("RecoveryNext", "?Recovered")
CHECKOUT_TOKEN_WANTED = Operation("CheckoutTokenWanted", "bool")
CHECKOUT_STATES_NEXT = Operation("CheckoutStatesNext", "?CheckoutState")


def wait(operation: Operation, target: Any, *arguments: Any) -> Any:
    """Makes a call, and blocks until it has ended. Other threads and greenlets keep running."""
    hub = _schedulers.cooperative_loop()
    if hub is None:
        return _call_here(operation, target, arguments)
    coroutine = _call(hub, operation, target, arguments)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
    raise RuntimeError("a blocking call has met an event loop")


async def call_async(operation: Operation, target: Any, *arguments: Any) -> Any:
    """Awaits a call. Cancelling it gives the call up at once."""
    return await _call(_schedulers.running_loop(), operation, target, arguments)


def _call_here(operation: Operation, target: Any, arguments: tuple[Any, ...]) -> Any:
    """Waits on this thread."""
    write = partial(operation.message, target, *arguments)
    log = _logs.begin()
    try:
        return operation.answer(_boundary.call(write, log))
    finally:
        if log is not None:
            _logs.end(log)
            # A stored error keeps this frame alive; without this, it would keep the caller's context, too.
            log = None


async def _call(loop: Any, operation: Operation, target: Any, arguments: tuple[Any, ...]) -> Any:
    """Waits in a loop."""
    write = partial(operation.message, target, *arguments)
    log = _logs.begin()
    try:
        return operation.answer(await _boundary.submit(loop, write, log))
    finally:
        if log is not None:
            _logs.end(log)
            # As in `_call_here`: a stored error keeps this frame alive.
            log = None
