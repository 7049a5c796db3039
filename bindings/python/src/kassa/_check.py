"""Checks of types only: what a value must be is the core's to say, and it says all of it at once.

The messages name the field and the type that was given, never the value: it may be a secret.
"""

from __future__ import annotations

import datetime
import math
import os
from decimal import Decimal
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

_I64 = range(-(2**63), 2**63)
_I32 = range(-(2**31), 2**31)
_U32 = range(2**32)


def text(name: str, value: Any) -> str:
    """A str that can be sent."""
    if not isinstance(value, str):
        raise _wrong(name, "a str", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            # Without its cause, which holds the value.
            raise ValueError(f"{name} has half a surrogate pair in it, which is no text") from None
    return value


def optional_text(name: str, value: Any) -> str | None:
    """A str that can be sent, or None."""
    return None if value is None else text(name, value)


def path(name: str, value: Any) -> str:
    """The path of a file or folder, as text."""
    if not isinstance(value, str | os.PathLike):
        raise _wrong(name, "a str or an os.PathLike", value)
    # One that gives bytes is refused as bytes are.
    return text(name, os.fspath(value))  # pyright: ignore[reportUnknownArgumentType]


def amount(name: str, value: Any) -> Decimal:
    """An exact amount."""
    if isinstance(value, float):
        raise TypeError(f"{name} must be a decimal.Decimal or an int, not a float: a float is not exact")
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise _wrong(name, "a decimal.Decimal or an int", value)
    return Decimal(value) if isinstance(value, int) else value


def optional_amount(name: str, value: Any) -> Decimal | None:
    """An exact amount, or None."""
    return None if value is None else amount(name, value)


def whole(name: str, value: Any, fits: range = _I64) -> int:
    """A whole number."""
    if isinstance(value, float):
        raise TypeError(f"{name} must be an int, not a float: a float is not exact")
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, "an int", value)
    if value not in fits:
        raise ValueError(f"{name} must be between {fits.start} and {fits.stop - 1}")
    return value


def year(name: str, value: Any) -> int:
    """A whole number as small as years are."""
    return whole(name, value, _I32)


def count(name: str, value: Any) -> int:
    """A whole number from zero."""
    return whole(name, value, _U32)


def duration(name: str, value: Any) -> datetime.timedelta:
    """A time that can be waited, also by its seconds."""
    time: datetime.timedelta = value if isinstance(value, datetime.timedelta) else _from_seconds(name, value)
    if time < datetime.timedelta():
        raise ValueError(f"{name} must not be negative")
    return time


def optional_duration(name: str, value: Any) -> datetime.timedelta | None:
    """A time that can be waited, or None."""
    return None if value is None else duration(name, value)


def moment(name: str, value: Any) -> datetime.datetime:
    """A moment, whatever the clock at the wall shows."""
    time = instance(name, value, datetime.datetime)
    if time.tzinfo is None:
        raise ValueError(f"{name} must have a time zone")
    return time


def _from_seconds(name: str, value: Any) -> datetime.timedelta:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(name, "a datetime.timedelta or a number of seconds", value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number of seconds")
    if value < 0:
        # Here, because the smallest ones round to zero.
        raise ValueError(f"{name} must not be negative")
    try:
        return datetime.timedelta(seconds=value)
    except OverflowError:
        raise ValueError(f"{name} must be at most {datetime.timedelta.max.days} days") from None


def instance(name: str, value: Any, kind: type[T]) -> T:
    """A value of a class."""
    if not isinstance(value, kind):
        raise _wrong(name, f"a {kind.__module__}.{kind.__name__}", value)
    return value


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise _wrong(name, "a bool", value)
    return value


def verdict(verdict: Any, kind: str, report_says_so: bool = True) -> None:
    """A verdict has its own kind, and its report agrees. What was stored as JSON is read back as itself or not at all."""
    if verdict.kind != kind:
        raise ValueError(f"the kind of {type(verdict).__name__} is {kind}")
    if not report_says_so:
        raise ValueError(f"the report of {type(verdict).__name__} has another status")


def no_truth(value: object, instead: str) -> NoReturn:
    """Refuses ``if value``. An object is true whatever it says, so such a program would ship what was never paid."""
    raise TypeError(f"{type(value).__name__} is not a yes or no: ask {instead}")


def _wrong(name: str, wanted: str, value: Any) -> TypeError:
    return TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
