"""The two ways to call the package: blocking, and in an event loop."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, ClassVar, Protocol

import kassa
from kassa.checkout import AsyncCheckout, AsyncCheckoutStates, Checkout, CheckoutStates

from .patience import PATIENCE

# Twice the patience, so that a wait inside a step times out first.
LONGEST = 2 * PATIENCE

Function = Callable[[], Any]


class Started(Protocol):
    """A step that runs beside the others."""

    def finish(self) -> Any: ...

    def abandon(self) -> bool:
        """Gives it up, and says whether it had not ended. It is over when this returns."""
        ...


class Way(Protocol):
    gateway: ClassVar[Callable[..., Any]]
    checkout: ClassVar[Callable[..., Any]]

    def function(self, function: Function) -> Function:
        """A function of a user's, as this way takes it."""
        ...

    def run(self, function: Function) -> Any: ...

    def next(self, items: Any) -> Any: ...

    def all(self, items: Any) -> Any: ...

    def start(self, function: Function) -> Started: ...


class Blocking:
    """`kassa.Gateway`. What is started runs in the main thread; the steps of such a vector run in another one meanwhile."""

    gateway: ClassVar[Callable[..., Any]] = kassa.Gateway
    checkout: ClassVar[Callable[..., Any]] = Checkout

    def __init__(self) -> None:
        self._started: SimpleQueue[InMainThread] = SimpleQueue()

    def run(self, function: Function) -> Any:
        return function()

    def function(self, function: Function) -> Function:
        return function

    def next(self, items: kassa.StatusWatch | kassa.Recovery | CheckoutStates) -> Any:
        return next(items, None)

    def all(self, items: Iterator[kassa.Unfinished]) -> Any:
        return list(items)

    def start(self, function: Function) -> InMainThread:
        started = InMainThread(function)
        self._started.put(started)
        return started

    def serve(self, steps: Future[Any]) -> Any:
        """What the main thread does until the steps are done."""
        while not steps.done():
            with suppress(Empty):
                self._started.get(timeout=0.01).run()
        return steps.result()


class InMainThread:
    """Only the main thread can be made to give up a blocking call: by Ctrl-C."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._ended: Future[Any] = Future()
        self._is_interruptible = threading.Event()
        self._goes_on = threading.Event()
        self._is_over = threading.Event()

    def run(self) -> None:
        # The interrupt comes somewhere in here, also where the call had ended before.
        with suppress(KeyboardInterrupt):
            self._is_interruptible.set()
            try:
                self._ended.set_result(self._function())
            except kassa.PaymentError as error:
                self._ended.set_exception(error)
            self._goes_on.wait(LONGEST)
        self._is_over.set()

    def finish(self) -> Any:
        self._goes_on.set()
        return self._ended.result(LONGEST)

    def abandon(self) -> bool:
        main = threading.main_thread().ident
        assert main is not None
        assert self._is_interruptible.wait(LONGEST)
        signal.pthread_kill(main, signal.SIGINT)
        assert self._is_over.wait(LONGEST)
        return not self._ended.done()


class InLoop:
    """`kassa.AsyncGateway`. All vectors share one event loop, in a thread of its own."""

    gateway: ClassVar[Callable[..., Any]] = kassa.AsyncGateway
    checkout: ClassVar[Callable[..., Any]] = AsyncCheckout

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def run(self, function: Function) -> Any:
        return asyncio.run_coroutine_threadsafe(_awaited(function), self._loop).result(LONGEST)

    def function(self, function: Function) -> Function:
        return lambda: asyncio.to_thread(function)

    def next(self, items: kassa.AsyncStatusWatch | kassa.AsyncRecovery | AsyncCheckoutStates) -> Any:
        return anext(items, None)

    async def all(self, items: AsyncIterator[kassa.Unfinished]) -> Any:
        return [item async for item in items]

    def start(self, function: Function) -> InTask:
        return InTask(self, function)


class InTask:
    """A task that is waited for or cancelled."""

    def __init__(self, way: InLoop, function: Function) -> None:
        self._way = way
        self._task: asyncio.Task[Any] = way.run(lambda: _started(function))

    def finish(self) -> Any:
        return self._way.run(lambda: self._task)

    def abandon(self) -> bool:
        return bool(self._way.run(self._abandoned))

    async def _abandoned(self) -> bool:
        self._task.cancel()
        await asyncio.wait([self._task])
        return self._task.cancelled()


async def _awaited(function: Function) -> Any:
    answer = function()
    return await answer if hasattr(answer, "__await__") else answer


async def _started(function: Function) -> asyncio.Task[Any]:
    return asyncio.create_task(_awaited(function))
