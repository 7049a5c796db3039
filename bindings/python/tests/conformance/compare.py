"""Compares what came out with what a vector expects."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, cast


def differences(expected: Any, actual: Any, place: str = "") -> Iterator[str]:
    """The places where the two differ. A missing key and a null are the same."""
    match expected, actual:
        case {"$any": _}, _:
            same = actual is not None
        case {"$one_of": choices}, _:
            same = any(not list(differences(choice, actual)) for choice in choices)
        case {"$like": pattern}, _:
            same = isinstance(actual, str) and is_like(pattern, actual)
        case {"$decimal": digits}, {"$decimal": others}:
            same = Decimal(digits) == Decimal(others)
        case dict(), dict():
            yield from _in_objects(cast("dict[str, Any]", expected), cast("dict[str, Any]", actual), place)
            return
        case list(), list() if len(cast("Sequence[Any]", expected)) == len(cast("Sequence[Any]", actual)):
            for at in range(len(cast("Sequence[Any]", expected))):
                yield from differences(expected[at], actual[at], f"{place}[{at}]")
            return
        case _:
            # True is no 1 here.
            same = type(expected) is type(actual) and expected == actual
    if not same:
        yield f"{place}: expected {expected!r:.600}, came {actual!r:.600}"


def _in_objects(expected: dict[str, Any], actual: dict[str, Any], place: str) -> Iterator[str]:
    for key in sorted({*expected, *actual}):
        yield from differences(expected.get(key), actual.get(key), f"{place}.{key}")


def is_like(pattern: str, text: str) -> bool:
    """A star stands for any text."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), text, re.DOTALL) is not None
