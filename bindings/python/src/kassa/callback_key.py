"""Signed URLs: which payment a callback or a return is about."""

from __future__ import annotations

from collections.abc import Callable

from . import _check
from ._core import native
from .payments import PaymentRef
from .secrets import Secretive, hold


class CallbackKey(Secretive):
    """Signs a payment reference into callback and return URLs, and reads it back from the URL that was called.

    The gateway does not sign its callbacks. With a key, a shop without a database knows which order a callback is about, and
    rejects a forged one without a query to the gateway.

    **A signed callback is still only a hint.** A genuine URL can be called again by the gateway and by everybody who saw it;
    the payer's browser sees the return URL. The signature proves that this shop made the reference, never that anything was
    paid: the gateway's report decides (``verify_callback``, ``watch``). A return URL is not accepted as a callback URL, or
    the reverse.

    The reference is signed, not encrypted: anyone with the URL can read it. Nothing else in the URL is signed: not the host,
    the path, your own parameters, or the ``OrderNumber`` that the gateway adds.

    The URL grows by one query parameter, ``kassa``. With ordinary order numbers it has 140 to 250 characters: 45, plus four
    for every three bytes of the reference's text. The interface sets no length limit.

    >>> key = CallbackKey("0123456789abcdef0123456789abcdef")  # from a secret store: 32 random bytes or more, as text
    >>> payment = kassa.PaymentRef.card("order-1", Decimal("100.10"), "KGS")
    >>> url = key.callback_url("https://shop.example/callbacks?shop=7", payment)
    >>> key.read_callback_url(url.removeprefix("https://shop.example")) == payment  # as a web framework gives it
    True
    """

    __slots__ = ()

    def __init__(self, secret: str) -> None:
        """Creates a key from a secret: at least 32 random bytes, such as ``secrets.token_urlsafe(32)`` returns. Keep it where
        you keep the gateway's password, and use a different one for each shop.

        Raises `kassa.Invalid` if it is shorter than 32 bytes.
        """
        hold(self, native.CallbackKey(_check.text("secret", secret)))

    def with_previous(self, secret: str) -> CallbackKey:
        """The same key, which also accepts signatures made with a previous secret: for key rotation. Drop the previous secret
        once its payments are final.

        Raises `kassa.Invalid` if it is shorter than 32 bytes.
        """
        key = CallbackKey.__new__(CallbackKey)
        hold(key, self._native.with_previous(_check.text("secret", secret)))
        return key

    def callback_url(self, url: str, payment: PaymentRef) -> str:
        """Adds the signed reference to a callback URL. The rest of the URL stays unchanged.

        Raises `kassa.Invalid` if the URL is not an absolute http or https URL, already has a parameter ``kassa``, or if the
        reference could not be read back unchanged.
        """
        return self._signed(self._native.callback_url, url, payment)

    def return_url(self, url: str, payment: PaymentRef) -> str:
        """Adds the signed reference to a return URL, which can be an app's deep link. The rest of the URL stays unchanged,
        and the gateway adds parameters of its own.

        Raises `kassa.Invalid` if the text is not an absolute URI, already has a parameter ``kassa``, or if the reference
        could not be read back unchanged.
        """
        return self._signed(self._native.return_url, url, payment)

    def read_callback_url(self, called: str) -> PaymentRef:
        """Reads the signed reference from the callback URL that was called: the whole URL, or its path and query.

        Raises `kassa.Invalid` if there is not exactly one parameter ``kassa``, or if this key did not sign it as a callback
        URL. Answer such a call with an HTTP error, and do not query the gateway.
        """
        payment: PaymentRef = self._native.read_callback_url(_check.text("called", called))
        return payment

    def read_return_url(self, called: str) -> PaymentRef:
        """Reads the signed reference from the return URL that the payer came back to: the whole URL, or its path and query.

        Raises `kassa.Invalid` as `read_callback_url` does.
        """
        payment: PaymentRef = self._native.read_return_url(_check.text("called", called))
        return payment

    @staticmethod
    def _signed(sign: Callable[[object, object], object], url: str, payment: PaymentRef) -> str:
        signed = sign(_check.text("url", url), _check.instance("payment", payment, PaymentRef))
        return str(signed)

    def __repr__(self) -> str:
        return "CallbackKey(***)"
