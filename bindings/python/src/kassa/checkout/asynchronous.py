"""A checkout, for asyncio and trio."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any

from .. import _check, _schedulers
from .._calls import ask
from ..secrets import Proxy
from ..violations import Language
from .opened import Opened, States, states_over, words_of
from .state import CheckoutState


class AsyncCheckout(Opened):
    """One checkout, as its payer pays it, for asyncio and trio. Actions return at once and are not awaited; ``states()`` is for
    ``async for``. ``async with`` closes it. For the rest see `Checkout`.

    Cancelling the task that waits for a state loses none. Without ``renew_token`` it is bound to no event loop.
    """

    __slots__ = ("_stop_renewal",)

    def __init__(
        self,
        server_url: str,
        client_token: str,
        *,
        renew_token: Callable[[], Awaitable[str]] | None = None,
        connect_timeout: timedelta | float = timedelta(seconds=10),
        extra_root_certificates: Iterable[str] = (),
        proxy: Proxy | None = None,
        user_agent_suffix: str | None = None,
        language: Language | None = None,
    ) -> None:
        """Opens a checkout, and begins to follow it. Whether the server is reached, and takes the token, the states tell.

        * ``server_url``: https, or http to a loopback address
        * ``client_token``: what the shop's back end handed out
        * ``renew_token``: an async function that gets a new client token from the shop's back end, called when the one before
          is not good any more (it lives for 15 minutes unless the server is set up otherwise), in a task of the running event
          loop, which is cancelled with the checkout. Where it raises, it is called again, after a while
        * ``connect_timeout``: how long making a connection may take, TLS included
        * ``extra_root_certificates``: certificates (PEM texts) to trust beside Mozilla's roots
        * ``proxy``: the way to the server; direct unless given, whatever the environment says
        * ``user_agent_suffix``: added to the user agent, such as ``my-shop/1.2``
        * ``language``: the payer's, for the page on which a payment by card is confirmed (3DS); the server's choice unless
          given

        Raises `kassa.Misconfigured` where the address or a setting cannot work, or the token can be no client token (such as an
        API key of the shop's), naming it, `ValueError` for a time that is not longer than zero, and RuntimeError where
        ``renew_token`` is given and no event loop runs.
        """
        loop = None if renew_token is None else _schedulers.running_loop()
        core = self._open(
            server_url, client_token, connect_timeout, extra_root_certificates, proxy, user_agent_suffix, language
        )
        self._stop_renewal: Callable[[], object] | None = None
        if renew_token is not None and loop is not None:
            renewal = loop.create_task(_renew(core, renew_token), name="kassa token renewal")
            end = weakref.finalize(self, _cancel, loop, renewal)
            end.atexit = False
            self._stop_renewal = end

    def states(self) -> AsyncCheckoutStates:
        """The states as they come: the one of now first, then each that is another one. See `AsyncCheckoutStates`."""
        return states_over(AsyncCheckoutStates, self._core().states())

    def close(self) -> None:
        """Stops following. The states end. What was sent goes on at the server, and opening it again shows what became of
        it. It is not awaited, and any thread may call it."""
        super().close()
        if self._stop_renewal is not None:
            self._stop_renewal()

    async def __aenter__(self) -> AsyncCheckout:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncCheckoutStates(States):
    """The states of a checkout, as they come, for ``async for``. Cancelling the task that waits loses none. For the rest see
    `CheckoutStates`.
    """

    __slots__ = ()

    def __aiter__(self) -> AsyncCheckoutStates:
        return self

    async def __anext__(self) -> CheckoutState:
        state: CheckoutState | None = await ask(self._core().next)
        if state is None:
            raise StopAsyncIteration
        return state


async def _renew(core: Any, renew_token: Callable[[], Awaitable[str]]) -> None:
    """Token renewal, in a task. The core waits between two tries."""
    while await ask(core.token_wanted):
        await _renew_once(core, renew_token)


async def _renew_once(core: Any, renew_token: Callable[[], Awaitable[str]]) -> None:
    try:
        token = _check.text("renew_token", await renew_token())
    except Exception as problem:  # noqa: BLE001 (whatever the shop's function raises)
        core.token_not_renewed(words_of(problem))
    else:
        core.renew_token(token)


def _cancel(loop: Any, renewal: Any) -> None:
    """From whatever thread lets go of the checkout."""
    if not loop.is_closed():
        loop.call_soon_threadsafe(renewal.cancel)
