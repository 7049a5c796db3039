"""Schedulers other than asyncio: lets calls of the core wait under trio, gevent and eventlet while their other tasks run.

Each scheduler is shown as the few methods of an event loop that `_boundary`, `_log_timer` and the checkout use. A scheduler
that the program has not imported is not imported here.
"""

from __future__ import annotations

import importlib
import os
import sys
import weakref
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextlib import suppress
from contextvars import Context, copy_context
from typing import Any, TypeVar

T = TypeVar("T")


def running_loop() -> Any:
    """The event loop that an awaited call waits in: of asyncio, or the run of trio as one."""
    if _is_in_trio_task():
        return _run_of_trio()
    import asyncio  # a program that waits does without it

    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        raise RuntimeError(
            "no event loop of asyncio or trio is running: Kassa's async calls are awaited in one of them; "
            "under any other scheduler, call the blocking Gateway in a thread"
        ) from None


def cooperative_loop() -> Any:
    """The hub of greenlets that a blocking call has to leave free, as an event loop; None if the call may block its thread.

    Only a patched program needs this: its blocking calls let other greenlets run. A thread without a hub has no other
    greenlets.
    """
    monkey: Any = sys.modules.get("gevent.monkey")
    if monkey is not None and (monkey.is_module_patched("socket") or monkey.is_module_patched("threading")):
        return _hub_of_gevent()
    patcher: Any = sys.modules.get("eventlet.patcher")
    if patcher is not None and (patcher.is_monkey_patched("socket") or patcher.is_monkey_patched("thread")):
        return _hub_of_eventlet()
    return None


def on_disk(function: Callable[..., T], *arguments: Any) -> T:
    """Makes a call that waits for the disk: in the hub's pool of threads, where greenlets would have to wait for it."""
    hub = cooperative_loop()
    if hub is None:
        return function(*arguments)
    result, error = hub.in_thread(_caught, function, arguments)
    if error is not None:
        raise error
    answer: T = result
    return answer


def _caught(function: Callable[..., T], arguments: tuple[Any, ...]) -> tuple[T | None, Exception | None]:
    """An error as a value: gevent prints those that its threads raise."""
    try:
        return function(*arguments), None
    except Exception as error:  # noqa: BLE001 (it is raised again)
        return None, error


async def in_thread(function: Callable[[], T]) -> T:
    """Awaits a function that blocks, run in a thread of asyncio's or trio's."""
    if _is_in_trio_task():
        result: T = await importlib.import_module("trio").to_thread.run_sync(function)
        return result
    import asyncio  # a program that waits does without it

    return await asyncio.to_thread(function)


# Greenlets: gevent, eventlet.


class _Hub(ABC):
    """A thread's hub of greenlets. It listens only while calls wait: it would keep a program that waits for all greenlets
    (``gevent.wait()``) from ending."""

    def __init__(self, hub: Any) -> None:
        self.process = os.getpid()
        self._hub = weakref.ref(hub)
        self._waiting = 0
        self._descriptor: int | None = None
        self._heard: Callable[[], None] = _nothing

    def add_reader(self, descriptor: int, heard: Callable[[], None]) -> None:
        self._descriptor, self._heard = descriptor, heard

    def begin(self) -> None:
        """A call begins to wait."""
        self._waiting += 1
        if self._waiting == 1:
            self._listen()

    def end(self) -> None:
        """A call waits no more."""
        self._waiting -= 1
        if self._waiting == 0:
            self._stop_listening()

    def _hear(self, *_: object) -> None:
        if self.process == os.getpid():
            self._heard()
        else:
            # Fork safety: the child has a copy of the greenlet that waits, and shares its descriptor. Only the
            # parent may read it.
            self._stop_listening()

    @abstractmethod
    def create_future(self) -> Any: ...

    @abstractmethod
    def _listen(self) -> None: ...

    @abstractmethod
    def _stop_listening(self) -> None: ...


class _GreenFuture:
    """Awaiting it switches to the hub, and never suspends the coroutine. An exception that is thrown into the
    waiting greenlet (``GreenletExit``, ``gevent.Timeout``) ends the wait."""

    __slots__ = ("_hub", "_is_set", "_set", "_wait")

    def __init__(
        self, hub: _Hub, is_set: Callable[[], bool], set_: Callable[[Any], object], wait: Callable[[], Any]
    ) -> None:
        self._hub = hub
        self._is_set = is_set
        self._set = set_
        self._wait = wait

    def done(self) -> bool:
        return self._is_set()

    cancelled = done

    def set_result(self, result: Any) -> None:
        self._set(result)

    def result(self) -> Any:
        return self._wait()

    def __await__(self) -> Generator[Any, None, Any]:
        self._hub.begin()
        try:
            result = self._wait()
        finally:
            self._hub.end()
        yield from ()
        return result


class _Gevent(_Hub):
    def __init__(self, hub: Any) -> None:
        super().__init__(hub)
        self._watcher: Any = None

    def create_future(self) -> _GreenFuture:
        result = importlib.import_module("gevent.event").AsyncResult()
        return _GreenFuture(self, result.ready, result.set, result.get)

    def call_later(self, delay: float, function: Callable[[], None], *, context: Context) -> None:
        context.run(_gevent().spawn_later, delay, function)

    def call_soon_threadsafe(self, function: Callable[..., object], *arguments: Any) -> None:
        hub: Any = self._hub()
        if hub is not None and hub.loop is not None:
            hub.loop.run_callback_threadsafe(function, *arguments)

    def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        result: T = _gevent().get_hub().threadpool.apply(function, arguments)
        return result

    def _listen(self) -> None:
        loop = _gevent().get_hub().loop
        if self._descriptor is None:
            # Windows: without a timer the hub gives up if it waits for nothing else.
            self._watcher = loop.timer(3600, 3600)
            self._watcher.start(_nothing)
        else:
            self._watcher = loop.io(self._descriptor, 1)  # readable
            self._watcher.start(self._hear)

    def _stop_listening(self) -> None:
        watcher, self._watcher = self._watcher, None
        if watcher is not None:
            watcher.stop()
            watcher.close()


class _Eventlet(_Hub):
    def __init__(self, hub: Any) -> None:
        super().__init__(hub)
        self._listener: Any = None

    def create_future(self) -> _GreenFuture:
        event = importlib.import_module("eventlet.event").Event()
        return _GreenFuture(self, event.ready, event.send, event.wait)

    def call_later(self, delay: float, function: Callable[[], None], *, context: Context) -> None:
        importlib.import_module("eventlet").spawn_after(delay, context.run, function)

    def in_thread(self, function: Callable[..., T], *arguments: Any) -> T:
        result: T = importlib.import_module("eventlet.tpool").execute(function, *arguments)
        return result

    def _listen(self) -> None:
        hub = _eventlet_hub()
        self._listener = hub.add(hub.READ, self._descriptor, self._hear, _nothing, _nothing)

    def _stop_listening(self) -> None:
        listener, self._listener = self._listener, None
        if listener is not None:
            _eventlet_hub().remove(listener)


# Without the hubs themselves among the values: they would never be let go of.
_hubs: weakref.WeakKeyDictionary[Any, _Hub] = weakref.WeakKeyDictionary()


def _of(hub: Any, make: Callable[[Any], _Hub]) -> _Hub:
    known = _hubs.get(hub)
    if known is None or known.process != os.getpid():
        known = _hubs[hub] = make(hub)
    return known


def _hub_of_gevent() -> _Hub | None:
    gevent = _gevent()
    # Requesting a hub makes one, which a thread outside gevent would leave behind.
    hub = getattr(sys.modules.get("gevent._hub_local"), "get_hub_if_exists", gevent.get_hub)()
    return None if hub is None or hub is gevent.getcurrent() else _of(hub, _Gevent)


def _hub_of_eventlet() -> _Hub | None:
    # Its threads' hubs cannot be woken on Windows.
    if os.name == "nt":
        return None
    hub = _eventlet_hub()
    return None if hub.greenlet is importlib.import_module("greenlet").getcurrent() else _of(hub, _Eventlet)


def _gevent() -> Any:
    return importlib.import_module("gevent")


def _eventlet_hub() -> Any:
    return importlib.import_module("eventlet.hubs").get_hub()


def _nothing(*_: object) -> None:
    pass


# trio.


class _Trio:
    """A run of trio. Its tasks here are system tasks, which end with the run."""

    def __init__(self) -> None:
        self._trio: Any = importlib.import_module("trio")
        self._token = self._trio.lowlevel.current_trio_token()

    def create_future(self) -> _TrioFuture:
        return _TrioFuture(self._trio.Event())

    def add_reader(self, descriptor: int, heard: Callable[[], None]) -> None:
        self._trio.lowlevel.spawn_system_task(_listen, self._trio, descriptor, heard, name="kassa")

    def call_later(self, delay: float, function: Callable[[], None], *, context: Context) -> None:
        async def later() -> None:
            await self._trio.sleep(delay)
            context.run(function)

        self._trio.lowlevel.spawn_system_task(_run, self._trio.CancelScope(), later(), name="kassa log lines")

    def call_soon_threadsafe(self, function: Callable[..., object], *arguments: Any) -> None:
        with suppress(self._trio.RunFinishedError):
            self._token.run_sync_soon(function, *arguments)

    def create_task(self, coroutine: Coroutine[Any, Any, None], *, name: str) -> Any:
        """Can be cancelled, as a task of asyncio's. What goes wrong in it is printed: it would end the whole run."""
        scope = self._trio.CancelScope()
        self._trio.lowlevel.spawn_system_task(_run, scope, coroutine, name=name, context=copy_context())
        return scope

    def is_closed(self) -> bool:
        return False


class _TrioFuture:
    __slots__ = ("_event", "_result")

    def __init__(self, event: Any) -> None:
        self._result: Any = None
        self._event = event

    def done(self) -> bool:
        is_set: bool = self._event.is_set()
        return is_set

    cancelled = done

    def set_result(self, result: Any) -> None:
        self._result = result
        self._event.set()

    def result(self) -> Any:
        return self._result

    def __await__(self) -> Generator[Any, Any, Any]:
        yield from self._event.wait().__await__()
        return self._result


# A function and not a method, so that the task holds only its arguments, and not the object.
async def _listen(trio: Any, descriptor: int, heard: Callable[[], None]) -> None:
    while True:
        await trio.lowlevel.wait_readable(descriptor)
        heard()


async def _run(scope: Any, coroutine: Awaitable[None]) -> None:
    with scope:
        try:
            await coroutine
        except Exception as problem:  # noqa: BLE001 (whatever it is)
            sys.excepthook(type(problem), problem, problem.__traceback__)


_runs_of_trio: Any = None


def _run_of_trio() -> _Trio:
    global _runs_of_trio
    lowlevel = importlib.import_module("trio").lowlevel
    if _runs_of_trio is None:
        _runs_of_trio = lowlevel.RunVar("kassa", None)
    run: _Trio | None = _runs_of_trio.get()
    if run is None:
        run = _Trio()
        _runs_of_trio.set(run)
    return run


def _is_in_trio_task() -> bool:
    trio: Any = sys.modules.get("trio")
    if trio is None:
        return False
    try:
        trio.lowlevel.current_task()
    except (AttributeError, RuntimeError):  # it is being imported; this thread runs none
        return False
    return not _is_in_asyncio_task()


def _is_in_asyncio_task() -> bool:
    """Both may run in one thread: trio as a guest of asyncio, or the other way round."""
    asyncio: Any = sys.modules.get("asyncio")
    if asyncio is None:
        return False
    try:
        return asyncio.current_task() is not None
    except RuntimeError:
        return False
