"""Requests that create payments, pay-forms and QR codes."""

from decimal import Decimal

from . import _check
from ._codec import record
from ._core import method
from ._dataclass import dataclass
from .payments import PaymentRef
from .secrets import Card
from .violations import Advice


@record("CardPayment")
@dataclass(frozen=True, slots=True, kw_only=True)
class CardPayment:
    """A request for a card payment. Sending card data puts the merchant under PCI DSS; see `Card`."""

    order_number: str
    """The merchant's unique number of the payment, preferably only A-Z a-z 0-9 - _: `kassa.new_order_number()`."""
    description: str
    """What is paid for."""
    amount: Decimal | int
    """The amount in units of the currency, at least 1, with no more decimals than the currency has (ISO 4217): two for KGS.
    Sent digit for digit."""
    currency: str
    """The currency's three letters."""
    card: Card
    """The card."""
    language: str
    """The payer's language, two letters, such as ``ky``."""
    return_url: str | None = None
    """Where the payer's browser goes after success: a web page or an app's deep link."""
    callback_url: str
    """Where the gateway sends its callbacks: an absolute http or https URL."""
    ip: str
    """The payer's IPv4 or IPv6 address."""
    email: str | None = None
    """The payer's e-mail."""

    def __post_init__(self) -> None:
        for name in ("order_number", "description", "currency", "language", "callback_url", "ip"):
            _check.text(name, getattr(self, name))
        for name in ("return_url", "email"):
            _check.optional_text(name, getattr(self, name))
        _check.instance("card", self.card, Card)
        object.__setattr__(self, "amount", _check.amount("amount", self.amount))

    def payment_ref(self) -> PaymentRef:
        """The payment reference. Store it **before** sending, so that you can query the payment whatever happens."""
        ref: PaymentRef = method("CardPayment.payment_ref", self)
        return ref

    def advice(self) -> tuple[Advice, ...]:
        """Advice about the request, to review before sending. It blocks nothing."""
        advice: tuple[Advice, ...] = method("CardPayment.advice", self)
        return advice


@record("MbankPayment")
@dataclass(frozen=True, slots=True, kw_only=True, init=False)
class MbankPayment:
    """A request for a mobile-bank payment."""

    order_number: str
    """The merchant's unique number of the payment; `kassa.new_order_number()` makes one."""
    phone: str
    """The payer's phone number, which receives the one-time password, in any notation.

    It is normalized with `kassa.normalized_phone` before sending.
    """
    amount_som: int
    """The amount in **whole som**, at least 1. It may be given as a `Decimal` without a fraction."""
    comment: str
    """What is paid for."""
    callback_url: str | None = None
    """Where the gateway sends its callbacks: an absolute http or https URL."""

    def __init__(
        self,
        *,
        order_number: str,
        phone: str,
        amount_som: Decimal | int,
        comment: str,
        callback_url: str | None = None,
    ) -> None:
        # Written by hand, because what is given and what is read have different types.
        object.__setattr__(self, "order_number", order_number)
        object.__setattr__(self, "phone", phone)
        object.__setattr__(self, "amount_som", amount_som)
        object.__setattr__(self, "comment", comment)
        object.__setattr__(self, "callback_url", callback_url)
        self.__post_init__()

    def __post_init__(self) -> None:
        for name in ("order_number", "phone", "comment"):
            _check.text(name, getattr(self, name))
        object.__setattr__(self, "amount_som", _check.whole_som("amount_som", self.amount_som))
        _check.optional_text("callback_url", self.callback_url)

    def payment_ref(self) -> PaymentRef:
        """The payment reference. Store it **before** sending, so that you can query the payment whatever happens."""
        ref: PaymentRef = method("MbankPayment.payment_ref", self)
        return ref

    def advice(self) -> tuple[Advice, ...]:
        """Advice about the request, to review before sending. It blocks nothing."""
        advice: tuple[Advice, ...] = method("MbankPayment.advice", self)
        return advice


@record("MegapayPayment")
@dataclass(frozen=True, slots=True, kw_only=True)
class MegapayPayment:
    """A request for a payment from the payer's MegaPay wallet. ``check_megapay`` sends the payer a PIN and returns
    the commission; ``pay_by_megapay`` takes the money with that PIN. **Both take the same request.**"""

    order_number: str
    """The merchant's unique number of the payment; `kassa.new_order_number()` makes one."""
    amount: Decimal | int
    """The amount in KGS **without the commission**, at least 5 and with at most two decimals. Sent digit for digit."""
    phone: str
    """The phone number of the payer's wallet, which receives the PIN, in any notation.

    It is normalized with `kassa.normalized_phone` before sending.
    """
    account: str
    """The merchant's account (requisite) that receives the money, as agreed with the gateway."""
    callback_url: str | None = None
    """Where the gateway sends its callbacks: an absolute http or https URL. Only the payment sends it, not the check."""

    def __post_init__(self) -> None:
        for name in ("order_number", "phone", "account"):
            _check.text(name, getattr(self, name))
        _check.optional_text("callback_url", self.callback_url)
        object.__setattr__(self, "amount", _check.amount("amount", self.amount))

    def payment_ref(self) -> PaymentRef:
        """The payment reference. Store it **before** sending, so that you can query the payment whatever happens."""
        ref: PaymentRef = method("MegapayPayment.payment_ref", self)
        return ref

    def advice(self) -> tuple[Advice, ...]:
        """Advice about the request, to review before sending. It blocks nothing."""
        advice: tuple[Advice, ...] = method("MegapayPayment.advice", self)
        return advice


@record("PayForm")
@dataclass(frozen=True, slots=True, kw_only=True)
class PayForm:
    """A request for a pay-form: the gateway's own page on which the payer chooses a method (card, MBank or MegaPay).

    The answer has no identifier, so **put your own reference into the query of** ``callback_url`` **and** ``return_url``
    (such as ``?ref=cart-17``), store ``payment_ref()`` under it, and verify the callback and the return with it. Their order
    number is only claimed; ``qr_numbers`` of the dialect says how to exclude that it is a QR payment's.
    """

    amount: Decimal | int
    """The amount in KGS, at least 1 and with at most two decimals; under 5 the page will not offer MegaPay. Sent digit for
    digit."""
    service_name: str
    """What is paid for."""
    callback_url: str
    """Where the gateway sends its callbacks: an absolute http or https URL."""
    return_url: str
    """Where the payer's browser goes after success: a web page or an app's deep link."""
    entry_id: str | None = None
    """The id of its entry in the gateway's `Journal`, unique for each pay-form; generated by default. The gateway never sees
    it."""

    def __post_init__(self) -> None:
        for name in ("service_name", "callback_url", "return_url"):
            _check.text(name, getattr(self, name))
        _check.optional_text("entry_id", self.entry_id)
        object.__setattr__(self, "amount", _check.amount("amount", self.amount))

    def payment_ref(self) -> PaymentRef:
        """The payment reference, with the requested amount. Store it **before** sending. The payer chooses the method, so the
        payment has no number until a callback or a return claims one."""
        ref: PaymentRef = method("PayForm.payment_ref", self)
        return ref

    def advice(self) -> tuple[Advice, ...]:
        """Advice about the request, to review before sending. It blocks nothing."""
        advice: tuple[Advice, ...] = method("PayForm.advice", self)
        return advice


@record("QrPayment")
@dataclass(frozen=True, slots=True, kw_only=True)
class QrPayment:
    """A request for a dynamic QR code.

    The answer with the picture has no identifier. To know which order a QR payment belongs to, **put your own reference into
    the query of** ``callback_url``, store ``payment_ref()`` under it and verify the callback with it; or request the data
    instead (``create_qr_data``) and draw it with `QrCode`.
    """

    sum_tyiyn: int | None = None
    """The amount in **whole tyiyn**, above zero; `som_to_tyiyn` converts. The picture needs it, the data does not."""
    requisite: str | None = None
    """The payee: a phone number, or the name of the enterprise or branch."""
    callback_url: str | None = None
    """Where the gateway sends its callbacks: an absolute http or https URL."""
    entry_id: str | None = None
    """The id of its entry in the gateway's `Journal`, unique for each code; generated by default, unless the gateway returns
    a transaction id. The gateway never sees it."""

    def __post_init__(self) -> None:
        _check.optional_whole_tyiyn("sum_tyiyn", self.sum_tyiyn)
        for name in ("requisite", "callback_url", "entry_id"):
            _check.optional_text(name, getattr(self, name))

    def payment_ref(self) -> PaymentRef:
        """The payment reference, with the requested amount. Store it **before** sending. Only the answer of
        ``create_qr_data`` adds the transaction id for queries."""
        ref: PaymentRef = method("QrPayment.payment_ref", self)
        return ref
