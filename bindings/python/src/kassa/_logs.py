"""Hands the core's events to Python's ``logging``, as records of the logger ``kassa``.

The core keeps the events that somebody listens to, and the thread or task that made a call hands them on when the call is
over. So no handler runs on the core's threads: one that is slow, or waits for a lock whose holder waits for Kassa, holds up
nobody but its own caller, and nothing can go wrong while the interpreter is taken down or the process forks.
"""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from typing import Any

from ._generated import native

LOGGER = logging.getLogger("kassa")
LOGGER.addHandler(logging.NullHandler())

_LEVELS = (
    (logging.DEBUG, native.LogLevel.DEBUG),
    (logging.INFO, native.LogLevel.INFO),
    (logging.WARNING, native.LogLevel.WARNING),
    (logging.ERROR, native.LogLevel.ERROR),
)
_LEVEL_OF = {theirs.name: ours for ours, theirs in _LEVELS}


class _State(threading.local):
    """Whether this thread is handing on events just now."""

    is_handing_on = False


class _Kept:
    """The level from which the core keeps events at present."""

    least: Any = None


_state = _State()


def follow() -> None:
    """Tells the core what is listened to, where that has changed. Called before each call."""
    least = _least()
    if least is not _Kept.least:
        _Kept.least = least
        native.keep_log_events(least)


def hand_on() -> None:
    """Hands on what has happened so far. Called after each call."""
    # A handler may call Kassa: what that brings is handed on after the next call.
    if _Kept.least is None or _state.is_handing_on:
        return
    _state.is_handing_on = True
    try:
        for kept in native.take_log_events():
            _hand_on(kept)
    finally:
        _state.is_handing_on = False


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
            traceback.print_exc()


def _happened_at(record: logging.LogRecord, moment: float) -> None:
    record.relativeCreated += (moment - record.created) * 1000
    record.created = moment
    record.msecs = moment % 1 * 1000
