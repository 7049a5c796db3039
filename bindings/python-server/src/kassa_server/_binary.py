"""Finds the program."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from .errors import StartError

VARIABLE = "KASSA_SERVER_BINARY"
"""Names another program than the one that came with this package, for work on the server itself."""


def find() -> Path:
    """The program of this package, or the one that KASSA_SERVER_BINARY names."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    try:
        files = distribution("kassa-server").files or []
    except PackageNotFoundError:
        files = []
    for file in files:
        if file.name in ("kassa-server", "kassa-server.exe"):
            return Path(str(file.locate())).resolve()
    raise StartError(f"the program kassa-server is not installed with this package; {VARIABLE} can name one")
