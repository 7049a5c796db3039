"""The record of a payment that an app stores."""

from . import _check
from ._codec import record
from ._core import method, native
from ._dataclass import dataclass
from .payments import PaymentRef


@record("PaymentEntry")
@dataclass(frozen=True, slots=True)
class PaymentEntry:
    """The record of an open payment: its reference, and the page or the QR code that the payer was shown. A program that
    stores it **can show them again** after a crash, and query the payment with the same record.

    Every create answer except the gateway's own QR picture returns one (``created.entry()``). It holds no secrets, but
    anyone with the page's URL can open it. ``str(entry)`` is the text to store. It ends with a checksum, so
    ``PaymentEntry.parse(text)`` refuses a text that was truncated or changed.

    >>> entry = PaymentEntry(PaymentRef.card("order-1", 10, "KGS"), page_url="https://pay.example.kg/3ds?token=1")
    >>> PaymentEntry.parse(str(entry)) == entry
    True
    """

    payment: PaymentRef
    """The payment reference, for status queries."""
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
        """Parses the stored text. Surrounding white space is ignored.

        Raises `kassa.Invalid` for a text of another version, a truncated or changed text, or one whose payment cannot be
        read.
        """
        entry: PaymentEntry = native.parse_payment_entry(_check.text("text", text))
        return entry

    def __str__(self) -> str:
        text: str = method("PaymentEntry.as_text", self)
        return text
