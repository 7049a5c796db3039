"""Delivers what is charged, in a program with a journal: a worker recovers without end, a script once."""

from __future__ import annotations

import asyncio
import inspect
import queue
import signal
import threading
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from datetime import timedelta
from typing import Any

import kassa

from . import _check
from ._delivery_rules import ONE_RECOVERY, Handler, Pauses, Result, SingleRun, Task, Worker, is_charged, log, policy_of
from .delivery import DeliverySummary
from .journal_entry import Unfinished
from .policies import RecoveryPolicy
from .recovery import held

LOOKS_FOR_STOP_EVERY = 0.25
"""Seconds. A `threading.Event` and a queue cannot be waited for together."""


# In a thread.


class _Pump:
    """Recovers in a thread, because a recovery and a stop cannot be waited for together."""

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._is_ending = threading.Event()
        self._recovery: kassa.Recovery | None = None
        # One ahead: while a handler runs, nothing is polled that could not be delivered yet. None: a recovery has ended.
        self._results: queue.Queue[Result | None] = queue.Queue(maxsize=1)
        self._may_release = threading.Event()
        self._thread = threading.Thread(
            target=copy_context().run, args=(self._run,), name="kassa-recovery", daemon=True
        )

    def start(self) -> None:
        self._thread.start()

    def next(self, timeout: float) -> Result | None:
        try:
            result = self._results.get(timeout=timeout)
        except queue.Empty:
            return None
        if result is None:
            _handle(self._worker, self._worker.delivered_tasks(), threading.Event())
            self._worker.recovery_ended()
            self._may_release.set()
        return result

    def rest(self) -> Iterator[Result]:
        """The results that arrived before the end, until the thread is over."""
        while self._thread.is_alive() or not self._results.empty():
            # No handler is running; an exception may have come before this was set.
            self._may_release.set()
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
        pauses = Pauses()
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
                # A handler may run. Until it has returned, no other process may deliver.
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
    _refuse_async(deliver, otherwise)
    _check.optional_instance("stop", stop, threading.Event)
    worker = Worker(gateway, policy_of(interval, at_once), deliver, otherwise)
    with _stops_by_signal(stop) as stopped:
        pump = _Pump(worker)
        try:
            pump.start()
            while not stopped.is_set() and not pump.has_ended():
                result = pump.next(min(LOOKS_FOR_STOP_EVERY, worker.until_next(LOOKS_FOR_STOP_EVERY)))
                if result is not None:
                    worker.add(result)
                # One at a time, so that slow failing handlers do not delay new results.
                _handle(worker, worker.due()[:1], stopped)
            _handle(worker, worker.delivered_tasks(), threading.Event())
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


def deliver_unfinished(
    gateway: kassa.Gateway, deliver: Handler, otherwise: Handler | None, policy: RecoveryPolicy
) -> DeliverySummary:
    """See `Gateway.deliver_unfinished`."""
    _refuse_async(deliver, otherwise)
    run = SingleRun(gateway, policy, deliver, otherwise)
    never = threading.Event()
    try:
        # Delivered payments that could not be finished are finished before other processes may deliver.
        with held(gateway.recover(policy)) as recovery:
            try:
                for result in recovery:
                    _handle(run, [run.add_new(result)], never)
            finally:
                _handle(run, run.delivered_tasks(), never)
    finally:
        summary = run.summary(_left(run))
    return summary


def _refuse_async(deliver: Handler, otherwise: Handler | None) -> None:
    for name, handler in (("deliver", deliver), ("otherwise", otherwise)):
        if inspect.iscoroutinefunction(handler):
            raise TypeError(f"{name} must be a plain function; an async one goes with kassa.AsyncGateway")


def _handle(worker: Worker, tasks: list[Task], stopped: threading.Event) -> None:
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


def _handle_one(worker: Worker, task: Task) -> bool:
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


def _left(worker: Worker) -> list[Unfinished] | None:
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

    def __init__(self, worker: Worker) -> None:
        self._worker = worker
        self._pauses = Pauses()
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

    def has_ended(self) -> bool:
        """Whether the recovery has: it has the journal's lock until that is taken."""
        task = self._next
        if task is None or self._recovery is None or not task.done():
            return False
        return task.cancelled() or task.exception() is not None or task.result() is None

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
    worker = Worker(gateway, policy_of(interval, at_once), deliver, otherwise)
    stopped = asyncio.Event() if stop is None else stop
    poller = _Poller(worker)
    stopping = asyncio.ensure_future(stopped.wait())
    try:
        while not stopped.is_set() and not worker.is_closed():
            timeout = worker.until_next(ONE_RECOVERY.total_seconds())
            await asyncio.wait({poller.awaited(), stopping}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if poller.has_ended():
                await _handle_in_loop(worker, worker.delivered_tasks(), asyncio.Event())
            if (result := poller.taken()) is not None:
                worker.add(result)
            await _handle_in_loop(worker, worker.due()[:1], stopped)
        await _handle_in_loop(worker, worker.delivered_tasks(), asyncio.Event())
        if (result := await poller.end()) is not None:
            worker.add(result)
        worker.end()
        await _handle_in_loop(worker, worker.due(), asyncio.Event())
    finally:
        stopping.cancel()
        await _handle_in_loop(worker, worker.delivered_tasks(), asyncio.Event())
        await poller.end()
        summary = worker.summary(await asyncio.to_thread(_left, worker))
    return summary


async def deliver_unfinished_in_loop(
    gateway: kassa.AsyncGateway, deliver: Handler, otherwise: Handler | None, policy: RecoveryPolicy
) -> DeliverySummary:
    """See `AsyncGateway.deliver_unfinished`."""
    run = SingleRun(gateway, policy, deliver, otherwise)
    never = asyncio.Event()
    try:
        async with held(gateway.recover(policy)) as recovery:
            try:
                async for result in recovery:
                    await _handle_in_loop(run, [run.add_new(result)], never)
            finally:
                await _handle_in_loop(run, run.delivered_tasks(), never)
    finally:
        summary = run.summary(await asyncio.to_thread(_left, run))
    return summary


async def _handle_in_loop(worker: Worker, tasks: list[Task], stopped: asyncio.Event) -> None:
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


async def _handle_one_in_loop(worker: Worker, task: Task) -> bool:
    """False if the result is no longer true."""
    if await asyncio.to_thread(worker.is_settled, task):
        return False
    if not task.is_handled:
        made = worker.call(task)
        if inspect.isawaitable(made):
            await made
        task.is_handled = True
    if is_charged(task.result):
        await _to_its_end(asyncio.to_thread(worker.journal.finish, task.result))
    return True


async def _to_its_end(writing: Coroutine[Any, Any, None]) -> None:
    """Waits even if the task is cancelled, any number of times: a delivered payment is finished before the lock is released."""
    written = asyncio.ensure_future(writing)
    cancelled: asyncio.CancelledError | None = None
    while not written.done():
        try:
            await asyncio.wait({written})
        except asyncio.CancelledError as error:  # noqa: PERF203 (there may be several)
            cancelled = error
    if cancelled is not None:
        raise cancelled from written.exception()
    written.result()


def _is_cancelled() -> bool:
    """Whether the worker is cancelled, and not a task that its handler awaited. Before Python 3.11 this is unknown: True."""
    cancelling: Callable[[], int] | None = getattr(asyncio.current_task(), "cancelling", None)
    return cancelling is None or cancelling() > 0
