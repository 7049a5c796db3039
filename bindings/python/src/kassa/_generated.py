"""The generated module, typed as what it is to a type checker: anything.

Importing it loads the native library.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

native: Any = import_module("kassa._native.kassa")
