"""The generated module, typed as what it is to a type checker: anything.

Importing it loads the native library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

native: Any = import_module("kassa._native.kassa")


def replace(owner: Any, name: str, by: object) -> None:
    """Monkey patch: puts something else in the place of a helper of the generated module. One that is not there is an error:
    the generated code would go on calling its own, by another name.

    UniFFI has no setting for its helpers, and no upstream issue asks for one. This goes with the last of its callers, each of
    which says when it can go."""
    getattr(owner, name)
    setattr(owner, name, by)
