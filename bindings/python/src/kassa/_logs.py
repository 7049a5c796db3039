"""Hands the core's events to Python's ``logging``, as records of the logger ``kassa``.

The core keeps the events that somebody listens to. Whoever waits for a call hands them on: while it waits, and when the call is
over. So no handler runs on the core's threads: one that is slow, or waits for a lock whose holder waits for Kassa, holds up
nobody but its own thread, and nothing can go wrong while the interpreter is taken down or the process forks.

The core cannot wake Python for an event. So that lines come while calls wait, one of the threads (`_wait`) and event loops
(`_log_timer`) that wait looks for them, `LOOKS_A_SECOND` times a second; but only where somebody listens.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
from collections import deque
from typing import Any

from ._generated import native

LOGGER = logging.getLogger("kassa")
LOGGER.addHandler(logging.NullHandler())

LOOKS_A_SECOND = 10

_LEVELS = (
    (logging.DEBUG, native.LogLevel.DEBUG),
    (logging.INFO, native.LogLevel.INFO),
    (logging.WARNING, native.LogLevel.WARNING),
    (logging.ERROR, native.LogLevel.ERROR),
)
_LEVEL_OF = {theirs.name: ours for ours, theirs in _LEVELS}


class _State(threading.local):
    """How far this thread is with handing on."""

    is_handing_on = False
    # A handler that calls Kassa for each line would bring a line by each call, and go round as often as is looked.
    has_handler_that_calls = False


class _Kept:
    """What the threads share: the level from which the core keeps events at present, and when to look for them next."""

    least: Any = None
    due = 0.0


_state = _State()

# Taken from the core and not handed on yet: where a handler is stopped by Ctrl-C, the others are not lost. Without a lock,
# which a handler could hold up, or a fork keep for ever.
taken: deque[Any] = deque()
if hasattr(os, "register_at_fork"):
    # They are the parent's to hand on.
    os.register_at_fork(after_in_child=taken.clear)


def follow() -> None:
    """Tells the core what is listened to, where that has changed. Called before each call."""
    if not _state.is_handing_on:
        _state.has_handler_that_calls = False
    least = _least()
    if least is not _Kept.least:
        _Kept.least = least
        native.keep_log_events(least)


def is_listened_to() -> bool:
    """Whether looking for events can bring any."""
    return _Kept.least is not None


def look() -> None:
    """Hands on what has happened so far, while a call waits. Of many that wait, one looks at a time."""
    if _Kept.least is None or _state.is_handing_on or _state.has_handler_that_calls:
        return
    now = time.monotonic()
    if now >= _Kept.due:
        _Kept.due = now + 1 / LOOKS_A_SECOND
        _hand_on_all()


def hand_on() -> None:
    """Hands on what has happened so far, after a call."""
    if _state.is_handing_on:
        # A handler has called Kassa: what that brings is handed on after the next call.
        _state.has_handler_that_calls = True
    elif _Kept.least is not None:
        _hand_on_all()


def _hand_on_all() -> None:
    _state.is_handing_on = True
    try:
        taken.extend(native.take_log_events())
        # No more than there are now: what calls of other threads bring meanwhile is not this one's to wait for.
        for _ in range(len(taken)):
            _hand_on_next()
    finally:
        _state.is_handing_on = False


def _hand_on_next() -> None:
    try:
        kept = taken.popleft()
    except IndexError:
        # Another thread was faster.
        return
    _hand_on(kept)


def _least() -> Any:
    """The lowest level that is listened to, if any is."""
    if not _has_listeners():
        return None
    return next((theirs for ours, theirs in _LEVELS if LOGGER.isEnabledFor(ours)), None)


def _has_listeners() -> bool:
    """Without any, ``logging`` would print warnings by itself; that is what the null handler keeps it from."""
    logger: logging.Logger | None = LOGGER
    while logger is not None:
        for handler in logger.handlers:
            if not isinstance(handler, logging.NullHandler):
                return True
        logger = logger.parent if logger.propagate else None
    return False


def _hand_on(kept: Any) -> None:
    level = _LEVEL_OF[kept.event.level.name]
    if not LOGGER.isEnabledFor(level):
        return
    extra = {"kassa": kept.fields}
    record = LOGGER.makeRecord(LOGGER.name, level, "kassa", 0, kept.event.text, (), None, "kassa", extra)
    _happened_at(record, kept.at.timestamp())
    try:
        LOGGER.handle(record)
    except Exception:  # noqa: BLE001 (a handler's defect must not hide what a payment call has to say)
        if logging.raiseExceptions and sys.stderr is not None:
            import traceback

            traceback.print_exc()


def _happened_at(record: logging.LogRecord, moment: float) -> None:
    record.relativeCreated += (moment - record.created) * 1000
    record.created = moment
    record.msecs = moment % 1 * 1000
