"""Event loop wake-up: waits for calls of the core in asyncio, and in the event loops of `_schedulers`.

The core makes one descriptor of the loop readable when any of its calls has got further, so no Python runs on the core's
threads, and many answers that come at once wake the loop once.

Instead of the generated continuation, which runs Python on the core's threads for each wake-up. No upstream issue asks for
another; this goes when the generated code wakes a loop without running Python on threads that are not Python's.

Why: docs/adr/0005-fast-calls-from-other-languages.md
"""

from __future__ import annotations

import ctypes
import importlib
import os
import weakref
from collections.abc import Callable
from itertools import count
from typing import Any

from ._generated import native

_core: Any = native._UniffiLib
_CONTINUATION: Any = native._UNIFFI_RUST_FUTURE_CONTINUATION_CALLBACK
# How many calls are heard of by one call into the core.
_ROOM = 64

CAN_LISTEN = hasattr(_core, "kassa_asyncio_new")
"""Not on Windows, whose event loop listens to no descriptors."""

# Not that of os, which eventlet replaces by one that its hub must not call.
_read: Any = importlib.import_module("posix").read if CAN_LISTEN else None

if CAN_LISTEN:
    _core.kassa_asyncio_new.argtypes = (ctypes.POINTER(ctypes.c_int),)
    _core.kassa_asyncio_new.restype = ctypes.c_void_p
    _core.kassa_asyncio_ticket.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
    _core.kassa_asyncio_ticket.restype = ctypes.c_uint64
    _core.kassa_asyncio_take.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t)
    _core.kassa_asyncio_take.restype = ctypes.c_size_t
    _core.kassa_asyncio_free.argtypes = (ctypes.c_void_p,)
    _core.kassa_asyncio_free.restype = None
    _WAKE = ctypes.cast(_core.kassa_asyncio_wake, _CONTINUATION)


class _Wakeups:
    """What the core wakes one event loop by. The loop holds it, and lets go of it when it is closed."""

    def __init__(self, loop: Any) -> None:
        listen_at = ctypes.c_int()
        self._wakeups: int | None = _core.kassa_asyncio_new(listen_at)
        if self._wakeups is None:
            raise OSError("there is no file descriptor left to wait for Kassa with")
        self._listen_at = listen_at.value
        self._numbers = count()
        self._waiting: dict[int, Any] = {}
        self._room = (ctypes.c_uint64 * _ROOM)()
        end = weakref.finalize(self, _end_listening, self._wakeups, self._listen_at)
        # At the end of the process a daemon thread may still turn its loop: what it is woken by must be there until then.
        end.atexit = False
        loop.add_reader(self._listen_at, self._heard)

    def ticket_for(self, waiting: Any) -> int:
        """What the continuation of a poll is to be called with."""
        number = next(self._numbers)
        self._waiting[number] = waiting
        ticket: int = _core.kassa_asyncio_ticket(self._wakeups, number)
        return ticket

    def _heard(self) -> None:
        _read(self._listen_at, _ROOM)
        taken = _ROOM
        while taken == _ROOM:
            taken = _core.kassa_asyncio_take(self._wakeups, self._room, _ROOM)
            for woken in self._room[:taken]:
                waiting = self._waiting.pop(woken >> 1)
                # Its task may have been cancelled.
                if not waiting.done():
                    waiting.set_result(woken & 1)


def _end_listening(wakeups: int, listen_at: int) -> None:
    _core.kassa_asyncio_free(wakeups)
    os.close(listen_at)


_of_loops: weakref.WeakKeyDictionary[Any, weakref.ref[_Wakeups]] = weakref.WeakKeyDictionary()


def _wakeups_of(loop: Any) -> _Wakeups:
    known = _of_loops.get(loop)
    wakeups = None if known is None else known()
    if wakeups is None:
        wakeups = _Wakeups(loop)
        _of_loops[loop] = weakref.ref(wakeups)
    return wakeups


async def poll(loop: Any, future: int, ffi_poll: Callable[..., None]) -> int:
    """Polls a future of the core, and waits in the loop that runs until it has got further."""
    waiting = loop.create_future()
    ffi_poll(future, _WAKE, _wakeups_of(loop).ticket_for(waiting))
    code: int = await waiting
    return code


# Without a lock: gevent would make it one that the core's threads cannot wait for.
_by_callback: dict[int, tuple[Any, Any]] = {}
_numbers = count()


def _wake(number: int, code: int) -> None:
    loop, waiting = _by_callback.pop(number)
    loop.call_soon_threadsafe(native._uniffi_set_future_result, waiting, code)


_WAKE_BY_CALLBACK = _CONTINUATION(_wake)


async def poll_by_callback(loop: Any, future: int, ffi_poll: Callable[..., None]) -> int:
    """The same by a callback on the core's threads, as the generated code does it."""
    waiting = loop.create_future()
    number = next(_numbers)
    _by_callback[number] = loop, waiting
    ffi_poll(future, _WAKE_BY_CALLBACK, number)
    code: int = await waiting
    return code
