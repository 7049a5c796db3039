"""Conversion between the values of this package and of the generated module.

A class says what it mirrors where it is defined; nothing here knows any of them.
"""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
Conversion = Callable[[Any], Any]

_LIFT: dict[type, Conversion] = {list: lambda items: tuple(map(lift, items))}
_LOWER: dict[type, Conversion] = {tuple: lambda items: list(map(lower, items))}


def lift(value: object) -> Any:
    """A value of the generated module as one of this package; a plain value as it is."""
    convert = _LIFT.get(type(value))
    return value if convert is None else convert(value)


def lower(value: object) -> Any:
    """A value of this package as one of the generated module; a plain value as it is."""
    convert = _LOWER.get(type(value))
    return value if convert is None else convert(value)


def lifts(native: type, convert: Conversion) -> None:
    """Says how values of a generated class come in."""
    _LIFT[native] = convert


def lowers(own: type, convert: Conversion) -> None:
    """Says how values of a class of this package go out."""
    _LOWER[own] = convert


def mirrors(native: Any) -> Callable[[type[T]], type[T]]:
    """A dataclass that has the same fields as a generated class."""

    def register(own: type[T]) -> type[T]:
        names = [field.name for field in dataclasses.fields(own)]  # type: ignore[arg-type]
        mirror_fields(native, own, names)
        return own

    return register


def mirror_fields(native: Any, own: Any, names: list[str]) -> None:
    """Two classes that are made from, and have, attributes of the same names."""
    lifts(native, lambda value: own(**{name: lift(getattr(value, name)) for name in names}))
    lowers(own, lambda value: native(**{name: lower(getattr(value, name)) for name in names}))


def mirrors_enum(native: Any) -> Callable[[type[T]], type[T]]:
    """An enum that has the same names as a generated one."""

    def register(own: type[T]) -> type[T]:
        if not issubclass(own, enum.Enum):
            raise TypeError(f"{own.__name__} is not an enum")
        lifts(native, lambda value: own[value.name])
        lowers(own, lambda value: native[value.name])
        return own

    return register
