"""Payment references, and the gateway's reports."""

from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Literal, NoReturn

from . import _check
from ._codec import flat_enum, read_as, record, write_as
from ._core import method, native
from ._dataclass import dataclass


@dataclass(frozen=True, slots=True, repr=False)
class Provider:
    """Who processes a payment: ``Provider.CARDS``, ``Provider.MEGA_PAY``, ``Provider.MBANK``, or another one by name.

    Known names are case-insensitive. A provider unknown to this version is kept, but cannot be queried.
    """

    name: str
    """Its name on the wire."""

    if TYPE_CHECKING:  # a type that is given by its name would be compiled
        CARDS: ClassVar["Provider"]
        """Payment cards."""
        MEGA_PAY: ClassVar["Provider"]
        """The MegaPay wallet."""
        MBANK: ClassVar["Provider"]
        """The MBank mobile bank."""

    def __post_init__(self) -> None:
        known = native.provider_from_name(_check.text("name", self.name))
        object.__setattr__(self, "name", known.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        constant = {"Cards": "CARDS", "MegaPay": "MEGA_PAY", "MBank": "MBANK"}.get(self.name)
        return f"Provider.{constant}" if constant else f"Provider({self.name!r})"


def _provider(name: str) -> Provider:
    """One whose name the core has given."""
    provider = object.__new__(Provider)
    object.__setattr__(provider, "name", name)
    return provider


Provider.CARDS = _provider("Cards")
Provider.MEGA_PAY = _provider("MegaPay")
Provider.MBANK = _provider("MBank")

_KNOWN = {"Cards": ("Cards",), "MegaPay": ("MegaPay",), "MBank": ("MBank",)}

read_as("Provider.Cards", lambda: Provider.CARDS)
read_as("Provider.MegaPay", lambda: Provider.MEGA_PAY)
read_as("Provider.MBank", lambda: Provider.MBANK)
read_as("Provider.Other", _provider)
write_as("Provider", lambda provider: _KNOWN.get(provider.name) or ("Other", provider.name))


@flat_enum("PaymentKind")
class PaymentKind(Enum):
    """The kinds of payment."""

    CARD = "card"
    """A card payment made with card data."""
    MBANK = "mbank"
    """A mobile-bank payment."""
    MEGAPAY = "megapay"
    """A payment from a MegaPay wallet, made with the payer's PIN."""
    PAY_FORM = "pay_form"
    """A payment on the gateway's pay-form."""
    QR = "qr"
    """A dynamic QR payment."""

    def __str__(self) -> str:
        return self.value


@record("PaymentRef")
@dataclass(frozen=True, slots=True)
class PaymentRef:
    """Everything needed to query a payment again **and to recognize its report**, without secrets: **store it before you send
    the payment**.

    Take it from the request (``payment.payment_ref()``), store it, send, and replace it with the reference from the answer,
    which may have more numbers. ``str(ref)`` is the short text to store, and ``PaymentRef.parse(text)`` reads it back, also
    after a crash.

    >>> str(PaymentRef.card("order-1", Decimal("100.10"), "KGS"))
    'kassa1:kind=card&order=order-1&provider=Cards&amount=100.10&currency=KGS'
    """

    kind: PaymentKind
    """The kind of payment."""
    order_number: str | None = None
    """The merchant's order number; for a pay-form the number from its callback or return."""
    gateway_number: str | None = None
    """The gateway's own order number, if known."""
    provider: Provider | None = None
    """Who carries the payment out."""
    transaction_id: str | None = None
    """The identifier of a QR transaction."""
    confirm_identifier: str | None = None
    """The identifier for the confirmation of a mobile-bank payment, **as JSON**: ``"abc"`` with its quotes, or ``123``. Set
    if the dialect names it."""
    amount: Decimal | None = None
    """The requested amount, in units of the currency (for KGS: som); None if unknown, as for a QR code without an amount."""
    currency: str | None = None
    """The requested currency."""
    is_claimed: bool = False
    """True if the order number, or the transaction of a QR payment, was not chosen by the merchant but only claimed by a
    callback or a return. **Anybody can claim one**, so such a payment counts as charged only if the gateway reports the
    requested amount."""
    entry_id: str | None = None
    """The id of the entry in a `Journal` for a payment without a number: a pay-form or a QR code. The gateway never sees it."""
    transaction_from_code: bool = False
    """True if the transaction of a QR payment was read from the code itself, after Kassa checked the code's amount. Only the
    answer of ``create_qr_data`` sets it. **A charge that is reported without an amount counts only for such a payment.**"""

    def __post_init__(self) -> None:
        _check.instance("kind", self.kind, PaymentKind)
        _check.optional_text("order_number", self.order_number)
        _check.optional_text("gateway_number", self.gateway_number)
        _check.optional_instance("provider", self.provider, Provider)
        _check.optional_text("transaction_id", self.transaction_id)
        _check.optional_text("confirm_identifier", self.confirm_identifier)
        object.__setattr__(self, "amount", _check.optional_amount("amount", self.amount))
        _check.optional_text("currency", self.currency)
        _check.flag("is_claimed", self.is_claimed)
        _check.optional_text("entry_id", self.entry_id)
        _check.flag("transaction_from_code", self.transaction_from_code)

    @classmethod
    def card(cls, order_number: str, amount: Decimal | int, currency: str) -> "PaymentRef":
        """A card payment by the merchant's order number, with the requested amount and currency."""
        order_number = _check.text("order_number", order_number)
        amount = _check.amount("amount", amount)
        ref: PaymentRef = native.card_payment_ref(order_number, amount, _check.text("currency", currency))
        return ref

    @classmethod
    def mbank(cls, order_number: str, amount_som: Decimal | int) -> "PaymentRef":
        """A mobile-bank payment, by the merchant's order number, with the amount in **whole som**."""
        order_number = _check.text("order_number", order_number)
        ref: PaymentRef = native.mbank_payment_ref(order_number, _check.whole_som("amount_som", amount_som))
        return ref

    @classmethod
    def megapay(cls, order_number: str, amount: Decimal | int) -> "PaymentRef":
        """A payment from a MegaPay wallet, by the merchant's order number, with the amount in KGS without the commission."""
        order_number = _check.text("order_number", order_number)
        ref: PaymentRef = native.megapay_payment_ref(order_number, _check.amount("amount", amount))
        return ref

    @classmethod
    def pay_form(cls, amount: Decimal | int) -> "PaymentRef":
        """A payment on a pay-form, with the amount in KGS. It has no number until a callback or a return claims one, and
        cannot be queried before: see `with_claimed_number`."""
        ref: PaymentRef = native.pay_form_payment_ref(_check.amount("amount", amount))
        return ref

    @classmethod
    def qr(cls, sum_tyiyn: int | None = None) -> "PaymentRef":
        """A payment by a dynamic QR code, with the amount in **whole tyiyn** if the code has one. It has no transaction yet:
        see `with_transaction_id`."""
        ref: PaymentRef = native.qr_payment_ref(_check.optional_whole_tyiyn("sum_tyiyn", sum_tyiyn))
        return ref

    @classmethod
    def parse(cls, text: str) -> "PaymentRef":
        """Parses the stored text. Surrounding white space, as from files and fixed-width columns, is ignored.

        Raises `kassa.Invalid` for a text of another version, a truncated text, inner white space, an unknown or repeated
        field, a missing kind, or an amount that is not a decimal number.
        """
        ref: PaymentRef = native.parse_payment_ref(_check.text("text", text))
        return ref

    def with_gateway_number(self, gateway_number: str) -> "PaymentRef":
        """The same payment with the gateway's own order number."""
        ref: PaymentRef = method("PaymentRef.with_gateway_number", self, _check.text("gateway_number", gateway_number))
        return ref

    def with_transaction_id(self, transaction_id: str) -> "PaymentRef":
        """The same QR payment with its transaction id from the create response."""
        ref: PaymentRef = method("PaymentRef.with_transaction_id", self, _check.text("transaction_id", transaction_id))
        return ref

    def with_claimed_number(self, order_number: str, provider: Provider | None = None) -> "PaymentRef":
        """The same payment with the order number and the provider that a callback or a return claims. Without a provider,
        each one is queried.

        **One payment pays for one order.** A payer can claim one payment again for another cart of the same amount: store the
        accepted numbers, and accept none twice.
        """
        order_number = _check.text("order_number", order_number)
        _check.optional_instance("provider", provider, Provider)
        ref: PaymentRef = method("PaymentRef.with_claimed_number", self, order_number, provider)
        return ref

    def with_entry_id(self, entry_id: str) -> "PaymentRef":
        """The same payment of a pay-form or a QR code with the id of its journal entry, for a reference that is signed into a
        URL (``entry_id``) before the request. Give the request the same `CallbackKey`."""
        from dataclasses import replace

        return replace(self, entry_id=_check.text("entry_id", entry_id))

    @property
    def can_be_checked(self) -> bool:
        """True if the payment has a number to query by: the transaction of a QR payment, the gateway's number, or an order
        number. Only then it can be checked or watched."""
        can: bool = method("PaymentRef.can_be_checked", self)
        return can

    def __str__(self) -> str:
        text: str = method("PaymentRef.as_text", self)
        return text


@dataclass(frozen=True, slots=True, repr=False)
class PaymentStatus:
    """The status of a payment: ``PaymentStatus.CHARGED``, ``PaymentStatus.REJECTED``, or another word of the gateway.

    Only the first two are final. Words are case-insensitive; an unknown one is kept as received. Compare with ``==``, or with
    ``match`` and ``case PaymentStatus.CHARGED``.
    """

    kind: Literal["charged", "rejected", "other"]
    """What it means."""
    word: str | None = None
    """The gateway's status word, if it is neither charged nor rejected."""

    if TYPE_CHECKING:  # a type that is given by its name would be compiled
        CHARGED: ClassVar["PaymentStatus"]
        """The money was taken (CHARGE)."""
        REJECTED: ClassVar["PaymentStatus"]
        """The payment ended without the money being taken (Reject)."""

    def __post_init__(self) -> None:
        if self.kind not in ("charged", "rejected", "other") or (self.kind == "other") != (self.word is not None):
            raise ValueError("a status is charged, rejected, or other with a word")
        _check.optional_text("word", self.word)

    @classmethod
    def other(cls, word: str) -> "PaymentStatus":
        """Any other word of the gateway."""
        return cls("other", _check.text("word", word))

    @property
    def is_final(self) -> bool:
        """True if the status is final."""
        final: bool = method("PaymentStatus.is_final", self)
        return final

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether it is kassa.PaymentStatus.CHARGED (==), or None")

    def __str__(self) -> str:
        # An unknown word is quoted, so that the gateway's "charged" is never mistaken for a charge.
        text: str = method("PaymentStatus.as_text", self)
        return text

    def __repr__(self) -> str:
        return f"PaymentStatus.{self.kind.upper()}" if self.word is None else f"PaymentStatus.other({self.word!r})"


def _final(kind: str) -> PaymentStatus:
    """One without a word, past the constructor: that is compiled when it is first called."""
    status = object.__new__(PaymentStatus)
    object.__setattr__(status, "kind", kind)
    object.__setattr__(status, "word", None)
    return status


PaymentStatus.CHARGED = _final("charged")
PaymentStatus.REJECTED = _final("rejected")


read_as("PaymentStatus.Charged", lambda: PaymentStatus.CHARGED)
read_as("PaymentStatus.Rejected", lambda: PaymentStatus.REJECTED)
read_as("PaymentStatus.Other", PaymentStatus.other)
write_as(
    "PaymentStatus",
    lambda status: (status.kind.capitalize(),) if status.word is None else ("Other", status.word),
)


@record("StatusReport")
@dataclass(frozen=True, slots=True)
class StatusReport:
    """The gateway's report on a payment. A field that it lacks is None, never zero or empty."""

    status: PaymentStatus
    """The payment's status."""
    code: str | None = None
    """The gateway's code, such as ``200``."""
    reason: str | None = None
    """The gateway's message, such as ``PAYMENT_SUCCESS``, in the requested language."""
    order_number: str | None = None
    """The order number as the gateway reports it."""
    amount: Decimal | None = None
    """The amount as the gateway reports it. **For QR payments the unit is not known** (som or tyiyn) unless the dialect
    states it."""
    currency: str | None = None
    """The currency as the gateway reports it."""
    raw: str = ""
    """The whole response, with secrets masked."""

    def __post_init__(self) -> None:
        _check.instance("status", self.status, PaymentStatus)
        for name in ("code", "reason", "order_number", "currency"):
            _check.optional_text(name, getattr(self, name))
        object.__setattr__(self, "amount", _check.optional_amount("amount", self.amount))
        _check.text("raw", self.raw)

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "report.status == kassa.PaymentStatus.CHARGED, or whether it is None")
