"""Serialization: how values are written for the core, and read, as the generated module does it, at a third of the cost.

The generated code grows a buffer of the core's by calls into the core as it writes, and enters a context manager for every
field. Here a value is put together in Python and handed over at once, and a value that comes in is copied once.

Takes the place of the generated helpers for buffers and of the two that make a call. Upstream: buffers that are allocated
once, before they are written (https://github.com/mozilla/uniffi-rs/issues/2161). This goes when a release does that and takes
no longer for a call.
"""

from __future__ import annotations

import ctypes
from struct import Struct
from types import TracebackType
from typing import Any

from ._generated import native, replace

_RustBuffer: Any = native._UniffiRustBuffer
_Status: Any = native._UniffiRustCallStatus
_check_status: Any = native._uniffi_check_call_status

_NUMBERS = {"i8": ">b", "u8": ">B", "i16": ">h", "u16": ">H", "i32": ">i", "u32": ">I", "i64": ">q", "u64": ">Q"}


class Reader:
    """The bytes of one value, from front to back."""

    __slots__ = ("_at", "_bytes")

    def __init__(self, content: bytes) -> None:
        self._bytes = content
        self._at = 0

    def remaining(self) -> int:
        return len(self._bytes) - self._at

    def read(self, size: int) -> bytes:
        end = self._at + size
        if end > len(self._bytes):
            raise native.InternalError("a value of the core ends too early")
        taken = self._bytes[self._at : end]
        self._at = end
        return taken

    def __enter__(self) -> Reader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self.remaining():
            raise native.InternalError("a value of the core goes on where it should end")


class Writer:
    """The bytes of one value, put together."""

    __slots__ = ("_bytes", "write")

    def __init__(self) -> None:
        self._bytes = bytearray()
        self.write = self._bytes.extend

    @property
    def content(self) -> bytes:
        """All of them."""
        return bytes(self._bytes)

    def finalize(self) -> Any:
        length = len(self._bytes)
        buffer = _RustBuffer.alloc(length)
        if length:
            ctypes.memmove(buffer.data, (ctypes.c_char * length).from_buffer(self._bytes), length)
            buffer.len = length
        return buffer

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        pass


def _add_number(name: str, form: Struct) -> None:
    unpack, pack, size = form.unpack, form.pack, form.size

    def read(reader: Reader) -> int:
        number: int = unpack(reader.read(size))[0]
        return number

    def write(writer: Writer, number: int) -> None:
        writer.write(pack(number))

    setattr(Reader, f"read_{name}", read)
    setattr(Writer, f"write_{name}", write)


def _reading(buffer: Any) -> Reader:
    content = ctypes.string_at(buffer.data, buffer.len)
    buffer.free()
    return Reader(content)


def _call_with_error(error_converter: Any, function: Any, *arguments: Any) -> Any:
    status = _Status()
    result = function(*arguments, ctypes.byref(status))
    if status.code:
        _check_status(error_converter, status)
    return result


def _call(function: Any, *arguments: Any) -> Any:
    return _call_with_error(None, function, *arguments)


for _name, _format in _NUMBERS.items():
    _add_number(_name, Struct(_format))


def install() -> None:
    """Has the generated code use them."""
    replace(_RustBuffer, "consume_with_stream", _reading)
    replace(_RustBuffer, "alloc_with_builder", Writer)
    replace(native, "_uniffi_rust_call_with_error", _call_with_error)
    replace(native, "_uniffi_rust_call", _call)
