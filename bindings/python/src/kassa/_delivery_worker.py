"""The worker of a program with a journal: recovers without end, and has what is charged delivered once."""

from __future__ import annotations

import asyncio
import inspect
import logging
import queue
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from datetime import timedelta
from typing import Any, TypeAlias

import kassa

from . import _check
from .delivery import DeliverySummary
from .journal_entry import JournalEntry, JournalState, Unfinished, Unreadable
from .policies import RecoveryPolicy
from .recovery import held
from .settings import is_closed

log = logging.getLogger("kassa")

Result: TypeAlias = JournalEntry | Unreadable
Handler: TypeAlias = Callable[[Any], object]

ONE_RECOVERY = timedelta(days=1)
"""After which time the journal is read anew."""
FIRST_PAUSE = 1.0
LONGEST_PAUSE_OF_DELIVERY = 300.0
LONGEST_PAUSE_OF_RECOVERY = 60.0
LOOKS_FOR_STOP_EVERY = 0.25
"""Seconds. A `threading.Event` and a queue cannot be waited for together."""


class Task:
    """A result that is to be handled, at the first try or again."""

    __slots__ = ("attempts", "due", "is_handled", "is_reported", "result")

    def __init__(self, result: Result) -> None:
        self.result = result
        self.attempts = 0
        self.due = 0.0
        self.is_handled = False
        """The handler has returned: only the journal's mark is missing."""
        self.is_reported = True
        """By the recovery that runs. Only while that has the journal's lock may this process deliver."""

    def may_be_handled(self) -> bool:
        return self.is_reported or self.is_handled or not is_charged(self.result)


class _Worker:
    """What is to be handled, and when: the rules that the blocking and the async worker share. It never waits."""

    def __init__(
        self,
        gateway: kassa.Gateway | kassa.AsyncGateway,
        policy: RecoveryPolicy,
        deliver: Handler,
        otherwise: Handler | None,
    ) -> None:
        # What cannot be recovered is refused now. No query is sent.
        gateway.recover(policy).cancel()
        for name, handler in (("deliver", deliver), ("otherwise", otherwise)):
            if not callable(handler) and (handler is not None or name == "deliver"):
                raise _check.wrong(name, "a function", handler)
        self.gateway: Any = gateway
        self.policy = policy
        self.journal: Any = gateway.journal
        self.delivered = 0
        self._deliver = deliver
        self._otherwise = otherwise
        self._tasks: dict[str, Task] = {}
        self._reported: dict[str, str] = {}
        """What was handled of each entry that a person should look at: it comes again. A rejection comes once."""

    def is_closed(self) -> bool:
        return is_closed(self.gateway)

    def add(self, result: Result) -> None:
        """A result of the recovery. One that is being repeated already may come again, from the next recovery."""
        known = self._tasks.get(result.id)
        if is_charged(result):
            if known is None or not is_charged(known.result):
                self._tasks[result.id] = Task(result)
            else:
                known.is_reported = True
        elif is_rejected(result):
            self._tasks[result.id] = Task(result)
        elif self._reported.get(result.id) != what(result):
            self._reported[result.id] = what(result)
            self._tasks[result.id] = Task(result)

    def recovery_ended(self) -> None:
        """Another process may deliver from now on. What is charged comes again."""
        for task in self._tasks.values():
            task.is_reported = False

    def due(self) -> list[Task]:
        """What is to be handled now: first what has not failed yet."""
        now = time.monotonic()
        due = [task for task in self._tasks.values() if task.may_be_handled() and task.due <= now]
        return sorted(due, key=lambda task: (task.attempts > 0, task.due))

    def until_next(self, otherwise: float) -> float:
        now = time.monotonic()
        waiting = (task.due - now for task in self._tasks.values() if task.may_be_handled())
        return max(0.0, min(waiting, default=otherwise))

    def call(self, task: Task) -> object:
        """Calls the handler; what it returns may have to be awaited."""
        if is_charged(task.result):
            return self._deliver(task.result)
        if self._otherwise is not None:
            return self._otherwise(task.result)
        reason = f": {task.result.reason}" if isinstance(task.result, JournalEntry) and task.result.reason else ""
        log.log(logging.INFO if is_rejected(task.result) else logging.WARNING, "%s%s", what(task.result), reason)
        return None

    def is_settled(self, task: Task) -> bool:
        """Whether it is no longer true: a person or another program has finished it, or it was charged after all."""
        if not isinstance(task.result, JournalEntry) or task.is_handled:
            return False
        entry = self.journal.entry(task.result.payment)
        return entry is None or entry.is_finished or (is_charged(entry) and not is_charged(task.result))

    def settled(self, task: Task) -> None:
        log.info("%s: it was finished elsewhere", what(task.result))
        self.forget(task)

    def done(self, task: Task) -> None:
        self.forget(task)
        self.delivered += is_charged(task.result)

    def forget(self, task: Task) -> None:
        if self._tasks.get(task.result.id) is task:
            del self._tasks[task.result.id]

    def failed(self, task: Task, error: BaseException) -> None:
        pause = min(FIRST_PAUSE * 2.0**task.attempts, LONGEST_PAUSE_OF_DELIVERY)
        task.attempts = min(task.attempts + 1, 30)
        task.due = time.monotonic() + pause
        did = "was delivered, and could not be finished in the journal" if task.is_handled else "was not delivered"
        if not is_charged(task.result):
            did = "could not be handled"
        log.warning("%s %s; again in %g s: %r", what(task.result), did, pause, error, exc_info=error)

    def end(self) -> None:
        """Leaves what is charged to the next worker, unless only its mark is missing. Everything else would not come again, and
        is handled now; not what has failed, as nobody knows how long that takes.
        """
        for task in list(self._tasks.values()):
            if not task.is_handled and (is_charged(task.result) or task.attempts):
                self.forget(task)
            task.due = 0.0

    def summary(self, left_open: list[Unfinished] | None) -> DeliverySummary:
        summary = DeliverySummary(self.delivered, None if left_open is None else tuple(left_open))
        log.info("the delivery of payments ended: %s", summary)
        return summary


class _Pauses:
    """Backoff between recoveries."""

    def __init__(self) -> None:
        self._next = FIRST_PAUSE
        self._began = 0.0

    def begin(self) -> None:
        self._began = time.monotonic()

    def after(self, error: Exception | None) -> float:
        """How long to wait after a recovery that has ended."""
        if error is None or time.monotonic() - self._began > LONGEST_PAUSE_OF_RECOVERY:
            self._next = FIRST_PAUSE
        pause, self._next = self._next, min(2 * self._next, LONGEST_PAUSE_OF_RECOVERY)
        if error is not None:
            log.warning("the recovery ended, and begins again in %g s: %s", pause, error)
        return pause


def is_charged(result: Result) -> bool:
    return isinstance(result, JournalEntry) and result.state is JournalState.CHARGED


def is_rejected(result: Result) -> bool:
    return isinstance(result, JournalEntry) and result.state is JournalState.REJECTED


def what(result: Result) -> str:
    """A result in a log line."""
    if isinstance(result, Unreadable):
        return f"the journal's file {result.id} {result.why}"
    order = result.payment.order_number or result.id
    return f"payment {order}{f' ({result.note})' if result.note else ''}, {result.state}"


def _policy(interval: timedelta | float, at_once: int) -> RecoveryPolicy:
    return RecoveryPolicy(interval, ONE_RECOVERY, at_once, follow_new=True)


# In a thread.


class _Pump:
    """Recovers in a thread, because a recovery and a stop cannot be waited for together."""

    def __init__(self, worker: _Worker) -> None:
        self._worker = worker
        self._is_ending = threading.Event()
        self._recovery: kassa.Recovery | None = None
        # One ahead: while a handler runs, nothing is polled that could not be delivered yet. None: a recovery has ended.
        self._results: queue.Queue[Result | None] = queue.Queue(maxsize=1)
        self._may_release = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="kassa-recovery", daemon=True
        )
        self._thread.start()

    def next(self, timeout: float) -> Result | None:
        try:
            result = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        if result is None:
            self._worker.recovery_ended()
            self._may_release.set()
        return result

    def rest(self) -> Iterator[Result]:
        """What had come when it was ended, until its thread is over."""
        while self._thread.is_alive() or not self._results.empty():
            if (result := self.next(LOOKS_FOR_STOP_EVERY)) is not None:
                yield result

    def has_ended(self) -> bool:
        return not self._thread.is_alive()

    def end(self) -> None:
        """Lets others recover."""
        self._is_ending.set()
        if self._recovery is not None:
            self._recovery.cancel()

    def _run(self) -> None:
        pauses = _Pauses()
        while not self._is_ending.is_set():
            pauses.begin()
            error: Exception | None = None
            try:
                self._recover()
            except Exception as problem:  # noqa: BLE001 (an error of a recovery says nothing about a payment)
                error = problem
            if self._worker.is_closed() or self._is_ending.is_set():
                return
            self._is_ending.wait(pauses.after(error))

    def _recover(self) -> None:
        recovery: kassa.Recovery
        with held(self._worker.gateway.recover(self._worker.policy)) as recovery:
            self._recovery = recovery
            try:
                if not self._is_ending.is_set():
                    for result in recovery:
                        self._results.put(result)
            finally:
                # A handler may run. Until it has returned, nobody else may deliver.
                self._may_release.clear()
                self._results.put(None)
                self._may_release.wait()


def deliver_forever(
    gateway: kassa.Gateway,
    deliver: Handler,
    otherwise: Handler | None,
    stop: threading.Event | None,
    interval: timedelta | float,
    at_once: int,
) -> DeliverySummary:
    """See `Gateway.deliver_forever`."""
    for name, handler in (("deliver", deliver), ("otherwise", otherwise)):
        if inspect.iscoroutinefunction(handler):
            raise TypeError(f"{name} must be a plain function; an async one goes with kassa.AsyncGateway")
    _check.optional_instance("stop", stop, threading.Event)
    worker = _Worker(gateway, _policy(interval, at_once), deliver, otherwise)
    with _stops_by_signal(stop) as stopped:
        pump = _Pump(worker)
        try:
            while not stopped.is_set() and not pump.has_ended():
                result = pump.next(min(LOOKS_FOR_STOP_EVERY, worker.until_next(LOOKS_FOR_STOP_EVERY)))
                if result is not None:
                    worker.add(result)
                # One at a time: handlers that fail, each for a while, must not keep what is new waiting.
                _handle(worker, worker.due()[:1], stopped)
            pump.end()
            for result in pump.rest():
                worker.add(result)
            worker.end()
            _handle(worker, worker.due(), threading.Event())
        finally:
            pump.end()
            for _ in pump.rest():
                pass
            summary = worker.summary(_left(worker))
    return summary


def _handle(worker: _Worker, tasks: list[Task], stopped: threading.Event) -> None:
    for task in tasks:
        if stopped.is_set():
            return
        try:
            is_true = _handle_one(worker, task)
        except BaseException as error:  # whatever it is, the payment comes again
            if _ends_the_thread(error):
                raise
            worker.failed(task, error)
        else:
            (worker.done if is_true else worker.settled)(task)


def _handle_one(worker: _Worker, task: Task) -> bool:
    """False if the result is no longer true."""
    if worker.is_settled(task):
        return False
    if not task.is_handled:
        made = worker.call(task)
        if inspect.isawaitable(made):
            if inspect.iscoroutine(made):
                made.close()
            raise TypeError("the handler returned an awaitable, which nobody awaits: nothing is delivered")
        task.is_handled = True
    if is_charged(task.result):
        worker.journal.finish(task.result)
    return True


def _ends_the_thread(error: BaseException) -> bool:
    """Not the time limits of gevent and eventlet, which are no `Exception`, either."""
    is_greenlets = any(kind.__name__ == "GreenletExit" for kind in type(error).__mro__)
    return isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit)) or is_greenlets


def _left(worker: _Worker) -> list[Unfinished] | None:
    try:
        return list(worker.journal.unfinished())
    except kassa.PaymentError as error:
        log.warning("%s", error)
        return None


@contextmanager
def _stops_by_signal(stop: threading.Event | None) -> Generator[threading.Event]:
    """SIGINT and SIGTERM stop the worker of a program's main thread; a second one does what it did before."""
    stopped = threading.Event() if stop is None else stop
    previous: dict[int, Any] = {}

    def restore(*_: object) -> None:
        while previous:
            signal.signal(*previous.popitem())

    def on_signal(*_: object) -> None:
        restore()
        stopped.set()

    if stop is None and threading.current_thread() is threading.main_thread():
        for number in (signal.SIGINT, signal.SIGTERM):
            # None: installed by something else than Python. Ignored ones stay ignored, as under nohup.
            if signal.getsignal(number) not in (None, signal.SIG_IGN):
                previous[number] = signal.signal(number, on_signal)
    try:
        yield stopped
    finally:
        restore()


# In an event loop.


class _Poller:
    """Has one result of the recovery awaited at a time."""

    def __init__(self, worker: _Worker) -> None:
        self._worker = worker
        self._pauses = _Pauses()
        self._recovery: kassa.AsyncRecovery | None = None
        self._next: asyncio.Task[Any] | None = None

    def awaited(self) -> asyncio.Task[Any]:
        """The next result, or the pause before the next recovery."""
        if self._next is None:
            recovery = self._recovery
            if recovery is None:
                self._pauses.begin()
                recovery = self._recovery = held(self._worker.gateway.recover(self._worker.policy))
            self._next = asyncio.ensure_future(self._step(recovery))
        return self._next

    @staticmethod
    async def _step(recovery: Any) -> Result | None:
        with suppress(StopAsyncIteration):
            result: Result = await recovery.__anext__()
            return result
        return None

    def taken(self) -> Result | None:
        """What came, once it is there."""
        if self._next is None or not self._next.done():
            return None
        task, self._next = self._next, None
        error: Exception | None = None
        try:
            result: Result | None = task.result()
        except Exception as problem:  # noqa: BLE001 (an error of a recovery says nothing about a payment)
            result, error = None, problem
        if result is None and self._recovery is not None:
            self._worker.recovery_ended()
            self._recovery.cancel()
            self._recovery = None
            if not self._worker.is_closed():
                self._next = asyncio.ensure_future(asyncio.sleep(self._pauses.after(error)))
        return result

    async def end(self) -> Result | None:
        """Lets others recover; what had come already."""
        task, recovery = self._next, self._recovery
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait({task})
        if recovery is not None:
            recovery.cancel()
        if task is None or task.cancelled() or task.exception() is not None:
            return None
        result: Result | None = task.result()
        return result


async def deliver_forever_in_loop(
    gateway: kassa.AsyncGateway,
    deliver: Handler,
    otherwise: Handler | None,
    stop: Any,
    interval: timedelta | float,
    at_once: int,
) -> DeliverySummary:
    """See `AsyncGateway.deliver_forever`."""
    _check.optional_instance("stop", stop, asyncio.Event)
    worker = _Worker(gateway, _policy(interval, at_once), deliver, otherwise)
    stopped = asyncio.Event() if stop is None else stop
    poller = _Poller(worker)
    stopping = asyncio.ensure_future(stopped.wait())
    try:
        while not stopped.is_set() and not worker.is_closed():
            timeout = worker.until_next(ONE_RECOVERY.total_seconds())
            await asyncio.wait({poller.awaited(), stopping}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if (result := poller.taken()) is not None:
                worker.add(result)
            await _handle_in_loop(worker, worker.due()[:1], stopped)
        if (result := await poller.end()) is not None:
            worker.add(result)
        worker.end()
        await _handle_in_loop(worker, worker.due(), asyncio.Event())
    finally:
        stopping.cancel()
        await poller.end()
        summary = worker.summary(await asyncio.to_thread(_left, worker))
    return summary


async def _handle_in_loop(worker: _Worker, tasks: list[Task], stopped: asyncio.Event) -> None:
    for task in tasks:
        if stopped.is_set():
            return
        try:
            is_true = await _handle_one_in_loop(worker, task)
        except (asyncio.CancelledError, Exception) as error:  # whatever it is, the payment comes again
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            worker.failed(task, error)
        else:
            (worker.done if is_true else worker.settled)(task)


async def _handle_one_in_loop(worker: _Worker, task: Task) -> bool:
    """False if the result is no longer true."""
    if await asyncio.to_thread(worker.is_settled, task):
        return False
    if not task.is_handled:
        made = worker.call(task)
        if inspect.isawaitable(made):
            await made
        task.is_handled = True
    if is_charged(task.result):
        await asyncio.to_thread(worker.journal.finish, task.result)
    return True


def _is_cancelled() -> bool:
    """Whether the worker is, and not a task that its handler awaited. Before Python 3.11 nobody can tell."""
    cancelling: Callable[[], int] | None = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
