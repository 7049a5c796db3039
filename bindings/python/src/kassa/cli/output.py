"""What the command line prints: lines for people, or JSON for machines."""

from __future__ import annotations

import dataclasses
import json
import os
import sys
import traceback
from datetime import date, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, TypeAlias, cast
from unicodedata import category

import kassa

UNSEEN = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Control and format characters, line and paragraph separators, and surrogates (undecodable bytes)."""

Answer: TypeAlias = kassa.StatusReport | kassa.Verdict
"""The gateway's report, or the verdict."""

Items: TypeAlias = dict[str, Any] | tuple[Any, ...]


class WrongUse(Exception):
    """The command line or the environment is wrong."""


def line(text: str) -> None:
    """One line of output, and only one line, whatever it contains."""
    block(visible(text))


def block(text: str) -> None:
    """Kassa's own text, unchanged."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def visible(text: str) -> str:
    """Escapes characters that would move the cursor, begin a new line or change the writing direction."""
    return "".join(repr(sign)[1:-1] if category(sign) in UNSEEN else sign for sign in text)


def complaint(text: str) -> None:
    """One line about an error."""
    sys.stderr.write(f"kassa: {visible(text)}\n")


def trace(defect: Exception) -> None:
    """The location of a defect, without values."""
    for text in "".join(traceback.format_tb(defect.__traceback__)).splitlines():
        sys.stderr.write(f"{visible(text)}\n")


def let_output_go() -> None:
    """Keeps Python from reporting at exit that output could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:  # noqa: PERF203 - there are two
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def json_line(**values: object) -> None:
    """The result as one line of JSON."""
    block(json.dumps(plain(values), ensure_ascii=False))


def plain(value: Any) -> Any:
    """A value as JSON. Amounts are strings, so that no reader converts them to floats."""
    match value:
        case None | bool() | int() | str():
            return value
        case kassa.PaymentRef() | kassa.Provider() | Decimal():
            return str(value)
        case Enum():
            return value.value
        case date():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case dict() | tuple():
            return _plain_items(cast("Items", value))
        case kassa.PaymentError():
            fields = {name: plain(item) for name, item in vars(value).items() if not name.startswith("__")}
            return {"error": type(value).__name__, "text": str(value), **fields}
        case _:
            return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}


def _plain_items(items: Items) -> Any:
    if isinstance(items, dict):
        return {key: plain(item) for key, item in items.items()}
    return tuple(plain(item) for item in items)


def describe(answer: Answer) -> str:
    """A report or a verdict in one line."""
    match answer:
        case kassa.StatusReport():
            return _describe_report(answer)
        case kassa.Charged(report=report) | kassa.Rejected(report=report):
            return _describe_report(report)
        case kassa.Pending(report=report):
            return f"still pending: {_describe_report(report)}"
        case kassa.Mismatch(_, fields, report):
            told = "" if report is None else f"; the gateway reports: {_describe_report(report)}"
            return f"mismatch in {', '.join(fields)}, do not act on it{told}"
        case kassa.Unverifiable(_, why):
            return f"unverifiable: {why}"


def _describe_report(report: kassa.StatusReport) -> str:
    amount = f"{report.amount} {report.currency or ''}".strip() if report.amount is not None else ""
    words = ", ".join(word for word in (report.code, report.reason) if word)
    return "  ".join(part for part in (str(report.status), amount, f"({words})" if words else "") if part)


class Progress:
    """A progress bar on the terminal; nothing without a terminal."""

    WIDTH = 30

    def __init__(self, total: int) -> None:
        self._total = total
        self._is_shown = sys.stderr.isatty()

    def show(self, done: int) -> None:
        """Draws it."""
        if self._is_shown:
            filled = self.WIDTH * done // max(self._total, 1)
            bar = "█" * filled + "░" * (self.WIDTH - filled)
            sys.stderr.write(f"\r{bar} {done}/{self._total} ")
            sys.stderr.flush()

    def clear(self) -> None:
        """Clears the bar, so that a line of output can be printed."""
        if self._is_shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
