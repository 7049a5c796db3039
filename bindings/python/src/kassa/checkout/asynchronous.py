"""A checkout for asyncio and trio."""

from __future__ import annotations

import weakref
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any

from .. import _check, _schedulers
from .._calls import CHECKOUT_STATES_NEXT, CHECKOUT_TOKEN_WANTED, call_async
from ..secrets import Proxy
from ..violations import Language
from .opened import Opened, States, states_over, words_of
from .state import CheckoutState


class AsyncCheckout(Opened):
    """One checkout, as its payer pays it, for asyncio and trio. Actions return at once and are not awaited; ``states()`` is
    for ``async for``. ``async with`` closes it. Otherwise as `Checkout`.

    Cancelling the task that waits for a state loses no state. Without ``renew_token`` the checkout is bound to no event loop.
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
        """Opens a checkout and begins to poll it. The states say whether the server is reachable and accepts the token.

        * ``server_url``: https, or http to a loopback address
        * ``client_token``: the client token from the shop's back end
        * ``renew_token``: an async function that gets a new client token from the shop's back end. It is called when the old
          token expires (after 15 minutes by default), in a task of the running event loop, which is cancelled with the
          checkout. If it raises an error, it is called again later
        * ``connect_timeout``: the time limit of connecting, including TLS
        * ``extra_root_certificates``: certificates (PEM texts) to trust in addition to Mozilla's roots
        * ``proxy``: the proxy to the server; by default none, even if the environment names one
        * ``user_agent_suffix``: added to the user agent, such as ``my-shop/1.2``
        * ``language``: the payer's language, for the page that confirms a card payment (3DS); by default the server's

        Raises `kassa.Misconfigured` if the address or a setting is invalid, or the token cannot be a client token (for
        example, it is an API key of the shop); the error names it, `ValueError` for a time of zero or less, and RuntimeError
        if ``renew_token`` is given and no event loop runs.
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
        """The states as they change: the current one first, then each new one. See `AsyncCheckoutStates`."""
        return states_over(AsyncCheckoutStates, self._core().states())

    def close(self) -> None:
        """Stops polling, and ends the states. A payment that was sent continues at the server; opening the checkout again
        shows its state. It is not awaited, and any thread may call it."""
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
    """The states of a checkout as they change, for ``async for``. Cancelling the waiting task loses none. Otherwise as
    `CheckoutStates`.
    """

    __slots__ = ()

    def __aiter__(self) -> AsyncCheckoutStates:
        return self

    async def __anext__(self) -> CheckoutState:
        state: CheckoutState | None = await call_async(CHECKOUT_STATES_NEXT, self._core())
        if state is None:
            raise StopAsyncIteration
        return state


async def _renew(core: Any, renew_token: Callable[[], Awaitable[str]]) -> None:
    """Token renewal, in a task. The core waits between two attempts."""
    while await call_async(CHECKOUT_TOKEN_WANTED, core):
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
