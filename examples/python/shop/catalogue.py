"""What is sold, and what it costs. Amounts are exact decimals of som."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

CURRENCY = "KGS"
PRODUCT = "Mountain honey, 500 g"
PRICE = Decimal("390.00")
GIFT_BOX = Decimal("45.50")
MOST = 9


@dataclass(frozen=True)
class Cart:
    """What somebody wants to buy."""

    quantity: int
    gift_box: bool

    @property
    def amount(self) -> Decimal:
        """What it costs, in som."""
        return PRICE * self.quantity + (GIFT_BOX if self.gift_box else 0)

    @property
    def text(self) -> str:
        """What it is, in one line."""
        return f"{self.quantity} x {PRODUCT}" + (", in a gift box" if self.gift_box else "")


def read_cart(quantity: str, gift_box: str) -> Cart | None:
    """A cart as the product page sends it, or None where that is nonsense."""
    if not (quantity.isascii() and quantity.isdecimal() and len(quantity) == 1 and 1 <= int(quantity) <= MOST):
        return None
    return Cart(int(quantity), gift_box == "yes")
