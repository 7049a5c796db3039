"""Hands the core's events to Python's ``logging``, as records of the logger ``kassa``, and ended calls to the observers of
`telemetry`.

The core keeps events by the number of their call, if the program listens to them. The thread or task that waits for a call
passes its events on: while it waits, and when the call is over. So no handler runs on the core's threads. A handler that is
slow, or waits for a lock whose holder waits for Kassa, delays only its own thread. Shutdown and forks are safe, too.

Handlers run in the context (``contextvars``) in which the call was begun, on any thread: values that a program binds to its
context (a request, a trace) appear in the records of its own calls, and in no others. A payment that continues without its
caller keeps that context until its last event, and no longer. Events without a call are handled in an empty context.

If the program has not imported ``logging``, it cannot listen, and nothing here imports it: that would take a tenth of the time
of Kassa's own import. Code that needs that module is in `_log_records`.

The core cannot wake Python for an event. So that events are shown while calls wait, the waiting threads (`_wait`) and event
loops (`_log_timer`) check for them, `LOOKS_A_SECOND` times a second; but only if the program listens.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Collection
from contextvars import Context, copy_context
from itertools import count
from typing import Any

from ._core import native

LOOKS_A_SECOND = 10


class _Kept:
    """The level from which the core currently keeps events."""

    least: Any = None


class Observers:
    """The observers of calls, in the order of registration."""

    all: tuple[Callable[[Any], object], ...] = ()
    # A signal handler may observe, too.
    lock = threading.RLock()


def observe(observer: Callable[[Any], object]) -> None:
    """Adds an observer."""
    with Observers.lock:
        _observe_with((*Observers.all, observer))


def stop_observing(observer: Callable[[Any], object]) -> None:
    """Removes an observer, by identity."""
    with Observers.lock:
        _observe_with(tuple(known for known in Observers.all if known is not observer))


def _observe_with(observers: tuple[Callable[[Any], object], ...]) -> None:
    """Sets all observers. The core keeps the records of calls as long as there are any."""
    if bool(observers) is not bool(Observers.all):
        native.keep_completed_calls(bool(observers))
    Observers.all = observers


class CallLog:
    """What one call logs: its number in the core, and the context in which handlers run for it."""

    __slots__ = ("_context", "_due", "_process", "_turn", "number", "taken")

    def __init__(self, number: int, context: Context) -> None:
        self.number = number
        # Taken from the core and not passed on yet: if Ctrl-C stops a handler, the other events are not lost.
        self.taken: deque[Any] = deque()
        self._context = context
        self._due = 0.0
        self._process = os.getpid()
        self._turn = [None]

    def is_due(self) -> bool:
        """Whether it is time to look for events of it."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + 1 / LOOKS_A_SECOND
        return True

    def take_turn(self) -> bool:
        """One thread, or greenlet, at a time passes on the events of this call, so that their order is kept. None waits for its
        turn. This is not a lock, because gevent would replace it by one that works between greenlets only."""
        try:
            self._turn.pop()
        except IndexError:
            return False
        return True

    def give_turn(self) -> None:
        """Lets others take the turn."""
        self._turn.append(None)

    def hand_on(self) -> None:
        """Passes on the taken events."""
        # A copy, so that variables set by a handler stay out of the program's contexts.
        context = self._context.copy()
        # Fork safety: a handler may fork, and then the parent passes on the rest.
        while self.taken and self._process == os.getpid():
            context.run(_hand_on, self.taken.popleft())


_numbers = count(1)
no_call = CallLog(0, Context())
"""For events without a call."""
ended: dict[int, CallLog] = {}
"""Completed calls that may still have events, by their numbers."""

# The threads that currently pass events on, and those with a handler that calls Kassa. A handler that calls Kassa for each
# event would cause an event by each call, without end. By thread identity: a thread-local does not distinguish greenlets if
# gevent patches the program after this module is imported.
_handing_on: set[int] = set()
_have_handler_that_calls: set[int] = set()


def _begin_anew() -> None:
    """In a forked child: all calls are the parent's, and this is the only thread."""
    global no_call
    no_call = CallLog(0, Context())
    Observers.lock = threading.RLock()
    ended.clear()
    _handing_on.intersection_update({threading.get_ident()})


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


def begin() -> CallLog | None:
    """Before each call: sets the level that the core keeps, if it has changed. The call's log; None if nothing listens."""
    here = threading.get_ident()
    if here not in _handing_on:
        _have_handler_that_calls.discard(here)
    least = _least()
    if least is not _Kept.least:
        _Kept.least = least
        native.keep_log_events(least)
    if least is None and not Observers.all:
        ended.clear()
        return None
    return CallLog(next(_numbers), copy_context())


def is_listened_to() -> bool:
    """Whether the core keeps events or records of calls."""
    return _Kept.least is not None or bool(Observers.all)


def look(calls: Collection[CallLog]) -> None:
    """Passes on the events so far, while calls wait."""
    if is_listened_to() and threading.get_ident() not in _handing_on | _have_handler_that_calls:
        _hand_on_all(calls, ())


def end(call: CallLog) -> None:
    """Passes on the events so far, after a call."""
    if not is_listened_to():
        return
    here = threading.get_ident()
    handed_on: Collection[CallLog] = ()
    try:
        if here in _handing_on:
            # A handler has called Kassa: the events of that call are passed on after the next call.
            _have_handler_that_calls.add(here)
        else:
            handed_on = _hand_on_all((), (call,))
    finally:
        if call not in handed_on:
            ended[call.number] = call


def _hand_on_all(waiting: Collection[CallLog], just_ended: Collection[CallLog]) -> Collection[CallLog]:
    """Passes on the events of these calls, of calls completed before, and of none. Returns the calls whose turn it took."""
    here = threading.get_ident()
    _handing_on.add(here)
    turns: list[CallLog] = []
    try:
        going_on = [call for call in (no_call, *waiting) if call.take_turn()]
        turns += going_on
        over = [call for call in (*ended.values(), *just_ended) if call.take_turn()]
        turns += over
        taken = native.take_log_events([call.number for call in going_on], [call.number for call in over])
        by_number = {call.number: call for call in turns}
        for kept in (*taken.events, *taken.completed):
            by_number[kept.call].taken.append(kept)
        # Only the events taken above, so that new events cannot keep this call waiting.
        for call in turns:
            call.hand_on()
        for call in over:
            if call.number in taken.under_way:
                ended[call.number] = call
            else:
                ended.pop(call.number, None)
    finally:
        for call in turns:
            call.give_turn()
        _handing_on.discard(here)
    # Greenlets run while a handler waits: a call that ended during that time could not pass on its last events.
    if any(call.number in ended for call in waiting):
        _hand_on_all((), ())
    return turns


_records: Any = None
"""The module `_log_records`, once the program has imported ``logging``."""


def _records_module() -> Any:
    # Each call needs it, and an import statement takes longer than this, although the module is imported already.
    global _records
    if _records is None and "logging" in sys.modules:
        from . import _log_records

        _records = _log_records
    return _records


def _least() -> Any:
    """The lowest level that is listened to, if any is."""
    records = _records_module()
    return None if records is None else records.least()


def _hand_on(kept: Any) -> None:
    """Passes on a log event, or the record of a request."""
    if hasattr(kept, "completed"):
        for observer in Observers.all:
            _show(observer, kept.completed)
        return
    _records_module().hand_on(kept)


def _show(observer: Callable[[Any], object], call: Any) -> None:
    try:
        observer(call)
    except (Exception, SystemExit):  # noqa: BLE001 (an observer's defect must not hide what a payment call has to say)
        if sys.stderr is not None:
            import traceback  # a program whose observers work does without it

            traceback.print_exc()
