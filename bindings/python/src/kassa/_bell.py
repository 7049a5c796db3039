"""Waits for calls of the core in an event loop.

The core makes one descriptor of the loop readable when any of its calls has got further, so no Python runs on the core's
threads, and many answers that come at once wake the loop once.
"""

from __future__ import annotations

import asyncio
import ctypes
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

IS_THERE = hasattr(_core, "kassa_bell_new")
"""Not on Windows, whose event loop listens to no descriptors."""

if IS_THERE:
    _core.kassa_bell_new.argtypes = (ctypes.POINTER(ctypes.c_int),)
    _core.kassa_bell_new.restype = ctypes.c_void_p
    _core.kassa_bell_ticket.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
    _core.kassa_bell_ticket.restype = ctypes.c_uint64
    _core.kassa_bell_take.argtypes = (ctypes.c_void_p, ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t)
    _core.kassa_bell_take.restype = ctypes.c_size_t
    _core.kassa_bell_free.argtypes = (ctypes.c_void_p,)
    _core.kassa_bell_free.restype = None
    _RING = ctypes.cast(_core.kassa_bell_ring, _CONTINUATION)


class _Bell:
    """What the core rings for one event loop. The loop holds it, and lets go of it when it is closed."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        listen_at = ctypes.c_int()
        self._bell: int | None = _core.kassa_bell_new(listen_at)
        if self._bell is None:
            raise OSError("there is no file descriptor left to wait for Kassa with")
        self._listen_at = listen_at.value
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[int]] = {}
        self._room = (ctypes.c_uint64 * _ROOM)()
        end = weakref.finalize(self, _end_listening, self._bell, self._listen_at)
        # At the end of the process a daemon thread may still turn its loop: what it rings must be there until then.
        end.atexit = False
        loop.add_reader(self._listen_at, self._heard)

    def ticket_for(self, waiting: asyncio.Future[int]) -> int:
        """What the continuation of a poll is to be called with."""
        number = next(self._numbers)
        self._waiting[number] = waiting
        ticket: int = _core.kassa_bell_ticket(self._bell, number)
        return ticket

    def _heard(self) -> None:
        os.read(self._listen_at, _ROOM)
        taken = _ROOM
        while taken == _ROOM:
            taken = _core.kassa_bell_take(self._bell, self._room, _ROOM)
            for rung in self._room[:taken]:
                waiting = self._waiting.pop(rung >> 1)
                # Its task may have been cancelled.
                if not waiting.done():
                    waiting.set_result(rung & 1)


def _end_listening(bell: int, listen_at: int) -> None:
    _core.kassa_bell_free(bell)
    os.close(listen_at)


_bells: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[_Bell]] = weakref.WeakKeyDictionary()


def _bell_of(loop: asyncio.AbstractEventLoop) -> _Bell:
    known = _bells.get(loop)
    bell = None if known is None else known()
    if bell is None:
        bell = _Bell(loop)
        _bells[loop] = weakref.ref(bell)
    return bell


async def poll(future: int, ffi_poll: Callable[..., None]) -> int:
    """Polls a future of the core, and waits until it has got further."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[int] = loop.create_future()
    ffi_poll(future, _RING, _bell_of(loop).ticket_for(waiting))
    return await waiting


async def poll_without_bell(future: int, ffi_poll: Callable[..., None]) -> int:
    """The same by a callback on the core's threads, as the generated code does it."""
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[int] = loop.create_future()
    ffi_poll(future, native._uniffi_continuation_callback, native._UniffiContinuationHandleMap.insert((loop, waiting)))
    return await waiting
