"""The boundary to the core: a call that takes time goes in as one message, and its completion comes back as another.

A blocking call runs on its own thread, without the GIL; for a query, that thread drives the connection itself. Any other call
runs on the core's threads. An event loop (asyncio, and those of `_schedulers`) takes its completion from a queue: the core
makes the loop's file descriptor readable when the queue is no longer empty.

A completion may have come when its caller stops waiting, by a cancellation or Ctrl-C. Until the caller has it, the call can be
given up, and what comes once, such as a report, goes to the next call.

No Python runs on the core's threads, except on Windows, so none of them waits for the GIL, or meets an interpreter that is
being taken down, which ends the thread in the middle of Rust code (https://github.com/rust-lang/rust/issues/135929).

Why: docs/adr/0002-runtime-and-boundary.md
"""

from __future__ import annotations

import ctypes
import importlib
import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from itertools import count
from struct import Struct
from typing import Any, TypeAlias

from . import _log_timer, _logs
from ._core import function

Completion: TypeAlias = tuple[int, bytes]
"""A code, and a value: 0 with the answer, 1 with an error, 2 with the text of a defect."""

_SIZE = 16 * 1024
# Python handles Ctrl-C in Python code of the main thread only, so that thread returns from the core this often.
_LOOK_EVERY_MILLISECONDS = 20
# Any other thread returns to fetch log events only.
_LOOK_FOR_EVENTS_EVERY_MILLISECONDS = 1000 // _logs.LOOKS_A_SECOND
_FOREVER = 2**64 - 1
# A flag in the status, next to the code: the core must be told whether the caller received the completion.
_IS_TO_BE_RECEIVED = 0x80

_PAIR = Struct(">QQ")
_SIGNAL: Any = ctypes.CFUNCTYPE(None, ctypes.c_uint64)


def _function(name: str, arguments: int, answer: Any = None) -> Any:
    """A function of the boundary. All its arguments are numbers."""
    return function(f"kassa_{name}", (ctypes.c_uint64,) * arguments, answer)


_call = _function("call", 6, ctypes.c_int64)
_call_end = _function("call_end", 1)
_call_received = _function("call_received", 1)
_queue_new = _function("queue_new", 3, ctypes.c_uint64)
_submit = _function("submit", 5)
_take = _function("take", 4, ctypes.c_int64)
_received = _function("received", 2)
_cancel = _function("cancel", 2)
_queue_free = _function("queue_free", 1)
_free = _function("free", 2)

# Not `os.read`: eventlet replaces it by a function that its hub must not call.
_read: Any = None if os.name == "nt" else importlib.import_module("posix").read
listens_to_descriptors = _read is not None
"""False on Windows, whose event loop cannot listen to descriptors: there the core calls a function."""


class _Memory:
    """Memory for a message to the core and for what comes back."""

    __slots__ = ("_buffer", "_view", "address", "size", "waiting")

    def __init__(self, size: int = _SIZE) -> None:
        # Behind it are eight bytes by which the core knows a blocking call between two waits.
        self._buffer = ctypes.create_string_buffer(size + 8)
        self._view = memoryview(self._buffer).cast("B")
        self.address = ctypes.addressof(self._buffer)
        self.size = size
        self.waiting = self.address + size

    def write(self, message: bytes) -> None:
        self._view[: len(message)] = message

    def read(self, start: int, end: int) -> bytes:
        return bytes(self._view[start:end])

    def value(self, at: int, length: int, longest: int) -> tuple[bytes, int]:
        """A value, and where it ends. One that is longer than the memory is elsewhere."""
        if length <= longest:
            return self.read(at, at + length), at + length
        address, capacity = _PAIR.unpack_from(self._view, at)
        try:
            return ctypes.string_at(address, length), at + _PAIR.size
        finally:
            _free(address, capacity)


# Of no thread: a signal handler may make a call in the middle of another one.
_memories: list[_Memory] = []


def _memory_for(message: bytes) -> _Memory:
    if len(message) > _SIZE:
        return _Memory(len(message))
    try:
        return _memories.pop()
    except IndexError:
        return _Memory()


def _keep(memory: _Memory) -> None:
    if memory.size == _SIZE:
        _memories.append(memory)


def call(write: Callable[[], bytes], log: _logs.CallLog | None) -> Completion:
    """Makes a call on this thread, and waits for its end."""
    number, longest = 0 if log is None else log.number, _longest_stay(log)
    message = write()
    length = len(message)
    memory = _memory_for(message)
    memory.write(message)
    status = -1
    try:
        while (status := _call(memory.address, memory.size, length, number, longest, memory.waiting)) < 0:
            if log is not None and log.is_due():
                _logs.look((log,))
        size = status >> 8
        value = memory.read(0, size) if size <= memory.size else memory.value(0, size, memory.size)[0]
        if status & _IS_TO_BE_RECEIVED:
            _call_received(memory.waiting)
    except BaseException:
        # Also if the call has ended, and Ctrl-C came before its completion was read.
        _call_end(memory.waiting)
        # Not reached if a second Ctrl-C interrupts `_call_end`: the next call with this memory would continue this one.
        _keep(memory)
        raise
    _keep(memory)
    return status & 0x7F, value


def _longest_stay(log: _logs.CallLog | None) -> int:
    if threading.current_thread() is threading.main_thread():
        return _LOOK_EVERY_MILLISECONDS
    return _FOREVER if log is None else _LOOK_FOR_EVENTS_EVERY_MILLISECONDS


async def submit(loop: Any, write: Callable[[], bytes], log: _logs.CallLog | None) -> Completion:
    """Makes a call, and waits in the loop that runs until it has ended. Cancelling it gives the call up."""
    completions = _completions_of(loop)
    waiting = loop.create_future()
    number = completions.submit(write, waiting, log)
    try:
        with _log_timer.looks(loop, log):
            code, value = await waiting
    except BaseException:
        completions.give_up(number)
        raise
    if code & _IS_TO_BE_RECEIVED:
        completions.received(number)
    return code & 0x7F, value


class _Completions:
    """What ended of the calls of one event loop. The loop holds it, and lets go of it when it is closed."""

    def __init__(self, loop: Any) -> None:
        self.process = os.getpid()
        self._waiting: dict[int, Any] = {}
        self._numbers = count(1)
        self._memory = _Memory()
        if listens_to_descriptors:
            self._listen(loop)
        else:
            self._be_called(loop)

    def _listen(self, loop: Any) -> None:
        descriptor = ctypes.c_int()
        self._queue: int = _queue_new(0, 0, ctypes.addressof(descriptor))
        if not self._queue:
            raise OSError("there is no file descriptor left to wait for Kassa with")
        self._descriptor: int | None = descriptor.value
        end = weakref.finalize(self, _end_listening, self._queue, self._descriptor)
        # At the end of the process a daemon thread may still run its loop, so its descriptor must stay open until then.
        end.atexit = False
        loop.add_reader(self._descriptor, self._heard)

    def _be_called(self, loop: Any) -> None:
        self._descriptor = None
        context = next(_contexts)
        self._queue = _queue_new(ctypes.cast(_ON_SIGNAL, ctypes.c_void_p).value, context, 0)
        _by_context[context] = weakref.ref(loop), self
        weakref.finalize(loop, _end_being_called, self._queue, context).atexit = False

    def submit(self, write: Callable[[], bytes], waiting: Any, log: _logs.CallLog | None) -> int:
        """Submits a call. `waiting` gets its completion. The message is written when nothing else can fail: the core must get
        it, because it contains shares of objects."""
        number = next(self._numbers)
        message = write()
        memory = _memory_for(message)
        memory.write(message)
        self._waiting[number] = waiting
        _submit(self._queue, number, 0 if log is None else log.number, memory.address, len(message))
        _keep(memory)
        return number

    def received(self, number: int) -> None:
        """The caller has the completion."""
        _received(self._queue, number)

    def give_up(self, number: int) -> None:
        """Abandons a call, even if its completion has arrived and was not received. A greenlet that a fork has copied also ends
        in the child, but the call belongs to the parent."""
        self._waiting.pop(number, None)
        if self.process == os.getpid():
            _cancel(self._queue, number)

    def _heard(self) -> None:
        if self._descriptor is not None:
            _read(self._descriptor, 64)
        taken = -1
        while taken < 0:
            taken = _take(self._queue, self._memory.address, self._memory.size, 0)
            at, end = 0, abs(taken)
            while at < end:
                number, status = _PAIR.unpack(self._memory.read(at, at + _PAIR.size))
                value, at = self._memory.value(at + _PAIR.size, status >> 8, self._memory.size - _PAIR.size)
                waiting = self._waiting.pop(number, None)
                # Its task may have been cancelled.
                if waiting is not None and not waiting.done():
                    waiting.set_result((status & 0xFF, value))


def _end_listening(queue: int, descriptor: int) -> None:
    _queue_free(queue)
    os.close(descriptor)


_of_loops: weakref.WeakKeyDictionary[Any, weakref.ref[_Completions]] = weakref.WeakKeyDictionary()


def _completions_of(loop: Any) -> _Completions:
    known = _of_loops.get(loop)
    completions = None if known is None else known()
    # A forked child may go on with its parent's loop, and must not wake the parent.
    if completions is None or completions.process != os.getpid():
        completions = _Completions(loop)
        _of_loops[loop] = weakref.ref(completions)
    return completions


# Windows.

_contexts = count(1)
_by_context: dict[int, tuple[weakref.ref[Any], _Completions]] = {}


def _signal(context: int) -> None:
    """Wakes a loop, from a thread of the core's."""
    known = _by_context.get(context)
    loop: Any = None if known is None else known[0]()
    if known is not None and loop is not None:
        # The loop may have been closed.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(known[1]._heard)  # pyright: ignore[reportPrivateUsage]


_ON_SIGNAL = _SIGNAL(_signal)


def _end_being_called(queue: int, context: int) -> None:
    _by_context.pop(context, None)
    _queue_free(queue)
