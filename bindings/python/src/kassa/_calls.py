"""Calls into the core: converts values in both directions, and raises the errors of this package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any

from . import _buffers, _check, _schedulers
from ._convert import lift, lower
from ._generated import native

_buffers.install()


class InternalError(RuntimeError):
    """A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail)
        self.detail: str = _check.text("detail", detail)
        """What went wrong."""

    def __str__(self) -> str:
        return f"A defect in Kassa: {self.detail}. It says nothing about the money: watch the payment, never send it again."


class translated:  # noqa: N801 (it reads like a function)
    """Raises the core's errors as this package's."""

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        # Without their cause: that is generated code, and its frames hold the request.
        if isinstance(error, native.PaymentError):
            raise lift(error) from None
        if isinstance(error, native.InternalError):
            raise InternalError(str(error)) from None


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core that answers at once."""
    with translated():
        return lift(function(*map(lower, arguments)))


def call_on_disk(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core that waits for the disk. Other greenlets run meanwhile, if any."""
    with translated():
        return lift(_schedulers.on_disk(function, *map(lower, arguments)))


async def ask(method: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Awaits a method of the core. Cancelling it drops the core's future at once."""
    with translated():
        return lift(await method(*map(lower, arguments)))
