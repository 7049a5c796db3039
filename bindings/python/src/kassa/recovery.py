"""Polls every unfinished payment of a journal until it is final."""

import os
from types import TracebackType
from typing import Any, NoReturn, TypeAlias, TypeVar

from ._calls import RECOVERY_NEXT, call_async, wait
from ._codec import itself, read_as
from .errors import Misconfigured
from .journal_entry import JournalEntry, Unreadable

Recovered: TypeAlias = JournalEntry | Unreadable
"""A result of recovery: a payment that has ended, as its entry, or a file that only a person can read. The entry's state says
how the payment ended: ``CHARGED`` (deliver, then finish it), ``REJECTED`` (no money was taken; it is no longer listed), or
``MISMATCH`` (for a person). **A rejected payment may come again, as charged**: a gateway may correct its report. A payment
that is still ``UNKNOWN`` or ``PENDING`` needs a person, too: the gateway answers about others, but only with errors about
this one; the entry's reason has the error. It stays unfinished. So does an MBank or MegaPay payment that comes as ``PENDING``
because its payer never entered a valid code: after five minutes, if no confirmation was sent that may have counted and the
gateway says that it is pending. Every later recovery queries it again."""

read_as("Recovered.Payment", itself)
read_as("Recovered.Unreadable", Unreadable)


class Following:
    """What both kinds of recovery share."""

    __slots__ = ("_native", "_process")
    _native: Any
    _process: int

    def __init__(self, *_: object, **__: object) -> None:
        """Not created directly: use ``gateway.recover()``."""
        raise TypeError(f"a kassa.{type(self).__name__} is made by gateway.recover()")

    def cancel(self) -> None:
        """Stops polling, and lets other processes recover: no further result. Any thread may call it."""
        core = self._core()
        if core is not None:
            core.cancel()
        # The core lets others recover at its next call, or when it is let go of. This is now, unless a thread waits in it.
        self._native = None

    def _core(self) -> Any:
        """None if it was cancelled."""
        if self._process != os.getpid():
            # Its clock stopped with the threads of the other process: waiting for it would never end.
            raise Misconfigured("the recovery was begun before a fork; recover again in this process")
        return self._native

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a kassa.{type(self).__name__} cannot be pickled or copied; recover again instead")


def _let_go(error: BaseException) -> BaseException:
    """Removes the frames that hold the recovery, so that a stored error does not block other recoveries."""
    return error.with_traceback(None)


class Recovery(Following):
    """Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with
    ``RecoveryPolicy(follow_new=True)`` also those that begin later. Iterate over the results (`Recovered`). Made by
    ``gateway.recover()``.

    Payments that are already charged come at once, without a query. A payment that is still pending at the policy's deadline
    stays unfinished for the next recovery, and so does one without a number to query by. Between two results, no new query
    begins.

    **Of all processes that share the folder, one recovers at a time**; the others wait until it ends, is released, or dies,
    so that no two deliver the same goods. Still, make delivery idempotent: a process may die between delivering and
    finishing.

    Closing the gateway ends it at once and lets other processes recover, unless you have one of its results, which you may be
    delivering: then it does so when you request the next one. Results that are already there still come. Leaving a
    loop ``for recovered in gateway.recover():`` early lets other processes recover. A recovery that you hold in a variable
    does so when it is cancelled: by `cancel`, or at the end of ``with gateway.recover() as recovery:``.

    The iteration raises, once, at the end: `kassa.Unauthorized` and `kassa.Misconfigured` if further queries are useless
    (three times in a row, or the gateway was closed), `kassa.Unavailable` if the journal cannot be read. None of them says
    anything about a payment.
    """

    __slots__ = ()

    def __iter__(self) -> "Recovery":
        return self

    def __next__(self) -> Recovered:
        core = self._core()
        if core is None:
            raise StopIteration
        del self
        try:
            recovered: Recovered | None = wait(RECOVERY_NEXT, core)
        except BaseException as error:  # noqa: BLE001 (it is raised again)
            del core
            raise _let_go(error)  # noqa: B904 (the very same)
        if recovered is None:
            raise StopIteration
        return recovered

    def __enter__(self) -> "Recovery":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncRecovery(Following):
    """Polls the payments that were unfinished in a gateway's journal when it began, each until it is final; with
    ``RecoveryPolicy(follow_new=True)`` also those that begin later. Iterate over the results (`Recovered`) with ``async
    for``. Made by ``gateway.recover()``.

    Cancelling the task ends its loop, and lets other processes recover. If only the wait for a result is cancelled (a
    timeout), nothing is lost: that result comes next. A recovery that you hold in a variable lets other processes recover
    when it is cancelled: by `cancel`, or at the end of ``async with gateway.recover() as recovery:``. Otherwise as
    `Recovery`.
    """

    __slots__ = ()

    def __aiter__(self) -> "AsyncRecovery":
        return self

    async def __anext__(self) -> Recovered:
        core = self._core()
        if core is None:
            raise StopAsyncIteration
        del self
        try:
            recovered: Recovered | None = await call_async(RECOVERY_NEXT, core)
        except BaseException as error:  # noqa: BLE001 (it is raised again)
            del core
            raise _let_go(error)  # noqa: B904 (the very same)
        if recovered is None:
            raise StopAsyncIteration
        return recovered

    async def __aenter__(self) -> "AsyncRecovery":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


# After the class: a bound by its name would be compiled.
F = TypeVar("F", bound=Following)


def begun(kind: type[F], core: object) -> F:
    """A recovery over the core's."""
    recovery = kind.__new__(kind)
    object.__setattr__(recovery, "_native", core)
    object.__setattr__(recovery, "_process", os.getpid())
    return recovery


def held(recovery: F) -> F:
    """The same; no other process recovers until it is cancelled, also after its end and after the gateway was closed."""
    object.__getattribute__(recovery, "_native").hold_lock()
    return recovery
