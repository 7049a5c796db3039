"""What is to be paid by a checkout."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import Enum

from .._convert import mirrors, mirrors_enum
from .._generated import native
from ..violations import Language
from .amounts import amount_text, pay_text


@mirrors_enum(native.PaymentMethod)
class PaymentMethod(Enum):
    """A way to pay."""

    PAY_FORM = "pay_form"
    """The gateway's own page, where the payer chooses: ``pay_by_form``."""
    QR = "qr"
    """A QR code, which an app of a bank scans: ``pay_by_qr``."""
    MBANK = "mbank"
    """The mobile bank, confirmed by a one-time password: ``pay_by_mbank``."""
    CARD = "card"
    """A card, where the merchant's server takes cards: ``pay_by_card``."""

    def __str__(self) -> str:
        return self.value


@mirrors(native.CheckoutDetails)
@dataclass(frozen=True, slots=True)
class CheckoutDetails:
    """What is to be paid. It never changes."""

    reference: str
    """The shop's own reference, such as the number of the order: what a payer names to the shop's support."""
    amount: Decimal
    """The amount, in units of the currency."""
    currency: str
    """The currency's three letters."""
    description: str
    """What is paid for."""
    methods: tuple[PaymentMethod, ...]
    """The ways to pay that the shop allows, without those of which this version knows nothing."""
    return_url: str
    """Where the payer returns to from a page: a page of the shop's, or a deep link of the app."""
    expires_at: datetime
    """When it expires, by the server's clock, in UTC."""

    def amount_text(self, language: Language) -> str:
        """What is to be paid, as people write it: `kassa.checkout.amount_text`."""
        return amount_text(self.amount, self.currency, language)

    def pay_text(self, language: Language) -> str:
        """The button that pays, with the amount: `kassa.checkout.pay_text`."""
        return pay_text(self.amount, self.currency, language)
