"""Blocking and asynchronous waits for calls of the core: in the caller's own thread, without an event loop, or in one.

A thread that waits stays in the core, so the GIL is free and other threads run; not so where it would hold up other greenlets,
which run while the hub waits as an event loop does (`_schedulers`). For a query the thread drives the connection itself, which
wakes no other thread. No Python runs on the core's threads, so none of them ever waits for the GIL, or meets an interpreter
that is being taken down, which ends the thread in the middle of Rust code (https://github.com/rust-lang/rust/issues/135929).

Takes the place of the generated ``_uniffi_rust_call_async``, which needs an event loop and calls back into Python. No
upstream issue asks for another; this goes when the generated code can wait for a future in a thread without an event loop,
and wakes both without running Python on threads that are not Python's.

Why: docs/adr/0005-fast-calls-from-other-languages.md
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from enum import Enum
from functools import partial
from typing import Any, TypeVar

from . import _event_loop, _log_timer, _logs, _schedulers
from ._generated import native, replace

T = TypeVar("T")

_core: Any = native._UniffiLib

# Ctrl-C is heard by Python code only, on the main thread only: so long that thread stays away between two looks.
_LOOK_EVERY_MILLISECONDS = 20
# Any other thread looks for log events only.
_LOOK_FOR_EVENTS_EVERY_MILLISECONDS = 1000 // _logs.LOOKS_A_SECOND
_FOREVER = 2**64 - 1

# Each by the number of the call, which its log events come back by; 0 where nobody listens to them.
_run: Any = _core.kassa_numbered_run
_run.argtypes = (
    ctypes.c_uint64,
    ctypes.c_uint64,
    ctypes.c_void_p,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_uint8,
    ctypes.c_uint64,
)
_run.restype = ctypes.c_bool
_poll: Any = _core.kassa_numbered_poll
_poll.argtypes = (ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_uint64)
_poll.restype = None
_end: Any = _core.kassa_blocking_end
_end.argtypes, _end.restype = (ctypes.c_void_p,), None


class _Turn(Enum):
    """How the next call is to be waited for."""

    AWAITED = 0
    BLOCKING = 1
    BLOCKING_QUERY = 2


# Each thread has its own, and each greenlet, too, whether or not it was patched in before this is imported.
_turn: ContextVar[_Turn] = ContextVar("kassa: how the next call is waited for", default=_Turn.AWAITED)


def wait_for_query(coroutine: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine with one query to its end. The thread drives the network for it."""
    return wait(coroutine, _Turn.BLOCKING_QUERY)


def wait(coroutine: Coroutine[Any, Any, T], turn: _Turn = _Turn.BLOCKING) -> T:
    """Runs a coroutine with one call of the core to its end."""
    _turn.set(turn)
    try:
        coroutine.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    finally:
        _turn.set(_Turn.AWAITED)
        coroutine.close()
    raise RuntimeError("a blocking call has met an event loop")


def _run_here(future: int, ffi_poll: Any, asks: bool, log: _logs.CallLog | None) -> None:
    """Runs a future of the core to its end, on this thread and without the GIL."""
    # Filled in by the core, so that nothing is lost where Ctrl-C comes between two lines here.
    running = ctypes.c_void_p()
    number = 0 if log is None else log.number
    longest = _longest_stay(log)
    try:
        while not _run(number, future, ffi_poll, running, asks, longest):
            if log is not None and log.is_due():
                _logs.look((log,))
    finally:
        if running:
            _end(running)


def _longest_stay(log: _logs.CallLog | None) -> int:
    if threading.current_thread() is threading.main_thread():
        return _LOOK_EVERY_MILLISECONDS
    return _FOREVER if log is None else _LOOK_FOR_EVENTS_EVERY_MILLISECONDS


async def _call(future: int, ffi_poll: Any, complete: Any, free: Any, lift: Callable[[Any], T], converter: Any) -> T:
    """What the generated code does with every future of the core."""
    turn = _turn.get()
    _turn.set(_Turn.AWAITED)
    process = os.getpid()
    log: _logs.CallLog | None = None
    try:
        log = _logs.begin()
        loop = _schedulers.running_loop() if turn is _Turn.AWAITED else _schedulers.cooperative_loop()
        if loop is None:
            _run_here(future, ffi_poll, turn is _Turn.BLOCKING_QUERY, log)
        else:
            await _wait_in_loop(loop, future, ffi_poll, log)
        return lift(native._uniffi_rust_call_with_error(converter, complete, future))
    finally:
        # After Ctrl-C, or in a task that was cancelled: drops the core's side of it. A greenlet that a fork has copied is ended
        # in the child, too, where this is the parent's.
        if process == os.getpid():
            free(future)
        if log is not None:
            _logs.end(log)
            # An error that is kept keeps this frame, and shall not keep the caller's context.
            log = None


async def _wait_in_loop(loop: Any, future: int, ffi_poll: Any, log: _logs.CallLog | None) -> None:
    """Polls a future of the core until it is ready."""
    poll = ffi_poll if log is None else partial(_poll, log.number, ffi_poll)
    with _log_timer.looks(loop, log):
        while await _poll_in_loop(loop, future, poll) != native._UNIFFI_RUST_FUTURE_POLL_READY:
            pass


_poll_in_loop = _event_loop.poll if _event_loop.CAN_LISTEN else _event_loop.poll_by_callback
replace(native, "_uniffi_rust_call_async", _call)
