"""Values in UniFFI's serialization: read straight into the classes of this package, and written from them.

The generated tables say what a type is made of. A class says what it stands for where it is defined (`record`, `variant`,
`flat_enum`, `read_as`, `write_as`); a record without a class gets a plain one. A type's reader and writer are compiled when
they are first needed, each as one flat function.
"""

from __future__ import annotations

import enum
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from struct import Struct
from types import MemberDescriptorType
from typing import Any, NoReturn, TypeAlias, TypeVar

from ._native import kassa as _kassa

T = TypeVar("T")
Field: TypeAlias = tuple[str, str]
Reader: TypeAlias = Callable[[bytes, int], tuple[Any, int]]
"""Reads a value that begins at a place, and says where it ends."""
Writer: TypeAlias = Callable[[Any, bytearray], None]

# To a type checker it is what it may contain, and not what it happens to.
tables: Any = _kassa
RECORDS: dict[str, tuple[Field, ...]] = tables.RECORDS
ENUMS: dict[str, tuple[tuple[str, tuple[Field, ...]], ...]] = tables.ENUMS

_LENGTH = Struct(">i")
_NUMBERS = {"u8": ">B", "i8": ">b", "u16": ">H", "i16": ">h", "u32": ">I", "i32": ">i", "u64": ">Q", "i64": ">q"}
_TIME = Struct(">qI")
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

# By the name of a record or of a variant ("Verdict.Charged"): what makes the value from its fields.
_made_by: dict[str, Callable[..., Any]] = {}
# By the name of a record or an enum: what gives the fields, or the variant and its fields, of a value.
_parts_of: dict[str, Callable[[Any], Any]] = {}
# By the name of an enum: its variants by their classes.
_variants: dict[str, dict[type, str]] = {}
_classes: dict[str, Any] = {}

_readers: dict[str, Reader] = {}
_writers: dict[str, Writer] = {}


def record(name: str) -> Callable[[type[T]], type[T]]:
    """A class that has the fields of a record."""

    def register(own: type[T]) -> type[T]:
        _classes[name] = own
        _made_by[name] = _maker(own, [field for field, _ in RECORDS[name]])
        return own

    return register


def variant(name: str) -> Callable[[type[T]], type[T]]:
    """A class that has the fields of one variant of an enum."""
    of, _, its_name = name.partition(".")

    def register(own: type[T]) -> type[T]:
        _variants.setdefault(of, {})[own] = its_name
        _made_by[name] = _maker(own, [field for field, _ in dict(ENUMS[of])[its_name]])
        return own

    return register


def flat_enum(name: str) -> Callable[[type[T]], type[T]]:
    """An enum that has the same members, in whatever order."""

    def register(own: type[T]) -> type[T]:
        _classes[name] = own
        return own

    return register


def read_as(name: str, make: Callable[..., Any]) -> None:
    """What a record or a variant is read as, from its fields in their order."""
    _made_by[name] = make


def itself(value: T) -> T:
    """What a variant with one field is read as, where the field is all that there is to it."""
    return value


def write_as(name: str, parts: Callable[[Any], Any]) -> None:
    """How a value is written: the fields of a record in their order, or a variant's name with its fields; of an object, the
    core's."""
    _parts_of[name] = parts


def write_with(name: str, write: Writer) -> Writer:
    """How a record is written where its fields alone do not tell; gives what writes its fields."""
    _writers[name] = write
    return _record_writer(RECORDS[name], None)


def class_of(name: str) -> Any:
    """The class of a record or a flat enum; a plain one, unless this package has its own."""
    if name not in _classes:
        _ask_for(name)
    known = _classes.get(name)
    if known is None:
        if name in RECORDS:
            known = _plain(name, tuple(field for field, _ in RECORDS[name]))
            _made_by[name] = known
        else:
            make: Any = enum.Enum
            known = make(name, [member_name(each) for each, _ in ENUMS[name]])
        _classes[name] = known
    return known


def _ask_for(name: str) -> None:
    """Imports the module in which a class says what it stands for: a function may be asked for whose answer or error nobody has
    asked for."""
    getattr(sys.modules[__package__ or ""], name, None)


def _plain(name: str, names: tuple[str, ...]) -> type:
    def init(self: Any, *values: Any, **named: Any) -> None:
        for field, value in (*zip(names, values, strict=False), *named.items()):
            setattr(self, field, value)

    def no_pickle(_self: Any, _protocol: object) -> NoReturn:
        raise TypeError(f"a {name} may hold a secret and cannot be pickled")

    return type(name, (), {"__slots__": names, "__init__": init, "__reduce_ex__": no_pickle})


def _maker(own: type, names: list[str]) -> Callable[..., Any]:
    """Fills in the slots of a class whose values the core has checked already; any other one is called."""
    given: dict[str, Any] = {}
    call: Callable[..., Any] = own
    classes: tuple[type, ...] = own.__mro__
    if is_dataclass(own):
        given = {field.name: field.default for field in fields(own)}
    slots: dict[str, Any] = {
        name: next((vars(each)[name] for each in classes if name in vars(each)), None) for name in given
    }
    if not given or not all(isinstance(slot, MemberDescriptorType) for slot in slots.values()):
        return lambda *values: call(**dict(zip(names, values, strict=True)))
    known: dict[str, Any] = {"new": object.__new__, "own": own}
    lines = [f"def make({', '.join(f'f_{name}' for name in names)}):", " made = new(own)"]
    for at, (name, slot) in enumerate(slots.items()):
        known |= {f"set{at}": slot.__set__, f"default{at}": given[name]}
        lines.append(f" set{at}(made, {f'f_{name}' if name in names else f'default{at}'})")
    return _compiled([*lines, " return made"], "make", known)


def member_name(name: str) -> str:
    """The name of an enum's member in Python: ``M_BANK`` for ``MBank``."""
    return "".join(f"_{c}" if c.isupper() and at else c for at, c in enumerate(name)).upper()


def _compiled(lines: list[str], name: str, known: dict[str, Any]) -> Callable[..., Any]:
    exec("\n".join(lines), known)  # noqa: S102 (lines are made here, of names in the tables)
    made: Callable[..., Any] = known[name]
    return made


# Objects. They are the core's own (`_core.Object`), or a class of this package that holds one.


def _no_class(name: str) -> Any:
    raise LookupError(name)


object_class: Callable[[str], Any] = _no_class


def made_of(kind: str) -> Callable[[int], Any]:
    """What makes an object from its handle."""
    of: Callable[[int], Any] = object_class(kind[1:]).of
    own = _made_by.get(kind)
    return of if own is None else lambda handle: own(of(handle))


def core_of(kind: str) -> Callable[[Any], Any]:
    """What gives the core's object of a value."""
    parts = _parts_of.get(kind)
    # Settings that came from the core hold its own objects.
    return lambda value: value if parts is None or hasattr(value, "cloned") else parts(value)


# Reading.


def reader(kind: str) -> Reader:
    """The reader of a type."""
    known = _readers.get(kind)
    if known is None:
        known = _readers[kind] = _new_reader(kind)
    return known


def _new_reader(kind: str) -> Reader:
    if kind[0] == "[":
        return _sequence_reader(reader(kind[1:]))
    if kind[0] == "{":
        return _map_reader(reader(kind[1:]))
    if kind in ENUMS:
        return _enum_reader(kind)
    if kind in RECORDS:
        return _fields_reader(RECORDS[kind], _maker_of(kind))
    known: dict[str, Any] = {}
    return _compiled(["def read(b, i):", *_reading(kind, "v", known), " return v, i"], "read", known)


def _maker_of(name: str) -> Callable[..., Any]:
    if name not in _made_by:
        of = name.partition(".")[0]
        class_of(name) if of in RECORDS else _ask_for(of)
    return _made_by[name]


def _fields_reader(fields: tuple[Field, ...], make: Callable[..., Any]) -> Reader:
    known: dict[str, Any] = {"make": make}
    lines = ["def read(b, i):"]
    for at, (_, kind) in enumerate(fields):
        lines += _reading(kind, f"v{at}", known)
    values = ", ".join(f"v{at}" for at in range(len(fields)))
    return _compiled([*lines, f" return make({values}), i"], "read", known)


def _reading(kind: str, name: str, known: dict[str, Any]) -> list[str]:
    """The lines that read a value at ``b[i]``. The frequent ones stand in place, the others are called."""
    if kind[0] == "?":
        inner = _reading(kind[1:], name, known)
        return [" i += 1", " if b[i - 1]:", *(f" {line}" for line in inner), " else:", f"  {name} = None"]
    text = [" e = i + 4 + length(b, i)[0]", f" {name} = b[i + 4 : e].decode()", " i = e"]
    known["length"] = _LENGTH.unpack_from
    if kind == "string":
        return text
    if kind == "Decimal":
        known["Decimal"] = Decimal
        return [*text, f" {name} = Decimal({name})"]
    if kind == "bytes":
        return [text[0], f" {name} = b[i + 4 : e]", text[2]]
    if kind == "bool":
        return [f" {name} = b[i] == 1", " i += 1"]
    if kind in _NUMBERS:
        form = Struct(_NUMBERS[kind])
        known[kind] = form.unpack_from
        return [f" {name} = {kind}(b, i)[0]", f" i += {form.size}"]
    if kind in ("timestamp", "duration"):
        known |= {"time": _TIME.unpack_from, "timedelta": timedelta, "epoch": _EPOCH}
        lines = [" s, n = time(b, i)", " i += 12", f" {name} = timedelta(0, s, n // 1000 if s >= 0 else -(n // 1000))"]
        return lines if kind == "duration" else [*lines, f" {name} = epoch + {name}"]
    known[f"read_{name}"] = reader(kind) if kind[0] != "@" else _object_reader(kind)
    return [f" {name}, i = read_{name}(b, i)"]


def _object_reader(kind: str) -> Reader:
    made = made_of(kind)
    handle = Struct(">Q").unpack_from
    return lambda b, i: (made(handle(b, i)[0]), i + 8)


def _sequence_reader(read_item: Reader) -> Reader:
    def read(b: bytes, i: int) -> tuple[tuple[Any, ...], int]:
        count = _LENGTH.unpack_from(b, i)[0]
        i += 4
        items: list[Any] = []
        for _ in range(count):
            item, i = read_item(b, i)
            items.append(item)
        return tuple(items), i

    return read


def _map_reader(read_value: Reader) -> Reader:
    read_key = reader("string")

    def read(b: bytes, i: int) -> tuple[dict[str, Any], int]:
        count = _LENGTH.unpack_from(b, i)[0]
        i += 4
        items: dict[str, Any] = {}
        for _ in range(count):
            key, i = read_key(b, i)
            items[key], i = read_value(b, i)
        return items, i

    return read


def _enum_reader(kind: str) -> Reader:
    variants = ENUMS[kind]
    if _is_flat(kind):
        own = class_of(kind)
        members = [own[member_name(name)] for name, _ in variants]
        return lambda b, i: (members[_LENGTH.unpack_from(b, i)[0] - 1], i + 4)
    # Each when it first comes: an error has a status, and a status never an error.
    readers: dict[int, Reader] = {}

    def read(b: bytes, i: int) -> tuple[Any, int]:
        at: int = _LENGTH.unpack_from(b, i)[0] - 1
        read_variant = readers.get(at)
        if read_variant is None:
            name, its = variants[at]
            read_variant = readers[at] = _fields_reader(its, _maker_of(f"{kind}.{name}"))
        return read_variant(b, i + 4)

    return read


def _is_flat(kind: str) -> bool:
    _ask_for(kind)
    return all(not fields for _, fields in ENUMS[kind]) and f"{kind}.{ENUMS[kind][0][0]}" not in _made_by


def read_whole(kind: str, content: bytes) -> Any:
    """The value that these bytes are."""
    value, end = reader(kind)(content, 0)
    if end != len(content):
        raise ValueError("a value of the core goes on where it should end")
    return value


# Writing.


def writer(kind: str) -> Writer:
    """The writer of a type."""
    known = _writers.get(kind)
    if known is None:
        known = _writers[kind] = _new_writer(kind)
    return known


def _new_writer(kind: str) -> Writer:
    if kind[0] == "[":
        return _sequence_writer(writer(kind[1:]))
    if kind in ENUMS:
        return _enum_writer(kind)
    if kind in RECORDS:
        return _record_writer(RECORDS[kind], _parts_of.get(kind))
    known: dict[str, Any] = {}
    return _compiled(["def write(x, out):", *_writing(kind, "x", "x", known)], "write", known)


def _record_writer(fields: tuple[Field, ...], parts: Callable[[Any], Any] | None) -> Writer:
    known: dict[str, Any] = {"parts": parts}
    lines = ["def write(value, out):", " pass"]
    if parts is not None:
        lines.append(" values = parts(value)")
    for at, (field, kind) in enumerate(fields):
        source = f"value.{field}" if parts is None else f"values[{at}]"
        lines += [f" x = {source}", *_writing(kind, "x", f"x{at}", known)]
    return _compiled(lines, "write", known)


def _writing(kind: str, name: str, own: str, known: dict[str, Any]) -> list[str]:
    """The lines that write the value of a name; what they need is known by a name of its own."""
    if kind[0] == "?":
        inner = _writing(kind[1:], name, own, known)
        return [f" if {name} is None: out += b'\\0'", " else:", "  out += b'\\1'", *(f" {line}" for line in inner)]
    known["length"] = _LENGTH.pack
    if kind == "string":
        return [f" s = {name}.encode()", " out += length(len(s))", " out += s"]
    if kind == "Decimal":
        # The method, not format(): that would silently take a float.
        known["digits"] = Decimal.__format__
        return [f" s = digits({name}, 'f').encode()", " out += length(len(s))", " out += s"]
    if kind == "bytes":
        return [f" out += length(len({name}))", f" out += {name}"]
    if kind == "bool":
        return [f" out += b'\\1' if {name} else b'\\0'"]
    if kind in _NUMBERS:
        known[kind] = Struct(_NUMBERS[kind]).pack
        return [f" out += {kind}({name})"]
    if kind in ("timestamp", "duration"):
        known |= {"time": _TIME.pack, "epoch": _EPOCH}
        span = name if kind == "duration" else f"({name} - epoch)"
        return [f" d = {span}", " out += time(d.days * 86400 + d.seconds, d.microseconds * 1000)"]
    known[f"write_{own}"] = writer(kind) if kind[0] != "@" else _object_writer(kind)
    return [f" write_{own}({name}, out)"]


def _object_writer(kind: str) -> Writer:
    pack, core = Struct(">Q").pack, core_of(kind)

    def write(value: Any, out: bytearray) -> None:
        out += pack(core(value).cloned())

    return write


def _sequence_writer(write_item: Writer) -> Writer:
    def write(items: Any, out: bytearray) -> None:
        out += _LENGTH.pack(len(items))
        for item in items:
            write_item(item, out)

    return write


def _enum_writer(kind: str) -> Writer:
    variants = ENUMS[kind]
    heads = {name: _LENGTH.pack(1 + at) for at, (name, _) in enumerate(variants)}
    parts = _parts_of.get(kind)
    if parts is not None:
        by_parts = {name: _record_writer(fields, tuple) for name, fields in variants}

        def write_parts(value: Any, out: bytearray) -> None:
            name, *values = parts(value)
            out += heads[name]
            by_parts[name](values, out)

        return write_parts
    if _is_flat(kind):
        own = class_of(kind)
        members = {own[member_name(name)]: heads[name] for name, _ in variants}

        def write_member(value: Any, out: bytearray) -> None:
            out += members[value]

        return write_member
    fields_of = dict(variants)
    writers: dict[type, tuple[bytes, Writer]] = {}

    def write(value: Any, out: bytearray) -> None:
        of = value.__class__
        known = writers.get(of)
        if known is None:
            classes: tuple[type, ...] = of.__mro__
            name = next(_variants[kind][each] for each in classes if each in _variants[kind])
            known = writers[of] = heads[name], _record_writer(fields_of[name], None)
        out += known[0]
        known[1](value, out)

    return write
