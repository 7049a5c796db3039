"""A timer of an event loop: looks for log events while calls wait there, and only where somebody listens.

One for each loop, however many calls wait in it. It runs out by itself when the last of them is over.
"""

from __future__ import annotations

import contextvars
import weakref
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any

from . import _logs

_PAUSE = 1 / _logs.LOOKS_A_SECOND


class _Timer:
    """The timer of one loop."""

    def __init__(self, loop: Any) -> None:
        self._loop = weakref.ref(loop)
        self.waiting: dict[_Call, contextvars.Context] = {}
        self._is_set = False

    def begin(self, call: _Call) -> None:
        self.waiting[call] = contextvars.copy_context()
        if not self._is_set:
            self._set()

    def end(self, call: _Call) -> None:
        self.waiting.pop(call, None)

    def _set(self) -> None:
        # An event does not say whose call it is of. Handlers run in the context of the call that waits the longest, which is
        # the right one where there is one.
        context = next(iter(self.waiting.values()))
        loop: Any = self._loop()
        if loop is not None:
            loop.call_later(_PAUSE, self._look, context=context)
            self._is_set = True

    def _look(self) -> None:
        self._is_set = False
        if not self.waiting:
            return
        try:
            _logs.look()
        finally:
            if self.waiting and _logs.is_listened_to():
                self._set()


class _Call:
    """One call that waits in the loop."""

    __slots__ = ("_timer",)

    def __init__(self, timer: _Timer) -> None:
        self._timer = timer

    def __enter__(self) -> None:
        self._timer.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._timer.end(self)


timers: weakref.WeakKeyDictionary[Any, _Timer] = weakref.WeakKeyDictionary()
_NO_LOOKS: AbstractContextManager[None] = nullcontext()


def looks(loop: Any) -> AbstractContextManager[None]:
    """For as long as a call waits in this loop: looks for events, where somebody listens."""
    if not _logs.is_listened_to():
        return _NO_LOOKS
    timer = timers.get(loop)
    if timer is None:
        timer = timers[loop] = _Timer(loop)
    return _Call(timer)
