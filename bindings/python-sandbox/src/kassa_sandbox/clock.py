"""The sandbox's clock."""

from __future__ import annotations

from datetime import timedelta

from ._admin import Admin
from .faults import whole
from .values import ClockValues, clock_values

MILLISECOND = timedelta(milliseconds=1)


class Clock:
    """The gateway's clock, and when pending payments become final. ``reset`` resets it."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin

    def read(self) -> ClockValues:
        """The time, and when pending payments become final."""
        return clock_values(self._admin.request("GET", "clock"))

    def forward(self, by: timedelta) -> ClockValues:
        """Moves the clock forward, by whole milliseconds. Everything due by then happens at once: callbacks are retried,
        pending payments become final, cards expire.
        """
        return clock_values(self._admin.request("POST", "clock/forward", {"ms": whole("by", by, MILLISECOND)}))

    def resolve_pending(self, *, after_queries: int | None = None, after: timedelta | None = None) -> ClockValues:
        """Lets pending payments become final automatically, including those that are already pending; without arguments, never.

        * ``after_queries``: after this many status queries, each of which still returns ``PENDING``
        * ``after``: after this time by the sandbox's clock, in whole milliseconds
        """
        wanted = {"resolve_after_queries": after_queries, "resolve_after_ms": whole("after", after, MILLISECOND)}
        return clock_values(self._admin.request("PATCH", "clock", wanted))
