"""Watches: polling of one payment until it is final."""

import os
from types import TracebackType
from typing import Any, NoReturn, TypeAlias, TypeVar

from . import _check
from ._calls import WATCH_NEXT, WATCH_OUTCOME, call_async, wait
from ._codec import itself, read_as
from ._dataclass import dataclass
from .errors import Misconfigured, PaymentError
from .verdict import Verdict


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """A query failed, or the gateway does not know the payment (yet). The watch continues."""

    error: PaymentError
    """Why."""

    def __post_init__(self) -> None:
        _check.instance("error", self.error, PaymentError)

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether the report is a kassa.Charged (isinstance)")


WatchReport: TypeAlias = Verdict | QueryFailed
"""The result of one query of a watch: a `Verdict` if the gateway answered. The verdict that ends the watch is the last
report."""

read_as("WatchReport.Status", itself)
read_as("WatchReport.QueryFailed", QueryFailed)


class Watching:
    """What both kinds of watch share."""

    __slots__ = ("_native", "_process")
    _native: Any
    _process: int

    def __init__(self, *_: object, **__: object) -> None:
        """Not created directly: use ``gateway.watch(payment)``."""
        raise TypeError(f"a kassa.{type(self).__name__} is made by gateway.watch(payment)")

    def check_now(self) -> None:
        """Makes the next query due at once, for example when the payer has just come back. Any thread may call it."""
        self._core().check_now()

    def cancel(self) -> None:
        """Stops polling: no further report, and the outcome is None unless the watch had already ended. Any thread may call
        it."""
        self._core().cancel()

    def _core(self) -> Any:
        if self._process != os.getpid():
            # Its clock stopped with the threads of the other process: waiting for it would never end.
            raise Misconfigured("the watch was made before a fork; make one in this process, by the same PaymentRef")
        return self._native

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(f"a kassa.{type(self).__name__} cannot be pickled or copied; store the PaymentRef instead")


class StatusWatch(Watching):
    """Polls one payment: a query at once, then one per interval, one at a time, until there is a final `Verdict`.

    Iterate over the reports (each a `Verdict` or a `QueryFailed`), or wait for the end with `outcome()`. Between calls, no
    query is sent. Failed queries and "not found" are reported and do not end the watch. Wrong credentials, a wrong
    configuration or a report that contradicts the request end it after three in a row. If a query is refused or its response
    is not understood, the next-best query follows at once. A query that would be due while another one runs is skipped, and
    the gateway's ``Retry-After`` delays the next.

    The iteration ends after the final verdict. It raises `kassa.DeadlineExpired` if the payment was still pending at the
    deadline, and `kassa.Unauthorized` or `kassa.Misconfigured` if further queries are useless; closing the gateway ends it in
    the same way, at once. None of these means that the payment failed.

    ``with gateway.watch(payment) as watch:`` cancels it at the end of the block.
    """

    __slots__ = ()

    def __iter__(self) -> "StatusWatch":
        return self

    def __next__(self) -> WatchReport:
        report: WatchReport | None = wait(WATCH_NEXT, self._core())
        if report is None:
            raise StopIteration
        return report

    def outcome(self) -> Verdict | None:
        """The verdict that ended the watch; **None if it was cancelled**, which says nothing about the payment. It polls
        until then, and can be called again afterwards.

        Raises as iterating does.
        """
        outcome: Verdict | None = wait(WATCH_OUTCOME, self._core())
        return outcome

    def __enter__(self) -> "StatusWatch":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


class AsyncStatusWatch(Watching):
    """Polls one payment: a query at once, then one per interval, one at a time, until there is a final `Verdict`.

    Iterate over the reports with ``async for`` (each a `Verdict` or a `QueryFailed`), or await `outcome()`. Cancelling the
    waiting task loses no report: a running query continues, and its report comes next. Otherwise as `StatusWatch`.
    """

    __slots__ = ()

    def __aiter__(self) -> "AsyncStatusWatch":
        return self

    async def __anext__(self) -> WatchReport:
        report: WatchReport | None = await call_async(WATCH_NEXT, self._core())
        if report is None:
            raise StopAsyncIteration
        return report

    async def outcome(self) -> Verdict | None:
        """The verdict that ended the watch; **None if it was cancelled**, which says nothing about the payment. It polls
        until then, and can be called again afterwards.

        Raises as iterating does.
        """
        outcome: Verdict | None = await call_async(WATCH_OUTCOME, self._core())
        return outcome

    async def __aenter__(self) -> "AsyncStatusWatch":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.cancel()


# After the class: a bound by its name would be compiled.
W = TypeVar("W", bound=Watching)


def made(kind: type[W], core: object) -> W:
    """A watch over the core's."""
    watch = kind.__new__(kind)
    object.__setattr__(watch, "_native", core)
    object.__setattr__(watch, "_process", os.getpid())
    return watch
