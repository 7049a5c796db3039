"""One way to call the core: values converted on the way in and out, errors raised as those of this package."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from typing import Any

from ._convert import lift, lower
from ._generated import native


class InternalError(RuntimeError):
    """A defect in Kassa itself. **It says nothing about the money**: watch the payment, never send it again."""


@contextmanager
def translated() -> Generator[None, None, None]:
    """Raises the core's errors as this package's."""
    try:
        yield
    except native.PaymentError as error:
        # Without its cause: that is generated code, and its frames hold the request.
        raise lift(error) from None
    except native.InternalError as error:
        raise InternalError(str(error)) from None


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Calls a function of the core that answers at once."""
    with translated():
        return lift(function(*map(lower, arguments)))


async def ask(method: Callable[..., Awaitable[Any]], *arguments: Any) -> Any:
    """Awaits a method of the core. Cancelling it drops the core's future at once."""
    with translated():
        return lift(await method(*map(lower, arguments)))
