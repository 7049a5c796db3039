"""Maps the core's types to the package's classes: the generated functions (`_native/kassa.py`) read values straight into these.

A class is registered where it is defined (`record`, `variant`, `flat_enum`, `read_as`, `write_as`); a record without a class
gets a plain one. The generated functions look a class up at its first value.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from functools import partial
from types import MemberDescriptorType
from typing import Any, NoReturn, TypeAlias, TypeVar

from ._dataclass import defaults_of, values_of
from ._native import kassa as _kassa

T = TypeVar("T")
Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""Reads the value at an offset; returns it and the offset of its end."""
Writer: TypeAlias = Callable[[Any, bytearray], None]

# Any, so that a type checker does not rely on the current content of the tables.
tables: Any = _kassa
RECORDS: dict[str, tuple[str, ...]] = tables.RECORDS
ENUMS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = tables.ENUMS

# By the name of a record, of a variant ("Verdict.Charged") or of an object ("@Card"): its class, or what makes the value.
_made_by: dict[str, Callable[..., Any]] = {}
# By the name of a record, an enum or an object: a function to its fields, to its variant with fields, or to the core's object.
_parts_of: dict[str, Callable[[Any], Any]] = {}
# By the name of an enum: its variants by their classes.
_variants: dict[str, dict[type, str]] = {}
_classes: dict[str, Any] = {}
_writers: dict[str, Writer] = {}
_readers: dict[str, Reader] = {}


def record(name: str) -> Callable[[type[T]], type[T]]:
    """A class that has the fields of a record."""

    def register(own: type[T]) -> type[T]:
        _classes[name] = _made_by[name] = own
        return own

    return register


def variant(name: str) -> Callable[[type[T]], type[T]]:
    """A class that has the fields of one variant of an enum."""
    of, _, its_name = name.partition(".")

    def register(own: type[T]) -> type[T]:
        _variants.setdefault(of, {})[own] = its_name
        _made_by[name] = own
        return own

    return register


def flat_enum(name: str) -> Callable[[type[T]], type[T]]:
    """An enum that has the same members, in whatever order."""

    def register(own: type[T]) -> type[T]:
        _classes[name] = own
        return own

    return register


def read_as(name: str, make: Callable[..., Any]) -> None:
    """Registers the function that makes a value: from the fields of a record or a variant, or from the core's object."""
    _made_by[name] = make


def itself(value: T) -> T:
    """Makes the value of a variant that is nothing but its one field."""
    return value


def write_as(name: str, parts: Callable[[Any], Any]) -> None:
    """Registers the function that gives the fields of a record, a variant's name with its fields, or the core's object."""
    _parts_of[name] = parts


def write_with(name: str, write: Writer) -> Writer:
    """Registers the writer of an argument that is not written by its fields alone; returns the writer of its fields."""
    generated = writer(name)
    _writers[name] = write
    return generated


def class_of(name: str) -> Any:
    """The class of a record or a flat enum; a plain one, unless this package has its own."""
    if name not in _classes:
        _import(name)
    known = _classes.get(name)
    if known is None:
        if name in RECORDS:
            known = _plain(name, RECORDS[name])
        else:
            make: Any = enum.Enum
            known = make(name, [member_name(each) for each, _ in ENUMS[name]])
        _classes[name] = known
    return known


def _import(name: str) -> None:
    """Imports the module that registers a class: an answer or an error may come before anybody used its class."""
    getattr(sys.modules[__package__ or ""], name, None)


def _plain(name: str, names: tuple[str, ...]) -> type:
    def init(self: Any, *values: Any, **named: Any) -> None:
        for field, value in (*zip(names, values, strict=False), *named.items()):
            setattr(self, field, value)

    def no_pickle(_self: Any, _protocol: object) -> NoReturn:
        raise TypeError(f"a {name} may hold a secret and cannot be pickled")

    return type(name, (), {"__slots__": names, "__init__": init, "__reduce_ex__": no_pickle})


def member_name(name: str) -> str:
    """The name of an enum's member in Python: ``M_BANK`` for ``MBank``."""
    return "".join(f"_{c}" if c.isupper() and at else c for at, c in enumerate(name)).upper()


def reader(kind: str) -> Reader:
    """The reader of a type."""
    read = _readers.get(kind)
    if read is None:
        read = _readers[kind] = _found_reader(kind)
    return read


def _found_reader(kind: str) -> Reader:
    """The generated one. Of types that only calls are answered with, the generator does not know that they are optional."""
    read: Reader | None = getattr(tables, f"read_{_suffix(kind)}", None)
    if read is not None:
        return read
    if kind[0] != "?":
        raise LookupError(kind)
    some = reader(kind[1:])
    return lambda b, i: some(b, i + 1) if b[i] else (None, i + 1)


def writer(kind: str) -> Writer:
    """The writer of a type."""
    if kind not in _writers:
        _writers[kind] = getattr(tables, f"write_{_suffix(kind)}")
    return _writers[kind]


def _suffix(kind: str) -> str:
    return kind.replace("?", "optional_").replace("[", "list_").replace("{", "map_").replace("@", "object_")


def read_whole(kind: str, content: bytes) -> Any:
    """The value that these bytes are."""
    value, end = reader(kind)(content, 0)
    if end != len(content):
        raise ValueError("a value of the core is longer than its type")
    return value


# The generated functions look these up.


class _Found(dict[str, Any]):
    """Values by name, each looked up once."""

    def __init__(self, find: Callable[[str], Any]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, name: str) -> Any:
        found = self[name] = self._find(name)
        return found


def _no_class(name: str) -> Any:
    raise LookupError(name)


object_class: Callable[[str], Any] = _no_class
"""The core's own class of an object (`_core.Object`)."""


def _maker(name: str) -> Callable[..., Any]:
    """The function that makes a value from its fields, or an object from its handle."""
    of, _, its_variant = name.partition(".")
    if name[0] == "@":
        from_handle: Callable[[int], Any] = object_class(name[1:]).of
        own = _made_by.get(name)
        if own is None:
            return from_handle
        made_by: Callable[..., Any] = own

        def of_handle(handle: int) -> Any:
            return made_by(from_handle(handle))

        return of_handle
    if name not in _made_by:
        _import(of)
    if its_variant:
        return _filled(_made_by[name], dict(ENUMS[of])[its_variant])
    return _filled(_made_by[name], RECORDS[name]) if name in _made_by else class_of(name)


def _filled(own: Callable[..., Any], names: tuple[str, ...]) -> Callable[..., Any]:
    """A function that fills in the slots of a class, because the core has checked the values; another class is called."""
    if not isinstance(own, type):
        return own
    kind: Any = own
    defaults = defaults_of(kind)
    slots: dict[str, Any] = {name: getattr(kind, name, None) for name in defaults}
    if not defaults or not all(isinstance(slot, MemberDescriptorType) for slot in slots.values()):

        def call(*values: Any) -> Any:
            return kind(**dict(zip(names, values, strict=True)))

        return call
    fill: Callable[..., Callable[..., Any]] = getattr(tables, f"fill_{len(names)}")
    return fill(_blank(kind, slots, defaults, names), *[slots[name].__set__ for name in names])


def _blank(kind: Any, slots: dict[str, Any], defaults: dict[str, Any], names: tuple[str, ...]) -> Callable[[], Any]:
    """A function that makes a value with the fields that the core does not have, such as the kind of a verdict."""
    others = [(slots[name].__set__, default) for name, default in defaults.items() if name not in names]
    new: Callable[[Any], Any] = object.__new__
    if not others:
        return partial(new, kind)

    def blank() -> Any:
        made = new(kind)
        for put, default in others:
            put(made, default)
        return made

    return blank


def _parts(name: str) -> Callable[[Any], Any]:
    """A function that gives the fields of a record, or the number of a variant and its fields."""
    parts = _parts_of.get(name)
    if name in RECORDS:
        return parts or values_of(RECORDS[name])
    return _parts_by_name(ENUMS[name], parts) if parts else _parts_by_class(ENUMS[name], _variants[name])


def _parts_by_name(variants: Any, parts: Callable[[Any], Any]) -> Callable[[Any], tuple[int, Any]]:
    numbers = {name: 1 + at for at, (name, _) in enumerate(variants)}

    def parts_of(value: Any) -> tuple[int, Any]:
        name, *values = parts(value)
        return numbers[name], values

    return parts_of


def _parts_by_class(variants: Any, by_class: dict[type, str]) -> Callable[[Any], tuple[int, Any]]:
    known = {name: (1 + at, values_of(names)) for at, (name, names) in enumerate(variants)}

    def variant_of(kind: type) -> str:
        """Of a user's subclass, too."""
        if kind not in by_class:
            by_class[kind] = next(by_class[each] for each in kind.__mro__ if each in by_class)
        return by_class[kind]

    def parts_of(value: Any) -> tuple[int, Any]:
        number, values = known[variant_of(value.__class__)]
        return number, values(value)

    return parts_of


def _members(name: str) -> dict[int, Any]:
    """An enum's members by their numbers."""
    own = class_of(name)
    return {1 + at: own[member_name(each)] for at, (each, _) in enumerate(ENUMS[name])}


def made_of(kind: str) -> Callable[[int], Any]:
    """The function that makes an object from its handle."""
    make: Callable[[int], Any] = tables.make[kind]
    return make


def core_of(kind: str) -> Callable[[Any], Any]:
    """A function that returns the core's object of a value."""
    # Settings from the core already contain its objects. The class of a value may be imported after the first of those.
    return lambda value: value if hasattr(value, "cloned") else _parts_of[kind](value)


tables.make = _Found(_maker)
tables.parts = _Found(_parts)
tables.members = _Found(_members)
tables.numbers = _Found(lambda name: {member: number for number, member in tables.members[name].items()})
tables.core = _Found(core_of)
