"""The dialect of the sandbox's responses, for a client of the SDK."""

from __future__ import annotations

from pathlib import Path

from .._names import DialectName


def dialect_json(name: DialectName = "interface") -> str:
    """The dialect, in JSON, with which the SDK reads this sandbox: ``kassa.Dialect.from_json(dialect_json())``."""
    return dialect_file(name).read_text(encoding="utf-8")


def dialect_file(name: DialectName = "interface") -> Path:
    """The dialect's file."""
    return Path(__file__).with_name(f"{name}.json")
