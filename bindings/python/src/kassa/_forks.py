"""Fork safety: what to do with objects of the core that belong to a process which was forked away from."""

from __future__ import annotations

from typing import Any

# Never touched again, not even to free them: their locks may be held by threads that exist no more.
_LEFT_BEHIND: list[Any] = []


def leave_behind(core: Any) -> None:
    """Keeps what another process made from being used or freed in this one."""
    _LEFT_BEHIND.append(core)
    # Or its destructor would touch it when the interpreter ends.
    core._handle = None
