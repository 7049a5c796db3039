"""The generated module, typed as what it is to a type checker: anything.

Importing it loads the native library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

native: Any = import_module("kassa._native.kassa")


def replace(owner: Any, name: str, by: object) -> None:
    """Puts something else in the place of a helper of the generated module. One that is not there is an error: the generated
    code would go on calling its own, by another name."""
    getattr(owner, name)
    setattr(owner, name, by)
