"""ELQR, Kyrgyzstan's national format of payment QR codes."""

from enum import Enum

from . import _check
from ._codec import flat_enum, record
from ._core import method, native
from ._dataclass import dataclass


@flat_enum("ElqrKind")
class ElqrKind(Enum):
    """Whether a code is for one payment."""

    STATIC = "static"
    """A code for any number of payments, such as a sticker at a checkout counter."""
    DYNAMIC = "dynamic"
    """A code for one payment."""

    def __str__(self) -> str:
        return self.value


@record("ElqrField")
@dataclass(frozen=True, slots=True)
class ElqrField:
    """An additional field of a code (tags 35 to 39), such as a table number; or one with an unknown tag."""

    tag: str
    """The tag and the sub-tag, such as ``35.00``."""
    text: str
    """The whole value. For an additional field: ``key:label:value:title:visible``, where ``visible`` is ``11`` for yes and
    ``12`` for no."""

    def __post_init__(self) -> None:
        for name in ("tag", "text"):
            _check.text(name, getattr(self, name))


@record("BankLink")
@dataclass(frozen=True, slots=True)
class BankLink:
    """A link that opens a code in the app of a bank."""

    bank: str
    """The name of the bank or wallet; ``ELQR`` for any of them."""
    url: str
    """The link."""


@record("Elqr")
@dataclass(frozen=True, slots=True, kw_only=True)
class Elqr:
    """A payment code in ELQR, the format that the apps of all banks in Kyrgyzstan read.

    The text of a code is a link: the part before its ``#`` opens an app, and the code itself follows. `parse` parses a text,
    `text` writes one, and `check` says whether the code is for the right amount.

    >>> code = Elqr(
    ...     kind=ElqrKind.DYNAMIC, provider="qr.example.kg", service_code="02", mcc="5812", amount_tyiyn=39_000, payee="SHOP"
    ... )
    >>> read = Elqr.parse(code.text())
    >>> read == code
    True
    >>> read.check(39_000)
    >>> read.check(39_100)
    Traceback (most recent call last):
    kassa.Invalid: Invalid input, nothing was sent: elqr has the amount 39000 (in tyiyn), and 39100 was requested.

    To write a code, set a ``service_code`` or a ``merchant_id``, and for a dynamic code an ``amount_tyiyn``.

    **The checksum detects mistakes, not forgery**: anybody can make a code with a right one. Show only codes from your
    gateway's answers.
    """

    link: str = "https://pay.payqr.kg/"
    """The link before the ``#``; empty if there is none. It decides which app opens: see `bank_links`."""
    kind: ElqrKind
    """Whether it is for one payment (tag 01)."""
    provider: str
    """The payment system of the payee, such as ``qr.example.kg`` (tag 32.00)."""
    service_code: str | None = None
    """The provider's code of the service (tag 32.01)."""
    recipient: str | None = None
    """The payee's number at the provider: a phone number or an account (tag 32.10)."""
    transaction: str | None = None
    """The provider's transaction number; some write another text here (tag 32.11)."""
    amount_editable: bool | None = None
    """Whether the payer may change the amount (tag 32.12)."""
    recipient_editable: bool | None = None
    """Whether the payer may change the payee's number (tag 32.13)."""
    merchant_id: str | None = None
    """The merchant's number (tag 33.00)."""
    merchant_service: str | None = None
    """The name of the merchant's service (tag 33.01)."""
    comment: str | None = None
    """A comment on the payment (tag 34)."""
    fields: tuple[ElqrField, ...] = ()
    """Further fields (tags 35 to 39)."""
    mcc: str
    """The merchant category code of ISO 18245 (tag 52)."""
    currency: str = "417"
    """The currency by its number in ISO 4217: ``417`` is the som (tag 53)."""
    amount_tyiyn: int | None = None
    """The amount in **tyiyn** (tag 54). Some codes without an amount say 0."""
    payee: str
    """The payee's name for the payer (tag 59)."""
    other: tuple[ElqrField, ...] = ()
    """Other fields by their tags. `text` does not write them."""
    checksum_ok: bool = True
    """Whether the checksum matches the text (tag 63). If not, the code was damaged or changed."""

    def __post_init__(self) -> None:
        _check.instance("kind", self.kind, ElqrKind)
        for name in ("link", "provider", "mcc", "currency", "payee"):
            _check.text(name, getattr(self, name))
        for name in ("service_code", "recipient", "transaction", "merchant_id", "merchant_service", "comment"):
            _check.optional_text(name, getattr(self, name))
        for name in ("amount_editable", "recipient_editable"):
            if getattr(self, name) is not None:
                _check.flag(name, getattr(self, name))
        for name in ("fields", "other"):
            given = tuple(_check.instance(name, field, ElqrField) for field in getattr(self, name))
            object.__setattr__(self, name, given)
        _check.optional_whole_tyiyn("amount_tyiyn", self.amount_tyiyn)
        _check.flag("checksum_ok", self.checksum_ok)

    @classmethod
    def parse(cls, text: str) -> "Elqr":
        """Parses the text of a code: a link with the code after its ``#``, percent-encoded or not, or only the code.

        A wrong checksum or a foreign currency is accepted here and reported in ``checksum_ok`` and ``currency``; `check`
        refuses both.

        Raises `kassa.Invalid` if the text is not ELQR or is damaged; the error names the tag and the rule.
        """
        code: Elqr = native.parse_elqr(_check.text("text", text))
        return code

    def text(self) -> str:
        """The text of the code with a new checksum, to be drawn with `QrCode` or opened as a link.

        Raises `kassa.Invalid` with everything that the format does not allow.
        """
        text: str = method("Elqr.text", self)
        return text

    def check(self, amount_tyiyn: int) -> None:
        """Checks that the code is for this amount in **tyiyn**: the checksum is right, the currency is the som,
        and the amount matches. If ``amount_editable`` is true, the payer may still pay another amount.

        Raises `kassa.Invalid` with everything that differs.
        """
        method("Elqr.check", self, _check.whole_tyiyn("amount_tyiyn", amount_tyiyn))

    def bank_links(self) -> tuple[BankLink, ...]:
        """Links that open the code in a bank's app, one per bank, for a phone that shows the code itself. The first is for
        any bank. Some URLs come only from public lists.

        Raises `kassa.Invalid` as `text` does.
        """
        links: tuple[BankLink, ...] = method("Elqr.bank_links", self)
        return links
