"""Type checks only: the core validates values, and reports all violations at once.

The messages name the field and the type that was given, never the value: it may be a secret.
"""

from __future__ import annotations

import datetime
import math
import os
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, NoReturn, TypeVar

T = TypeVar("T")

_I64 = range(-(2**63), 2**63)
_I32 = range(-(2**31), 2**31)
_U16 = range(2**16)
_U32 = range(2**32)

_TIME = "a datetime.timedelta or a number of seconds"


def text(name: str, value: Any) -> str:
    """A str that can be sent."""
    if not isinstance(value, str):
        raise wrong(name, "a str", value)
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            # Without its cause, which holds the value.
            raise ValueError(f"{name} has half a surrogate pair in it, which cannot be encoded") from None
    return value


def optional_text(name: str, value: Any) -> str | None:
    """A str that can be sent, or None."""
    if value is not None and not isinstance(value, str):
        raise wrong(name, "a str or None", value)
    return None if value is None else text(name, value)


def texts(name: str, value: Any) -> tuple[str, ...]:
    """Several str that can be sent, from any iterable."""
    return tuple(text(f"each of {name}", item) for item in _several(name, "str", value))


def path(name: str, value: Any, wanted: str = "a str or an os.PathLike") -> str:
    """The path of a file or folder, as text."""
    if not isinstance(value, str | os.PathLike):
        raise wrong(name, wanted, value)
    # A path of bytes is refused, as bytes are.
    return text(name, os.fspath(value))  # pyright: ignore[reportUnknownArgumentType]


def amount(name: str, value: Any, wanted: str = "a decimal.Decimal or an int") -> Decimal:
    """An exact amount."""
    if isinstance(value, float):
        raise TypeError(f"{name} must be {wanted}, not a float: a float is not exact")
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise wrong(name, wanted, value)
    return Decimal(value) if isinstance(value, int) else value


def optional_amount(name: str, value: Any) -> Decimal | None:
    """An exact amount, or None."""
    return None if value is None else amount(name, value, "a decimal.Decimal, an int or None")


def whole_som(name: str, value: Any) -> int:
    """An amount in whole som, which a Decimal can be as well: shops keep their prices in one."""
    som = amount(name, value)
    if not som.is_finite():
        raise ValueError(f"{name} must be a finite number")
    # Before it is an int: 1E+1000000000 would fill the memory.
    _fits_i64(name, som, " som")
    if som != som.to_integral_value():
        raise ValueError(f"{name} must be whole som, without tyiyn")
    return int(som)


def whole_tyiyn(name: str, value: Any) -> int:
    """An amount in whole tyiyn, an int alone: a Decimal is most likely an amount in som."""
    if isinstance(value, Decimal):
        raise TypeError(f"{name} must be an int, not Decimal: kassa.som_to_tyiyn converts an amount in som")
    tyiyn = _int(name, value)
    _fits_i64(name, tyiyn, " tyiyn")
    return tyiyn


def optional_whole_tyiyn(name: str, value: Any) -> int | None:
    """An amount in whole tyiyn, or None."""
    return None if value is None else whole_tyiyn(name, value)


def _fits_i64(name: str, value: Decimal | int, unit: str) -> None:
    """An amount that fits the core's type. The core itself reports amounts that are too small."""
    if value > _I64[-1]:
        raise ValueError(f"{name} must be at most {_I64[-1]}{unit}")
    if value < _I64[0]:
        raise ValueError(f"{name} must not be negative")


def whole(name: str, value: Any, fits: range, wanted: str = "an int") -> int:
    """A whole number."""
    number = _int(name, value, wanted)
    if number not in fits:
        raise ValueError(f"{name} must be between {fits.start} and {fits.stop - 1}")
    return number


def _int(name: str, value: Any, wanted: str = "an int") -> int:
    if isinstance(value, float):
        raise TypeError(f"{name} must be {wanted}, not a float: a float is not exact")
    if isinstance(value, bool) or not isinstance(value, int):
        raise wrong(name, wanted, value)
    return value


def year(name: str, value: Any) -> int:
    """A whole number as small as years are."""
    return whole(name, value, _I32)


def count(name: str, value: Any) -> int:
    """A whole number from zero."""
    return whole(name, value, _U32)


def http_status(value: Any) -> int:
    """The HTTP status of a response, any number that the gateway sent."""
    return whole("http_status", value, _U16)


def optional_http_status(value: Any) -> int | None:
    """The status of a response, or None."""
    return None if value is None else whole("http_status", value, _U16, "an int or None")


def duration(name: str, value: Any) -> datetime.timedelta:
    """A time from zero, also by its seconds."""
    time = _time(name, value)
    if time < datetime.timedelta():
        raise ValueError(f"{name} must not be negative")
    return time


def optional_duration(name: str, value: Any) -> datetime.timedelta | None:
    """A time from zero, or None."""
    if value is None:
        return None
    _time(name, value, "a datetime.timedelta, a number of seconds or None")
    return duration(name, value)


def positive_duration(name: str, value: Any) -> datetime.timedelta:
    """A time in which something can be done: a timeout, a deadline, an interval."""
    time = _time(name, value)
    if time <= datetime.timedelta():
        raise ValueError(f"{name} must be longer than zero")
    return time


def moment(name: str, value: Any) -> datetime.datetime:
    """A moment, with a time zone."""
    time = instance(name, value, datetime.datetime)
    if time.tzinfo is None:
        raise ValueError(f"{name} must have a time zone")
    return time


def _time(name: str, value: Any, wanted: str = _TIME) -> datetime.timedelta:
    if isinstance(value, datetime.timedelta):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise wrong(name, wanted, value)
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number of seconds")
    if value < 0:
        # The smallest ones would round to zero, and the largest ones do not fit a timedelta.
        return datetime.timedelta(microseconds=-1)
    try:
        return datetime.timedelta(seconds=value)
    except OverflowError:
        raise ValueError(f"{name} must be at most {datetime.timedelta.max.days} days") from None


def instance(name: str, value: Any, kind: type[T]) -> T:
    """A value of a class."""
    if not isinstance(value, kind):
        raise wrong(name, _a(kind), value)
    return value


def optional_instance(name: str, value: Any, kind: type[T]) -> T | None:
    """A value of a class, or None."""
    if value is not None and not isinstance(value, kind):
        raise wrong(name, f"{_a(kind)} or None", value)
    return None if value is None else instance(name, value, kind)


def instances(name: str, value: Any, kind: type[T]) -> tuple[T, ...]:
    """Values of a class, from any iterable."""
    listed = _several(name, f"{kind.__module__}.{kind.__name__}", value)
    return tuple(instance(f"each of {name}", item, kind) for item in listed)


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise wrong(name, "a bool", value)
    return value


def verdict(verdict: Any, kind: str, report_says_so: bool = True) -> None:
    """A verdict has its own kind, and its report agrees. What was stored as JSON is read back as itself or not at all."""
    if verdict.kind != kind:
        raise ValueError(f"the kind of {type(verdict).__name__} is {kind}")
    if not report_says_so:
        raise ValueError(f"the report of {type(verdict).__name__} has another status")


def _several(name: str, of: str, value: Any) -> Iterable[Any]:
    """Python iterates a str by its characters; here a single str is a mistake."""
    items: Any = value
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise wrong(name, f"several {of}, such as a tuple of them", items)
    listed: Iterable[Any] = items
    return listed


def _a(kind: type) -> str:
    return f"a {kind.__module__}.{kind.__name__}"


def no_truth(value: object, instead: str) -> NoReturn:
    """Refuses ``if value``. Every object is true by default, so such a program would ship unpaid goods."""
    raise TypeError(f"{type(value).__name__} has no truth value: use {instead}")


def wrong(name: str, wanted: str, value: Any) -> TypeError:
    """The error for a value of another type than is wanted."""
    return TypeError(f"{name} must be {wanted}, not {type(value).__name__}")
