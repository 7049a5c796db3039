"""Signed addresses: which payment a callback or a return is about."""

from __future__ import annotations

from collections.abc import Callable

from . import _check
from ._calls import call
from ._generated import native
from .payments import PaymentRef
from .secrets import Secretive, hold


class CallbackKey(Secretive):
    """Signs which payment an address is about: into the callback and return URLs that go out, and read back from the address
    that was called.

    The interface signs no callbacks. With a key, a shop without a database still knows which order a callback is about, and a
    forged one goes no further: not even as far as a question to the gateway.

    **What arrives is a hint all the same.** A true address can be called again, by the gateway and by everybody who saw it; the
    payer's browser sees the return URL. The signature says that this shop made the reference, never that anything was paid: the
    gateway's report decides (``verify_callback``, ``watch``). A return URL does not pass as a callback URL, nor the other way
    about.

    The reference is signed, not hidden: whoever sees the address can read it. Of the address nothing else is signed, neither
    host and path nor parameters of the shop's own, and not the ``OrderNumber`` that the gateway adds either.

    The address grows by one query parameter, ``kassa``, of some 110 to 200 characters with ordinary order numbers: 45, and four
    for every three bytes of the reference's text. The interface limits no length.

    >>> key = CallbackKey("0123456789abcdef0123456789abcdef")  # from a secret store: 32 random bytes or more, as text
    >>> payment = kassa.PaymentRef.card("order-1")
    >>> url = key.callback_url("https://shop.example/callbacks?shop=7", payment)
    >>> key.read_callback_url(url.removeprefix("https://shop.example")) == payment  # as a web framework gives it
    True
    """

    __slots__ = ()

    def __init__(self, secret: str) -> None:
        """A key by its secret: 32 bytes or more that nobody can guess, such as ``secrets.token_urlsafe(32)`` gives. Keep it
        where the gateway's password is, and give every shop its own.

        Raises `kassa.Invalid` where it is shorter than 32 bytes.
        """
        hold(self, call(native.CallbackKey, _check.text("secret", secret)))

    def with_previous(self, secret: str) -> CallbackKey:
        """The same key, which also reads what was signed with a previous secret: for key rotation. Sign with the new one, and
        drop the previous one once its payments are over.

        Raises `kassa.Invalid` where it is shorter than 32 bytes.
        """
        key = CallbackKey.__new__(CallbackKey)
        hold(key, call(self._native.with_previous, _check.text("secret", secret)))
        return key

    def callback_url(self, url: str, payment: PaymentRef) -> str:
        """A callback URL with the reference in it, signed. What the URL holds stays as it is.

        Raises `kassa.Invalid` where the URL is not an absolute http or https one or has a parameter ``kassa`` already, and
        where the reference would not be read back as it is.
        """
        return self._signed(self._native.callback_url, url, payment)

    def return_url(self, url: str, payment: PaymentRef) -> str:
        """A return URL with the reference in it, signed. The deep link of an app will do. What it holds stays as it is, and the
        gateway adds parameters of its own.

        Raises `kassa.Invalid` where the text is not an absolute URI or has a parameter ``kassa`` already, and where the
        reference would not be read back as it is.
        """
        return self._signed(self._native.return_url, url, payment)

    def read_callback_url(self, called: str) -> PaymentRef:
        """The reference that was signed into the callback URL that was called: all of it, or the path and the query.

        Raises `kassa.Invalid` where there is no parameter ``kassa`` or more than one, and where it was not signed by this key
        as a callback URL. Answer such a call with an HTTP error, and ask the gateway nothing.
        """
        payment: PaymentRef = call(self._native.read_callback_url, _check.text("called", called))
        return payment

    def read_return_url(self, called: str) -> PaymentRef:
        """The reference that was signed into the return URL that the payer came back to: all of it, or the path and the query.

        Raises `kassa.Invalid` as `read_callback_url` does.
        """
        payment: PaymentRef = call(self._native.read_return_url, _check.text("called", called))
        return payment

    @staticmethod
    def _signed(sign: Callable[[object, object], object], url: str, payment: PaymentRef) -> str:
        signed: str = call(sign, _check.text("url", url), _check.instance("payment", payment, PaymentRef))
        return signed

    def __repr__(self) -> str:
        return "CallbackKey(***)"
