"""Waits for a call of the core in the caller's own thread, without an event loop.

The wait is one for a lock, so the GIL is free, other threads run, and Ctrl-C ends it at once. A wait inside the native library
would not see Ctrl-C before its end, which for a watch is minutes.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Generator
from typing import Any, TypeVar

from ._generated import native

T = TypeVar("T")


class _Wakeup:
    """What the generated code awaits until the core has got further: an asyncio future, as far as it needs one."""

    def __init__(self) -> None:
        self._still_waiting = threading.Lock()
        self._still_waiting.acquire()
        self._code: Any = None

    def cancelled(self) -> bool:
        return False

    def set_result(self, code: Any) -> None:
        self._code = code
        self._still_waiting.release()

    def wait(self) -> None:
        self._still_waiting.acquire()

    def __await__(self) -> Generator[_Wakeup, None, Any]:
        yield self
        return self._code


class _CallersThread:
    """An event loop, as far as the generated code needs one."""

    def create_future(self) -> _Wakeup:
        return _Wakeup()

    def call_soon_threadsafe(self, function: Callable[..., object], *arguments: Any) -> None:
        function(*arguments)


class _Turn(threading.local):
    """Whether this thread is just now running a coroutine of its own."""

    loop: _CallersThread | None = None


_turn = _Turn()
_CALLERS_THREAD = _CallersThread()

# The generated code asks for its event loop in this one place.
native._uniffi_get_event_loop = lambda: _turn.loop or asyncio.get_running_loop()


def wait(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine of the core to its end."""
    try:
        while True:
            _step(coroutine).wait()
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        # After Ctrl-C: drops the core's side of it.
        coroutine.close()


def _step(coroutine: Coroutine[Any, Any, Any]) -> _Wakeup:
    _turn.loop = _CALLERS_THREAD
    try:
        wakeup: _Wakeup = coroutine.send(None)
        return wakeup
    finally:
        _turn.loop = None
