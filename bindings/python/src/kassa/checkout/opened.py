"""What both kinds of checkout are made of: the core's checkout, and what the payer can do."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable
from datetime import timedelta
from typing import Any, NoReturn, TypeVar

from .. import _check
from .._core import native
from .._forks import leave_behind
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
            # Its polling stayed with the threads of the other process: a wait would never end.
            raise Misconfigured(
                "the checkout was opened before a fork; open it again in this process, by its client token"
            )
        return self._native

    def __del__(self) -> None:
        # There is no core object if the input was refused.
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
        """Not created directly: use ``checkout.states()``."""
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
            proxy=_check.optional_instance("proxy", proxy, Proxy) or Proxy.direct(),
            user_agent_suffix=_check.optional_text("user_agent_suffix", user_agent_suffix),
            language=_check.optional_instance("language", language, Language),
        )
        self._server_url = _check.text("server_url", server_url)
        core = native.Checkout.open(server_url, _check.text("client_token", client_token), settings)
        hold(self, core)
        # Whoever renews its token holds the core's checkout, too.
        self._end = weakref.finalize(self, _end, core, os.getpid())
        self._end.atexit = False
        return core

    @property
    def state(self) -> CheckoutState:
        """The current state."""
        state: CheckoutState = self._core().state()
        return state

    @property
    def details(self) -> CheckoutDetails | None:
        """What is to be paid; None before the server has answered."""
        details: CheckoutDetails | None = self._core().details()
        return details

    def pay_by_mbank(self, phone: str) -> None:
        """Pays by the mobile bank, which sends a one-time password to this phone.

        The number is normalized with `kassa.normalized_phone` before sending: show the result to the payer first.

        Raises `kassa.Invalid`, by ``Rule.STATE`` if the state does not allow it, or if it is not a phone number. Nothing was
        sent then."""
        self._core().pay_by_mbank(_check.text("phone", phone))

    def pay_by_megapay(self, phone: str) -> None:
        """Pays from the MegaPay wallet of this phone, which receives a PIN. `EnterOtp` has the commission and the total.

        The number is normalized with `kassa.normalized_phone` before sending: show the result to the payer first.

        Raises as ``pay_by_mbank`` does."""
        self._core().pay_by_megapay(_check.text("phone", phone))

    def confirm(self, otp: str) -> None:
        """Confirms the payment with the code that the payer received: the one-time password of the mobile bank, or the PIN of
        the wallet.

        Spaces, hyphens and invisible characters are removed. Raises `kassa.Invalid`, by ``Rule.STATE`` if no code is
        expected, or if it is empty or has no digit. Nothing was sent then."""
        self._core().confirm(_check.text("otp", otp))

    def pay_by_card(self, card: Card) -> None:
        """Pays by card. **A card form puts the merchant under PCI DSS**; payers can also pay by card on the gateway's own
        page (``pay_by_form``).

        Raises `kassa.Invalid`, by ``Rule.STATE`` if the state does not allow it (also if the server accepts no cards), or
        with all violations of the card. Nothing was sent then."""
        self._core().pay_by_card(_check.instance("card", card, Card))

    def pay_by_qr(self) -> None:
        """Creates a QR code to pay with.

        Raises `kassa.Invalid`, by ``Rule.STATE`` if the state does not allow it."""
        self._core().pay_by_qr()

    def pay_by_form(self) -> None:
        """Creates a pay-form, the gateway's own page where the payer chooses a method.

        Raises `kassa.Invalid`, by ``Rule.STATE`` if the state does not allow it."""
        self._core().pay_by_form()

    def change_method(self) -> None:
        """The payer wants another number or payment method than that of the open payment.

        The state becomes `Ready` with ``can_keep_method``. **Nothing is sent yet, and the open payment can still be paid**;
        the ``pay_by_...`` that follows replaces it. If it ends before that, that is shown at once. A program that was killed
        during the choice shows the open payment again.

        Raises `kassa.Invalid`, by ``Rule.STATE`` if the state has no ``can_change_method``, or it is False."""
        self._core().change_method()

    def keep_method(self) -> None:
        """The payer keeps the open payment: its state is shown again.

        Raises `kassa.Invalid`, by ``Rule.STATE`` if no other method is being chosen."""
        self._core().keep_method()

    def page_opened(self) -> None:
        """Tell the checkout that the app has opened the page of `OpenPage`, so that it is not opened automatically again when
        the state changes."""
        self._core().page_opened()

    def came_back(self) -> None:
        """The payer came back from a page: the gateway is queried at once. **The content of the return URL is not trusted**,
        so you need not read it."""
        self._core().came_back()

    def check_now(self) -> None:
        """Queries the gateway at once, and runs pending retries at once: for an app that returns to the foreground, and for a
        button."""
        self._core().check_now()

    def renew_token(self, client_token: str) -> None:
        """Continues with a new client token of the same checkout.

        A text that cannot be a client token, such as an API key of the shop, is not sent, and a message says so
        (``MessageTopic.TOKEN_NOT_RENEWED``)."""
        self._core().renew_token(_check.text("client_token", client_token))

    def close(self) -> None:
        """Stops polling, and ends the states. A payment that was sent continues at the server; opening the checkout again
        shows its state. Any thread may call it."""
        self._end()

    def __repr__(self) -> str:
        # Neither the token nor the page: anyone who sees its address can open it.
        return f"{type(self).__name__}({self._server_url!r})"


def _end(core: Any, process: int) -> None:
    if process == os.getpid():
        core.close()
    else:
        leave_behind(core)


def words_of(problem: BaseException) -> str:
    """Why there is no token, as a string that can be encoded as UTF-8."""
    return str(problem).encode(errors="replace").decode()
