"""A checkout, for callers that wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from datetime import timedelta
from types import TracebackType
from typing import Any

from .. import _check
from .._calls import ask
from .._wait import wait
from ..secrets import Proxy
from ..violations import Language
from .opened import Opened, States, states_over, words_of
from .state import CheckoutState


class Checkout(Opened):
    """One checkout, as its payer pays it: what a payment screen shows (`CheckoutState`) and what the payer can do. It talks to
    the merchant's server (``kassa-server``) with a client token that opens this one checkout, so it holds no secret of the
    merchant's. For asyncio there is `AsyncCheckout`.

    >>> with Checkout("http://127.0.0.1:1", "ct_...") as checkout:  # nobody is there
    ...     checkout
    Checkout('http://127.0.0.1:1')

    It follows the checkout by itself until it is closed (``with`` closes it), or nobody holds it any more. Actions return at
    once; what comes of them is a state. Whatever fails on the way to the server is tried again with the same idempotency key,
    and shown as a message: **never is anything paid twice, and never is a payment called failed, because of the network.** A
    program that was killed opens the checkout again with its token, and is where it was.

    Any thread may use it, and several at once. After a fork it is the parent's; open it again in the child.
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
        """Opens a checkout, and begins to follow it. Whether the server is reached, and takes the token, the states tell.

        * ``server_url``: https, or http to a loopback address
        * ``client_token``: what the shop's back end handed out
        * ``renew_token``: gets a new client token from the shop's back end, called when the one before is not good any more (it
          lives for 15 minutes unless the server is set up otherwise), on a thread of the checkout's own, which ends with it.
          Where it raises, it is called again, after a while
        * ``connect_timeout``: how long making a connection may take, TLS included
        * ``extra_root_certificates``: certificates (PEM texts) to trust beside Mozilla's roots
        * ``proxy``: the way to the server; direct unless given, whatever the environment says
        * ``user_agent_suffix``: added to the user agent, such as ``my-shop/1.2``
        * ``language``: the payer's, for the page on which a payment by card is confirmed (3DS); the server's choice unless
          given

        Raises `kassa.Misconfigured` where the address or a setting cannot work, or the token can be no client token (such as an
        API key of the shop's), naming it, and `ValueError` for a time that is not longer than zero.
        """
        core = self._open(
            server_url, client_token, connect_timeout, extra_root_certificates, proxy, user_agent_suffix, language
        )
        if renew_token is not None:
            threading.Thread(target=_renew, args=(core, renew_token), name="kassa token renewal", daemon=True).start()

    def states(self) -> CheckoutStates:
        """The states as they come: the one of now first, then each that is another one. See `CheckoutStates`."""
        return states_over(CheckoutStates, self._core().states())

    def __enter__(self) -> Checkout:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class CheckoutStates(States):
    """The states of a checkout, as they come: the one of now first, then each that is another one. One that was replaced
    before anybody took it is left out. Made by ``checkout.states()``; each has all states for itself.

    They end when the checkout is closed, or nobody holds it any more.
    """

    __slots__ = ()

    def __iter__(self) -> CheckoutStates:
        return self

    def __next__(self) -> CheckoutState:
        state: CheckoutState | None = wait(ask(self._core().next))
        if state is None:
            raise StopIteration
        return state


def _renew(core: Any, renew_token: Callable[[], str]) -> None:
    """Token renewal, in a thread. The core waits between two tries."""
    while wait(ask(core.token_wanted)):
        _renew_once(core, renew_token)


def _renew_once(core: Any, renew_token: Callable[[], str]) -> None:
    try:
        token = _check.text("renew_token", renew_token())
    except Exception as problem:  # noqa: BLE001 (whatever the shop's function raises)
        core.token_not_renewed(words_of(problem))
    else:
        core.renew_token(token)
