"""The core: loads the native library, and makes its functions and objects from the generated tables.

Each is made when it is first needed. The calls here end at once; those that take time go over `_boundary`. Errors are raised as
this package's own, without a cause, whose frames would hold the request.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from . import _check, _codec
from ._codec import tables as _tables


class InternalError(RuntimeError):
    """A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail: str = _check.text("detail", detail)
        """What went wrong."""

    def __str__(self) -> str:
        return f"A defect in Kassa: {self.detail}. It says nothing about the money: watch the payment, never send it again."


def _loaded() -> ctypes.CDLL:
    names = {"win32": "kassa_native.dll", "darwin": "libkassa_native.dylib"}
    # Next to the tables, also in a packaged program.
    # By os.path, because nothing else here needs pathlib.
    folder = os.path.dirname(_tables.__file__)  # noqa: PTH120
    try:
        return ctypes.CDLL(os.path.join(folder, names.get(sys.platform, "libkassa_native.so")))  # noqa: PTH118
    except OSError as error:
        from ._no_library import why_not_loaded

        raise ImportError(why_not_loaded(folder, error), name=_tables.__name__, path=_tables.__file__) from error


library: Any = _loaded()


class _Buffer(ctypes.Structure):
    """Bytes that the core has allocated."""

    _fields_ = (("capacity", ctypes.c_uint64), ("len", ctypes.c_uint64), ("data", ctypes.c_void_p))


class _Status(ctypes.Structure):
    """How a call ended."""

    _fields_ = (("code", ctypes.c_int8), ("error", _Buffer))


_STATUS = ctypes.POINTER(_Status)
# Shared by all threads: a call that succeeds does not write it, and a clone cannot fail.
_CLONE_STATUS = ctypes.byref(_Status())
_NUMBERS: dict[str, Any] = {
    "u8": ctypes.c_uint8, "i8": ctypes.c_int8, "u16": ctypes.c_uint16, "i16": ctypes.c_int16, "u32": ctypes.c_uint32,
    "i32": ctypes.c_int32, "u64": ctypes.c_uint64, "i64": ctypes.c_int64, "bool": ctypes.c_int8,
}  # fmt: skip


def function(symbol: str, arguments: tuple[Any, ...], answer: Any) -> Any:
    """A function of the library's."""
    found = getattr(library, symbol)
    found.argtypes, found.restype = arguments, answer
    return found


_alloc = function(_tables.ALLOC, (ctypes.c_uint64, _STATUS), _Buffer)
_free = function(_tables.FREE, (_Buffer, _STATUS), None)

if function(_tables.CONTRACT[0], (), ctypes.c_uint32)() != _tables.CONTRACT[1]:
    raise ImportError("the native library and the tables of this package are of different versions")


def _given(content: bytes | bytearray) -> _Buffer:
    buffer: _Buffer = _alloc(len(content), ctypes.byref(_Status()))
    if content:
        ctypes.memmove(buffer.data, bytes(content), len(content))
        buffer.len = len(content)
    return buffer


def _taken(buffer: Any) -> bytes:
    content = ctypes.string_at(buffer.data, buffer.len) if buffer.len else b""
    _free(buffer, ctypes.byref(_Status()))
    return content


def read(kind: str, value: bytes) -> Any:
    """A value that the core has written."""
    try:
        return _codec.read_whole(kind, value)
    except Exception as problem:  # noqa: BLE001 (whatever it is, it is a defect, and the value is not to be shown)
        raise InternalError(f"a value of the core cannot be read as {kind}: {type(problem).__name__}") from None


def raise_error(code: int, value: bytes) -> None:
    """Raises what a call failed with."""
    if code == 1:
        raise read("PaymentError", value) from None
    raise InternalError(value.decode()) from None


_RAW = "raw"


def _type(kind: str) -> Any:
    return ctypes.c_uint64 if kind[0] == "@" else _NUMBERS.get(kind, _Buffer)


def _lowering(kind: str) -> Callable[[Any], Any]:
    if kind in _NUMBERS:
        # Converts to a number of that type, or raises here: not in the call, after all other arguments were made.
        convert: Callable[[Any], Any] = _NUMBERS[kind]
        return convert
    if kind[0] == "@":
        core = _codec.core_of(kind)
        return lambda value: core(value).cloned()
    # A string that is a whole argument has no length prefix.
    if kind == "string":
        return lambda text: _given(text.encode())
    if kind == "Decimal":
        return lambda amount: _given(Decimal.__format__(amount, "f").encode())
    write = _codec.writer(kind)

    def lower(value: Any) -> _Buffer:
        content = bytearray()
        write(value, content)
        return _given(content)

    return lower


def _lifting(kind: str | None) -> Callable[[Any], Any] | None:
    if kind is None or (kind in _NUMBERS and kind != "bool"):
        return None
    if kind == "bool":
        return bool
    if kind[0] == "@":
        return _codec.made_of(kind)
    if kind == _RAW:
        return _taken
    if kind == "string":
        return lambda buffer: _taken(buffer).decode()
    if kind == "Decimal":
        return lambda buffer: Decimal(_taken(buffer).decode())
    return lambda buffer: read(kind, _taken(buffer))


def _lower_numbers(lowerings: list[Callable[[Any], Any]], _: tuple[str, ...], given: tuple[Any, ...]) -> list[Any]:
    """Arguments for the core of which at most the last one is memory or an object."""
    return [lower(value) for lower, value in zip(lowerings, given, strict=True)]


def _lower_all(lowerings: list[Callable[[Any], Any]], kinds: tuple[str, ...], given: tuple[Any, ...]) -> list[Any]:
    """Arguments for the core. If one of them cannot be converted, those before it are freed: the core never gets them."""
    lowered: list[Any] = []
    try:
        for lower, value in zip(lowerings, given, strict=True):
            lowered.append(lower(value))
    except BaseException:
        for kind, value in zip(kinds, lowered, strict=False):
            _let_go(kind, value)
        raise
    return lowered


def _let_go(kind: str, lowered: Any) -> None:
    if kind[0] == "@":
        native_class = getattr(native, kind[1:])
        native_class._free(lowered, ctypes.byref(_Status()))
    elif kind not in _NUMBERS:
        # It may be a secret.
        ctypes.memset(lowered.data, 0, lowered.len)
        _free(lowered, ctypes.byref(_Status()))


def _made(symbol: str, arguments: tuple[str, ...], answer: str | None) -> Callable[..., Any]:
    """A function of the core's, with values of this package."""
    call = function(symbol, (*map(_type, arguments), _STATUS), None if answer is None else _type(answer))
    lowerings = [_lowering(kind) for kind in arguments]
    lower_all = _lower_all if any(kind not in _NUMBERS for kind in arguments[:-1]) else _lower_numbers
    lift = _lifting(answer)

    def called(*given: Any) -> Any:
        status = _Status()
        result = call(*lower_all(lowerings, arguments, given), ctypes.byref(status))
        if status.code:
            raise_error(status.code, _taken(status.error))
        return result if lift is None else lift(result)

    return called


class Object:
    """An object of the core's. It is freed with this one."""

    __slots__ = ("__weakref__", "_handle")
    _clone: Any
    _free: Any
    _handle: int | None

    @classmethod
    def of(cls, handle: int) -> Any:
        """One that the core has made."""
        made = cls.__new__(cls)
        made._handle = handle
        return made

    def cloned(self) -> int:
        """A share of it, which is the core's from then on."""
        handle: int = self._clone(self._handle, _CLONE_STATUS)
        return handle

    def __del__(self, _Status: Any = _Status, byref: Any = ctypes.byref) -> None:  # noqa: N803
        handle = getattr(self, "_handle", None)
        if handle is not None:
            self._free(handle, byref(_Status()))


def _object_class(name: str) -> Any:
    clone, free, constructors, methods = _tables.OBJECTS[name]
    kind: Any = type(name, (Object,), {"__slots__": ()})
    kind._clone = staticmethod(function(clone, (ctypes.c_uint64, _STATUS), ctypes.c_uint64))
    kind._free = staticmethod(function(free, (ctypes.c_uint64, _STATUS), None))
    for called, signature in constructors.items():
        if called == "new":
            kind.__init__ = _constructor(*signature[:2])
        else:
            setattr(kind, called, _later(kind, called, signature, staticmethod))
    for called, signature in methods.items():
        setattr(kind, called, _later(kind, called, signature, _codec.itself))
    return kind


def _constructor(symbol: str, arguments: tuple[str, ...]) -> Callable[..., None]:
    make: Callable[..., int] | None = None

    def init(self: Any, *given: Any) -> None:
        nonlocal make
        if make is None:
            make = _made(symbol, arguments, "u64")
        self._handle = make(*given)

    return init


def _later(kind: type[Object], called: str, signature: Any, as_member: Callable[[Any], Any]) -> Any:
    """A method, or another constructor, that is made when it is first called."""

    def call(*given: Any) -> Any:
        made = _made(*signature)
        setattr(kind, called, as_member(made))
        return made(*given)

    return as_member(call)


class _Native:
    """All that the core has, by its names in Rust."""

    def __getattr__(self, name: str) -> Any:
        found: Any
        if name in _tables.FUNCTIONS:
            found = _made(*_tables.FUNCTIONS[name])
        elif name in _tables.OBJECTS:
            found = _object_class(name)
        elif name in _tables.RECORDS or name in _tables.ENUMS:
            return _codec.class_of(name)
        else:
            raise AttributeError(name)
        setattr(self, name, found)
        return found


native: Any = _Native()

_methods: dict[str, Callable[..., Any]] = {}


def method(name: str, *arguments: Any) -> Any:
    """Calls a method of a value, such as ``PaymentRef.as_text``. The value comes first."""
    call = _methods.get(name)
    if call is None:
        call = _methods[name] = _made(*_tables.METHODS[name])
    return call(*arguments)


def raw_answer(name: str, *arguments: Any) -> bytes:
    """What a function answers with, as the core has written it."""
    symbol, kinds, _ = _tables.FUNCTIONS[name]
    content: bytes = _made(symbol, kinds, _RAW)(*arguments)
    return content


_codec.object_class = lambda name: getattr(native, name)
