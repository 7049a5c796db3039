"""Details of a checkout."""

from datetime import datetime
from decimal import Decimal
from enum import Enum

from .._codec import flat_enum, record
from .._dataclass import dataclass
from ..violations import Language
from .amounts import amount_text, pay_text


@flat_enum("PaymentMethod")
class PaymentMethod(Enum):
    """A payment method."""

    PAY_FORM = "pay_form"
    """The gateway's own page, where the payer chooses a method: ``pay_by_form``."""
    QR = "qr"
    """A QR code, which an app of a bank scans: ``pay_by_qr``."""
    MBANK = "mbank"
    """The mobile bank, confirmed by a one-time password: ``pay_by_mbank``."""
    MEGAPAY = "megapay"
    """A MegaPay wallet, confirmed by a PIN that the payer receives, if the merchant's server accepts it: ``pay_by_megapay``."""
    CARD = "card"
    """A card, if the merchant's server accepts cards: ``pay_by_card``."""

    def __str__(self) -> str:
        return self.value


@record("CheckoutDetails")
@dataclass(frozen=True, slots=True)
class CheckoutDetails:
    """The details of a checkout. They never change."""

    reference: str
    """The shop's own reference, such as the order number, which a payer tells the shop's support."""
    amount: Decimal
    """The amount, in units of the currency."""
    currency: str
    """The currency's three letters."""
    description: str
    """What is paid for."""
    methods: tuple[PaymentMethod, ...]
    """The payment methods that the shop allows, without those unknown to this version."""
    return_url: str
    """Where the payer returns after a page: a page of the shop, or a deep link of the app."""
    expires_at: datetime
    """When it expires, by the server's clock, in UTC."""

    def amount_text(self, language: Language) -> str:
        """The amount, formatted for people: `kassa.checkout.amount_text`."""
        return amount_text(self.amount, self.currency, language)

    def pay_text(self, language: Language) -> str:
        """The text of the pay button, with the amount: `kassa.checkout.pay_text`."""
        return pay_text(self.amount, self.currency, language)
