"""Calls into the core: converts values in both directions, and raises the errors of this package."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from types import TracebackType
from typing import Any

from . import _boundary, _buffers, _check, _logs, _schedulers
from ._convert import lift, lower
from ._generated import native

_buffers.install()


class InternalError(RuntimeError):
    """A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail: str = _check.text("detail", detail)
        """What went wrong."""

    def __str__(self) -> str:
        return f"A defect in Kassa: {self.detail}. It says nothing about the money: watch the payment, never send it again."


class translated:  # noqa: N801 (it reads like a function)
    """Raises the core's errors as this package's."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Without their cause: that is generated code, and its frames hold the request.
        if isinstance(error, native.PaymentError):
            raise lift(error) from None
        if isinstance(error, native.InternalError):
            raise InternalError(str(error)) from None


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core that answers at once."""
    with translated():
        return lift(function(*map(lower, arguments)))


def call_on_disk(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core that waits for the disk. Other greenlets run meanwhile, if any."""
    with translated():
        return lift(_schedulers.on_disk(function, *map(lower, arguments)))


# Calls that take time.

_ANSWER, _ERROR = 0, 1
_HEAD = Struct(">iQ").pack
# In the order in which they are declared, which numbers them.
_NUMBERS = {name: 1 + at for at, name in enumerate(name for name in vars(native.AsyncCall) if name.isupper())}


def _converter(name: str) -> Any:
    return getattr(native, f"_UniffiFfiConverter{name}")


class Operation:
    """A call of the core that takes time: how its arguments are written, and its answer is read."""

    __slots__ = ("_number", "_read", "_writes")

    def __init__(self, name: str, *arguments: str, answer: str | None, may_be_absent: bool = False) -> None:
        self._number = _NUMBERS[name]
        self._writes = [_converter(argument) for argument in arguments]
        read = None if answer is None else _converter(answer).read
        self._read = _optional(read) if may_be_absent else read

    def message(self, target: Any, arguments: tuple[Any, ...]) -> bytes:
        """The call as the core reads it. It has a share of its object, which is the core's from then on."""
        writer = _buffers.Writer()
        with translated():
            for converter, argument in zip(self._writes, arguments, strict=True):
                value = lower(argument)
                converter.check_lower(value)
                converter.write(value, writer)
        return _HEAD(self._number, target._uniffi_clone_handle()) + writer.content

    def answer(self, completion: _boundary.Completion) -> Any:
        """What the call was answered with; raises what it failed with."""
        code, value = completion
        if code == _ANSWER:
            return None if self._read is None else _whole(self._read, value)
        if code == _ERROR:
            raise _whole(_converter("TypePaymentError").read, value)
        raise InternalError(value.decode())


def _optional(read: Any) -> Any:
    return lambda reader: read(reader) if reader.read_u8() else None


def _whole(read: Callable[[Any], Any], value: bytes) -> Any:
    with translated(), _buffers.Reader(value) as reader:
        return lift(read(reader))


CREATE_CARD_PAYMENT = Operation("CREATE_CARD_PAYMENT", "TypeCardPayment", answer="TypeCardPaymentCreated")
PAYMENT_STATUS = Operation("PAYMENT_STATUS", "String", "OptionalString", answer="TypeStatusReport")
CREATE_MBANK_PAYMENT = Operation("CREATE_MBANK_PAYMENT", "TypeMbankPayment", answer="TypeMbankPaymentCreated")
CONFIRM_MBANK_PAYMENT = Operation("CONFIRM_MBANK_PAYMENT", "TypePaymentRef", "String", answer="TypeMbankConfirmed")
CREATE_PAY_FORM = Operation("CREATE_PAY_FORM", "TypePayForm", answer="TypePayFormCreated")
PROVIDER_STATUS = Operation("PROVIDER_STATUS", "String", "TypeProvider", answer="TypeStatusReport")
CREATE_QR_IMAGE = Operation("CREATE_QR_IMAGE", "TypeQrPayment", answer="TypeQrImage")
CREATE_QR_DATA = Operation("CREATE_QR_DATA", "TypeQrPayment", answer="TypeQrData")
QR_STATUS = Operation("QR_STATUS", "String", answer="TypeStatusReport")
CHECK = Operation("CHECK", "TypePaymentRef", answer="TypeVerdict")
VERIFY_CALLBACK = Operation("VERIFY_CALLBACK", "TypeCallback", "TypePaymentRef", answer="TypeVerdict")
VERIFY_RETURN = Operation("VERIFY_RETURN", "TypeReturnRedirect", "TypePaymentRef", answer="TypeVerdict")
FINISH = Operation("FINISH", "String", answer=None)
CLOSE = Operation("CLOSE", answer=None)
CLOSE_WITHIN = Operation("CLOSE_WITHIN", "Duration", answer="Boolean")
WATCH_NEXT = Operation("WATCH_NEXT", answer="TypeWatchReport", may_be_absent=True)
WATCH_OUTCOME = Operation("WATCH_OUTCOME", answer="TypeVerdict", may_be_absent=True)
RECOVERY_NEXT = Operation("RECOVERY_NEXT", answer="TypeRecovered", may_be_absent=True)
CHECKOUT_TOKEN_WANTED = Operation("CHECKOUT_TOKEN_WANTED", answer="Boolean")
CHECKOUT_STATES_NEXT = Operation("CHECKOUT_STATES_NEXT", answer="TypeCheckoutState", may_be_absent=True)


def wait(operation: Operation, target: Any, *arguments: Any) -> Any:
    """Makes a call, and blocks until it has ended. Other threads run meanwhile, and other greenlets, if any."""
    loop = _schedulers.cooperative_loop()
    if loop is None:
        message = operation.message(target, arguments)
        log = _logs.begin()
        try:
            return operation.answer(_boundary.call(message, log))
        finally:
            if log is not None:
                _logs.end(log)
                # An error that is kept keeps this frame, and shall not keep the caller's context.
                log = None
    coroutine = _ask(loop, operation, target, arguments)
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
    raise RuntimeError("a blocking call has met an event loop")


async def ask(operation: Operation, target: Any, *arguments: Any) -> Any:
    """Awaits a call. Cancelling it gives the call up at once."""
    return await _ask(_schedulers.running_loop(), operation, target, arguments)


async def _ask(loop: Any, operation: Operation, target: Any, arguments: tuple[Any, ...]) -> Any:
    message = operation.message(target, arguments)
    log = _logs.begin()
    try:
        return operation.answer(await _boundary.submit(loop, message, log))
    finally:
        if log is not None:
            _logs.end(log)
            # As above.
            log = None
