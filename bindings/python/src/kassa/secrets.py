"""Values that must never be printed or pickled."""

from typing import Any, NoReturn, TypeVar

from . import _check
from ._codec import write_as
from ._core import native


class Secretive:
    """A value that lives in the core alone. It cannot change, so a copy is itself."""

    __slots__ = ("_native",)
    _native: Any

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a kassa.{type(self).__name__} cannot be changed")

    def __copy__(self: "S") -> "S":
        return self

    def __deepcopy__(self: "S", memo: object) -> "S":
        return self

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError(
            f"a kassa.{type(self).__name__} holds a secret and cannot be pickled; make it where it is needed"
        )


# After the class: a bound by its name would be compiled.
S = TypeVar("S", bound=Secretive)


def hold(value: Secretive, native_value: object) -> None:
    """Puts the core's object into a value that is being made."""
    object.__setattr__(value, "_native", native_value)


class Card(Secretive):
    """A payment card: number (PAN), expiry, CVC and the holder's name.

    Only its last four digits are ever printed, and it is never pickled. The core wipes its copies; the strings that you
    created it from are Python's, and stay in memory until they are garbage collected.

    Only types are checked here; the request with the card reports all violations at once.

    **Handling card numbers puts the merchant under PCI DSS.** To avoid that, use ``create_pay_form``: the payer then enters
    the card on the gateway's own page.

    >>> Card("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov")
    Card(**** 1111)
    """

    __slots__ = ()

    def __init__(self, pan: str, expiry_month: str, expiry_year: int, cvc: str, holder_name: str) -> None:
        """A card as the payer types it.

        * ``pan``: the full number, 13 to 20 digits; spaces and hyphens are removed before sending
        * ``expiry_month``: two digits, ``"01"`` to ``"12"``
        * ``expiry_year``: four digits, such as 2031
        * ``cvc``: three characters
        * ``holder_name``: first name, then last name
        """
        card = native.Card(
            _check.text("pan", pan),
            _check.text("expiry_month", expiry_month),
            _check.year("expiry_year", expiry_year),
            _check.text("cvc", cvc),
            _check.text("holder_name", holder_name),
        )
        hold(self, card)

    @property
    def masked_number(self) -> str:
        """The masked number with its last four digits, for receipts and logs; only the mask if the number is invalid."""
        masked: str = self._native.masked_number()
        return masked

    def __repr__(self) -> str:
        return f"Card({self.masked_number})"


def card_of(native_card: object) -> Card:
    """A card that the core made."""
    card = Card.__new__(Card)
    hold(card, native_card)
    return card


class Credentials(Secretive):
    """The merchant's login and password, issued by the service's administrator. Never printed, never pickled.

    They also open the merchant's dashboard: keep them in the environment or a secret store, not in code.

    >>> Credentials("shop", "correct horse")
    Credentials(***)
    """

    __slots__ = ()

    def __init__(self, login: str, password: str) -> None:
        """Credentials for HTTP Basic authentication."""
        basic = native.Credentials.basic(_check.text("login", login), _check.text("password", password))
        hold(self, basic)

    def __repr__(self) -> str:
        return "Credentials(***)"


class Proxy(Secretive):
    """The proxy to the gateway: ``Proxy.direct()``, ``Proxy.environment()`` or ``Proxy.url("http://...")``.

    A proxy's URL may contain a user and a password, so it is never printed or pickled.
    """

    __slots__ = ("_way",)
    _way: str

    def __init__(self) -> None:
        raise TypeError("make it by Proxy.direct(), Proxy.environment() or Proxy.url(...)")

    @classmethod
    def direct(cls) -> "Proxy":
        """No proxy, even if the environment names one. The default."""
        return cls._by(native.Proxy.direct(), "direct")

    @classmethod
    def environment(cls) -> "Proxy":
        """The proxies that the environment names (``HTTPS_PROXY`` and the like).

        They are not used for a plain http gateway on this machine.
        """
        return cls._by(native.Proxy.environment(), "environment")

    @classmethod
    def url(cls, url: str) -> "Proxy":
        """A proxy by its http or https URL.

        The gateway's base URL must be https: plain http is only for a gateway on this machine, which bypasses any proxy.
        """
        return cls._by(native.Proxy.from_url(_check.text("url", url)), "url, ***")

    @classmethod
    def _by(cls, native_proxy: object, way: str) -> "Proxy":
        proxy = cls.__new__(cls)
        hold(proxy, native_proxy)
        object.__setattr__(proxy, "_way", way)
        return proxy

    def __repr__(self) -> str:
        return f"Proxy({self._way})"


def held(value: Secretive) -> Any:
    """The core's object of a value."""
    return value._native  # pyright: ignore[reportPrivateUsage]


for _kind in ("@Card", "@Credentials", "@Proxy"):
    write_as(_kind, held)
