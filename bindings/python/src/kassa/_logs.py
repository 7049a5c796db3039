"""Hands the core's events to Python's ``logging``, as records of the logger ``kassa``.

The core keeps the events that somebody listens to. Whoever waits for a call hands them on: while it waits, and when the call is
over. So no handler runs on the core's threads: one that is slow, or waits for a lock whose holder waits for Kassa, holds up
nobody but its own thread, and nothing can go wrong while the interpreter is taken down or the process forks.

Without ``logging`` in the program nobody can listen, and nothing here imports it: that would be a tenth of the time that
Kassa's own import takes. What is of that module's is in `_log_records`.

The core cannot wake Python for an event. So that lines come while calls wait, one of the threads (`_wait`) and event loops
(`_log_timer`) that wait looks for them, `LOOKS_A_SECOND` times a second; but only where somebody listens.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections import deque
from typing import Any

from ._generated import native

LOOKS_A_SECOND = 10


class _Kept:
    """What the threads share: the level from which the core keeps events at present, and when to look for them next."""

    least: Any = None
    due = 0.0


# The threads that hand on at present, and those with a handler that calls Kassa: where it does so for each line, it would bring
# a line by each call, and go round as often as is looked. By their identities: a thread-local does not tell greenlets apart
# where gevent patches the program after this is imported.
_handing_on: set[int] = set()
_have_handler_that_calls: set[int] = set()

# Taken from the core and not handed on yet: where a handler is stopped by Ctrl-C, the others are not lost. Without a lock,
# which a handler could hold up, or a fork keep for ever.
taken: deque[Any] = deque()
if hasattr(os, "register_at_fork"):
    # They are the parent's to hand on.
    os.register_at_fork(after_in_child=taken.clear)


def follow() -> None:
    """Tells the core what is listened to, where that has changed. Called before each call."""
    here = threading.get_ident()
    if here not in _handing_on:
        _have_handler_that_calls.discard(here)
    least = _least()
    if least is not _Kept.least:
        _Kept.least = least
        native.keep_log_events(least)


def is_listened_to() -> bool:
    """Whether looking for events can bring any."""
    return _Kept.least is not None


def look() -> None:
    """Hands on what has happened so far, while a call waits. Of many that wait, one looks at a time."""
    if _Kept.least is None or threading.get_ident() in _handing_on | _have_handler_that_calls:
        return
    now = time.monotonic()
    if now >= _Kept.due:
        _Kept.due = now + 1 / LOOKS_A_SECOND
        _hand_on_all()


def hand_on() -> None:
    """Hands on what has happened so far, after a call."""
    here = threading.get_ident()
    if here in _handing_on:
        # A handler has called Kassa: what that brings is handed on after the next call.
        _have_handler_that_calls.add(here)
    elif _Kept.least is not None:
        _hand_on_all()


def _hand_on_all() -> None:
    here = threading.get_ident()
    _handing_on.add(here)
    try:
        taken.extend(native.take_log_events())
        # No more than there are now: what calls of other threads bring meanwhile is not this one's to wait for.
        for _ in range(len(taken)):
            _hand_on_next()
    finally:
        _handing_on.discard(here)


def _hand_on_next() -> None:
    try:
        kept = taken.popleft()
    except IndexError:
        # Another thread was faster.
        return
    _hand_on(kept)


def _least() -> Any:
    """The lowest level that is listened to, if any is."""
    if "logging" not in sys.modules:
        return None
    from . import _log_records  # its import is what is saved

    return _log_records.least()


def _hand_on(kept: Any) -> None:
    from . import _log_records  # its import is what is saved

    _log_records.hand_on(kept)
