"""Fork safety: objects of the core that belong to the parent process."""

from __future__ import annotations

from typing import Any

# Never touched again, not even to free them: their locks may be held by threads that no longer exist.
_LEFT_BEHIND: list[Any] = []


def leave_behind(core: Any) -> None:
    """Keeps an object of another process from being used or freed in this one."""
    _LEFT_BEHIND.append(core)
    # Otherwise its destructor would touch it when the interpreter ends.
    core._handle = None
