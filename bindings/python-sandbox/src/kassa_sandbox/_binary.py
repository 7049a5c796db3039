"""Finds the program."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .errors import StartError

VARIABLE = "KASSA_SANDBOX_BINARY"
"""The variable with the path of another program than this package's, for work on the sandbox itself."""


def find() -> Path:
    """The program of this package, wherever it is installed, or the one that the environment names."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    try:
        files = distribution("kassa-sandbox").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("kassa-sandbox", "kassa-sandbox.exe"):
            return Path(str(file.locate())).resolve()
    raise StartError(f"the program kassa-sandbox is not installed with this package; {VARIABLE} can name one")
