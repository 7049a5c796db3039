"""What both kinds of checkout are made of: the core's checkout, and what the payer can do."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

from .. import _check
from .._calls import call, translated
from .._convert import lower
from .._forks import leave_behind
from .._generated import native
from ..errors import Misconfigured
from ..secrets import Card, Proxy
from ..settings import certificates
from ..violations import Language
from .details import CheckoutDetails
from .state import CheckoutState


class OfOneProcess:
    """An object of the core that works in the process that made it."""

    __slots__ = ("__weakref__", "_native", "_process")
    _native: Any
    _process: int

    def _core(self) -> Any:
        if self._process != os.getpid():
            # What follows it stayed with the threads of the other process: waiting for it would never end.
            raise Misconfigured(
                "the checkout was opened before a fork; open it again in this process, by its client token"
            )
        return self._native

    def __del__(self) -> None:
        # It was never made where its input was refused.
        if getattr(self, "_process", None) not in (None, os.getpid()):
            leave_behind(self._native)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a kassa.checkout.{type(self).__name__} cannot be pickled or copied; open the checkout again instead"
        )


def hold(owner: OfOneProcess, core: object) -> None:
    """Puts the core's object into one that is being made in this process."""
    object.__setattr__(owner, "_native", core)
    object.__setattr__(owner, "_process", os.getpid())


class States(OfOneProcess):
    """What both kinds of states share."""

    __slots__ = ()

    def __init__(self, *_: object, **__: object) -> None:
        """Not made by itself: ``checkout.states()`` gives one."""
        raise TypeError(f"a kassa.checkout.{type(self).__name__} is made by checkout.states()")


S = TypeVar("S", bound=States)


def states_over(kind: type[S], core: object) -> S:
    """The states that come from the core's."""
    states = kind.__new__(kind)
    hold(states, core)
    return states


class Opened(OfOneProcess):
    """What a payer can do, and what is known."""

    __slots__ = ("_end", "_server_url")

    def _open(
        self,
        server_url: str,
        client_token: str,
        connect_timeout: timedelta | float,
        extra_root_certificates: Iterable[str],
        proxy: Proxy | None,
        user_agent_suffix: str | None,
        language: Language | None,
    ) -> Any:
        """The core's checkout, which ends with this object."""
        settings = native.CheckoutSettings(
            connect_timeout=_check.positive_duration("connect_timeout", connect_timeout),
            extra_root_certificates=certificates(extra_root_certificates),
            proxy=lower(_check.optional_instance("proxy", proxy, Proxy) or Proxy.direct()),
            user_agent_suffix=_check.optional_text("user_agent_suffix", user_agent_suffix),
            language=lower(_check.optional_instance("language", language, Language)),
        )
        self._server_url = _check.text("server_url", server_url)
        with translated():
            core = native.Checkout.open(server_url, _check.text("client_token", client_token), settings)
        hold(self, core)
        # Whoever renews its token holds the core's checkout, too.
        self._end = weakref.finalize(self, _end, core, os.getpid())
        self._end.atexit = False
        return core

    @property
    def state(self) -> CheckoutState:
        """Where it stands now."""
        state: CheckoutState = call(self._core().state)
        return state

    @property
    def details(self) -> CheckoutDetails | None:
        """What is to be paid; None before the server has answered."""
        details: CheckoutDetails | None = call(self._core().details)
        return details

    def pay_by_mbank(self, phone: str) -> None:
        """Pays by the mobile bank: it sends a one-time password to this phone.

        However it is written, what is sent is `kassa.normalized_phone` of it: show that to the payer before.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where this does not fit the state, or where it is no phone number. Nothing was
        sent then."""
        call(self._core().pay_by_mbank, _check.text("phone", phone))

    def confirm(self, otp: str) -> None:
        """Confirms the payment by the mobile bank with the one-time password that the payer got, as the message shows it.

        Spaces, hyphens and marks that are not seen are left out. Raises `kassa.Invalid`, by ``Rule.STATE`` where none is
        awaited, or where none is given or it has no digit. Nothing was sent then."""
        call(self._core().confirm, _check.text("otp", otp))

    def pay_by_card(self, card: Card) -> None:
        """Pays by a card. **A form for card numbers puts the merchant under PCI DSS**; on the gateway's own page
        (``pay_by_form``) payers pay by card too.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where this does not fit the state (also where the server takes no cards), or
        with everything that is wrong with the card. Nothing was sent then."""
        call(self._core().pay_by_card, _check.instance("card", card, Card))

    def pay_by_qr(self) -> None:
        """Makes a QR code to pay by.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where this does not fit the state."""
        call(self._core().pay_by_qr)

    def pay_by_form(self) -> None:
        """Makes a page of the gateway's, where the payer chooses how to pay.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where this does not fit the state."""
        call(self._core().pay_by_form)

    def change_method(self) -> None:
        """The payer wants another number, or another way to pay, than that of the open payment.

        The state becomes `Ready` with ``can_keep_method``. **Nothing is sent yet, and the open payment can still be paid**; the
        ``pay_by_...`` that follows replaces it. What becomes of it meanwhile is shown at once. A program that was killed while
        its payer chose shows the open payment again.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where the state has no ``can_change_method``, or it is False."""
        call(self._core().change_method)

    def keep_method(self) -> None:
        """The payer stays with the open payment after all: its state is shown again.

        Raises `kassa.Invalid`, by ``Rule.STATE`` where nothing is being changed."""
        call(self._core().keep_method)

    def page_opened(self) -> None:
        """The app has opened the page of `OpenPage`: it is not to be opened by itself again, whatever else of the state
        changes."""
        call(self._core().page_opened)

    def came_back(self) -> None:
        """The payer came back from a page: the gateway is asked at once. **What the address of the return says is not
        believed**, so it needs not be read."""
        call(self._core().came_back)

    def check_now(self) -> None:
        """Has the gateway asked at once, and tries again at once what waits for a next try: for an app that has come back to
        the front, and for a button."""
        call(self._core().check_now)

    def renew_token(self, client_token: str) -> None:
        """Goes on with another client token of the same checkout.

        A text that can be none, such as an API key of the shop's, is sent to nobody, and a message says so
        (``MessageTopic.TOKEN_NOT_RENEWED``)."""
        call(self._core().renew_token, _check.text("client_token", client_token))

    def close(self) -> None:
        """Stops following. The states end. What was sent goes on at the server, and opening it again shows what became of
        it. Any thread may call it."""
        self._end()

    def __repr__(self) -> str:
        # Neither the token nor a page, which whoever sees its address can open.
        return f"{type(self).__name__}({self._server_url!r})"


def _end(core: Any, process: int) -> None:
    if process == os.getpid():
        core.close()
    else:
        leave_behind(core)


def words_of(problem: BaseException) -> str:
    """Why no token came, as a text that can be handed on."""
    return str(problem).encode(errors="replace").decode()
