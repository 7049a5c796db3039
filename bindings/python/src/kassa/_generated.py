"""The generated module, typed as what it is to a type checker: anything.

Importing it loads the native library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    native: Any
else:
    # Written out, so that programs that pack others up (PyInstaller) see it.
    from ._native import kassa as native  # noqa: F401


def replace(owner: Any, name: str, by: object) -> None:
    """Monkey patch: puts something else in the place of a helper of the generated module. One that is not there is an error:
    the generated code would go on calling its own, by another name.

    UniFFI has no setting for its helpers, and no upstream issue asks for one. This goes with the last of its callers, each of
    which says when it can go."""
    getattr(owner, name)
    setattr(owner, name, by)
