"""What an app stores of a payment that is on its way."""

from dataclasses import dataclass

from . import _check
from ._calls import call
from ._convert import lower, mirrors
from ._generated import native
from .payments import PaymentRef


@mirrors(native.PaymentEntry)
@dataclass(frozen=True, slots=True)
class PaymentEntry:
    """One record of a payment on its way: its reference, and the page or the QR code that the payer was shown. A program
    that stores it **can show them again** after it was killed, and asks about the payment with the same record.

    What the gateway answers to a create has one (``created.entry()``), all but its own QR picture. It holds no secret; but
    whoever has the page's address can open it. ``str(entry)`` is a text that is meant to be stored as it is. It ends with a
    checksum, so that ``PaymentEntry.parse(text)`` refuses a text that was cut or changed.

    >>> entry = PaymentEntry(PaymentRef.card("order-1", 10, "KGS"), page_url="https://pay.example.kg/3ds?token=1")
    >>> PaymentEntry.parse(str(entry)) == entry
    True
    """

    payment: PaymentRef
    """What to ask about the payment with."""
    page_url: str | None = None
    """The page that the payer opens: the 3DS confirmation, or the pay-form."""
    qr_text: str | None = None
    """The text of the QR code, to be drawn with `QrCode`."""

    def __post_init__(self) -> None:
        _check.instance("payment", self.payment, PaymentRef)
        _check.optional_text("page_url", self.page_url)
        _check.optional_text("qr_text", self.qr_text)

    @classmethod
    def parse(cls, text: str) -> "PaymentEntry":
        """Reads the stored text. White space around it is left out.

        Raises `kassa.Invalid` for a text of another version, one that is not whole or was changed, and one whose payment cannot
        be read.
        """
        entry: PaymentEntry = call(native.parse_payment_entry, _check.text("text", text))
        return entry

    def __str__(self) -> str:
        text: str = call(lower(self).as_text)
        return text
