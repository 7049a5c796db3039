"""Everything that Python can print of a value, and the search in it for what must not be there."""

from __future__ import annotations

import contextlib
import dataclasses
import pickle
import pprint
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, cast

import kassa


def forms(value: Any) -> str:
    return "\n".join(_forms(value))


def _forms(value: Any) -> Iterator[str]:
    yield from (str(value), repr(value), f"{value}", f"{value!r:>9}", f"{value!a}", pprint.pformat(value))
    yield repr(getattr(value, "__dict__", None))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        yield repr(dataclasses.asdict(value))
        yield repr(dataclasses.astuple(value))
    yield from _pickles(value)
    if isinstance(value, list | tuple):
        yield from map(forms, cast("Iterable[Any]", value))
    if isinstance(value, BaseException):
        yield "".join(traceback.format_exception(type(value), value, value.__traceback__))
        yield repr((value.args, value.__cause__, value.__context__))


def _pickles(value: Any) -> Iterator[str]:
    for protocol in (0, pickle.HIGHEST_PROTOCOL):
        # What holds a secret, or a connection, refuses.
        with contextlib.suppress(TypeError):
            yield pickle.dumps(value, protocol).decode("latin-1")


def problems(spec: Any, printed: str) -> Iterator[str]:
    """What a vector forbids or wants to see in what was printed."""
    for text in leaks(spec.get("forbidden", []), printed):
        yield f"{text} is printed: {printed}"
    for text in spec.get("shows", []):
        if text not in printed:
            yield f"{text} is not in: {printed}"


def leaks(forbidden: list[str], printed: str) -> list[str]:
    # Python quotes with one mark what JSON quotes with two.
    either = printed + printed.replace("'", '"')
    return [text for text in forbidden if text in either]


def assert_no_cause(error: kassa.PaymentError) -> None:
    """A cause would be generated code, with the request in its frames."""
    assert error.__cause__ is None
    assert error.__suppress_context__
