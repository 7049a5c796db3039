"""A timer of an event loop: looks for log events while calls wait there, if the program listens to them.

One for each loop, for any number of waiting calls. It stops by itself when the last of them is over.
"""

from __future__ import annotations

import weakref
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context
from types import TracebackType
from typing import Any

from . import _logs

_PAUSE = 1 / _logs.LOOKS_A_SECOND


class _Timer:
    """The timer of one loop."""

    def __init__(self, loop: Any) -> None:
        self._loop = weakref.ref(loop)
        # In the order in which they began.
        self.waiting: dict[_logs.CallLog, None] = {}
        self._is_set = False

    def begin(self, log: _logs.CallLog) -> None:
        self.waiting[log] = None
        if not self._is_set:
            self._set()

    def end(self, log: _logs.CallLog) -> None:
        self.waiting.pop(log, None)

    def _set(self) -> None:
        loop: Any = self._loop()
        if loop is not None:
            # An empty context: each call has its own.
            loop.call_later(_PAUSE, self._look, context=Context())
            self._is_set = True

    def _look(self) -> None:
        self._is_set = False
        if not self.waiting:
            return
        try:
            _logs.look(tuple(self.waiting))
        finally:
            if self.waiting and _logs.is_listened_to():
                self._set()


class _Call:
    """One call that waits in the loop."""

    __slots__ = ("_log", "_timer")

    def __init__(self, timer: _Timer, log: _logs.CallLog) -> None:
        self._timer = timer
        self._log = log

    def __enter__(self) -> None:
        self._timer.begin(self._log)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.end(self._log)


timers: weakref.WeakKeyDictionary[Any, _Timer] = weakref.WeakKeyDictionary()
_NO_LOOKS: AbstractContextManager[None] = nullcontext()


def looks(loop: Any, log: _logs.CallLog | None) -> AbstractContextManager[None]:
    """For as long as a call waits in this loop: looks for its events, where somebody listens."""
    if log is None:
        return _NO_LOOKS
    timer = timers.get(loop)
    if timer is None:
        timer = timers[loop] = _Timer(loop)
    return _Call(timer, log)
