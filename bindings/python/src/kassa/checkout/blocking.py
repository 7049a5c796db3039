"""The blocking checkout."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any

from .. import _check
from .._calls import CHECKOUT_STATES_NEXT, CHECKOUT_TOKEN_WANTED, wait
from ..secrets import Proxy
from ..violations import Language
from .opened import Opened, States, states_over, words_of
from .state import CheckoutState


class Checkout(Opened):
    """One checkout from its payer's side: the state for a payment screen (`CheckoutState`) and the payer's actions. It talks
    to the merchant's server (``kassa-server``) with a client token that opens only this checkout, so it needs no credentials
    of the merchant. For asyncio, use `AsyncCheckout`.

    >>> with Checkout("http://127.0.0.1:1", "ct_...") as checkout:  # nobody is there
    ...     checkout
    Checkout('http://127.0.0.1:1')

    It polls the checkout until it is closed (``with`` closes it) or garbage collected. Actions return at once; their result
    is a new state. A failed request to the server is retried with the same idempotency key and shown as a message: **a
    network error never causes a double payment, and never shows a payment as failed.** After a crash, open the checkout again
    with its token, and it continues where it was.

    It is thread-safe. After a fork it belongs to the parent; open it again in the child.
    """

    __slots__ = ()

    def __init__(
        self,
        server_url: str,
        client_token: str,
        *,
        renew_token: Callable[[], str] | None = None,
        connect_timeout: timedelta | float = timedelta(seconds=10),
        extra_root_certificates: Iterable[str] = (),
        proxy: Proxy | None = None,
        user_agent_suffix: str | None = None,
        language: Language | None = None,
    ) -> None:
        """Opens a checkout and begins to poll it. The states say whether the server is reachable and accepts the token.

        * ``server_url``: https, or http to a loopback address
        * ``client_token``: the client token from the shop's back end
        * ``renew_token``: gets a new client token from the shop's back end. It is called when the old token expires (after 15
          minutes by default), on a thread of the checkout, which ends with it. If it raises an error, it is called again
          later
        * ``connect_timeout``: the time limit of connecting, including TLS
        * ``extra_root_certificates``: certificates (PEM texts) to trust in addition to Mozilla's roots
        * ``proxy``: the proxy to the server; by default none, even if the environment names one
        * ``user_agent_suffix``: added to the user agent, such as ``my-shop/1.2``
        * ``language``: the payer's language, for the page that confirms a card payment (3DS); by default the server's

        Raises `kassa.Misconfigured` if the address or a setting is invalid, or the token cannot be a client token (for
        example, it is an API key of the shop); the error names it, and `ValueError` for a time of zero or less.
        """
        core = self._open(
            server_url, client_token, connect_timeout, extra_root_certificates, proxy, user_agent_suffix, language
        )
        if renew_token is not None:
            threading.Thread(target=_renew, args=(core, renew_token), name="kassa token renewal", daemon=True).start()

    def states(self) -> CheckoutStates:
        """The states as they change: the current one first, then each new one. See `CheckoutStates`."""
        return states_over(CheckoutStates, self._core().states())

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class CheckoutStates(States):
    """The states of a checkout as they change: the current one first, then each new one. A state that was replaced before it
    was read is skipped. Made by ``checkout.states()``; each iterator gets all states.

    They end when the checkout is closed or garbage collected.
    """

    __slots__ = ()

    def __iter__(self) -> CheckoutStates:
        return self

    def __next__(self) -> CheckoutState:
        state: CheckoutState | None = wait(CHECKOUT_STATES_NEXT, self._core())
        if state is None:
            raise StopIteration
        return state


def _renew(core: Any, renew_token: Callable[[], str]) -> None:
    """Token renewal, in a thread. The core waits between two attempts."""
    while wait(CHECKOUT_TOKEN_WANTED, core):
        _renew_once(core, renew_token)


def _renew_once(core: Any, renew_token: Callable[[], str]) -> None:
    try:
        token = _check.text("renew_token", renew_token())
    except Exception as problem:  # noqa: BLE001 (whatever the shop's function raises)
        core.token_not_renewed(words_of(problem))
    else:
        core.renew_token(token)
