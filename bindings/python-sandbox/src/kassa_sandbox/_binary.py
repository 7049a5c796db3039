"""Finds the program."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .errors import StartError

VARIABLE = "KASSA_SANDBOX_BINARY"
"""Names another program than the one that came with this package, for work on the sandbox itself."""


def find() -> Path:
    """The program that came with this package, wherever it was installed to, or the one that the environment names."""
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
