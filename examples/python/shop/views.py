"""What a page shows of an order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import urlsplit

import kassa

from .orders import Order, Payment
from .states import State


@dataclass(frozen=True)
class Look:
    """How a state looks to the payer."""

    title: str
    mark: str
    """Which colour and sign it has: ``wait``, ``act``, ``good`` or ``bad``."""


LOOKS = {
    State.PREPARED: Look("Sending your payment", "wait"),
    State.CONFIRMING: Look("Checking your code", "wait"),
    State.ACCEPTED: Look("Waiting for the bank", "wait"),
    State.UNKNOWN: Look("We are finding out", "wait"),
    State.CHARGED: Look("Paid", "good"),
    State.UNCLEAR: Look("We have to look at this", "bad"),
    State.REJECTED: Look("Not paid", "bad"),
    State.NOT_MADE: Look("Nothing was charged", "bad"),
}
ACTIONS = {
    kassa.PaymentKind.CARD: Look("Confirm with your bank", "act"),
    kassa.PaymentKind.MBANK: Look("Enter the code", "act"),
    kassa.PaymentKind.PAY_FORM: Look("Continue on the payment page", "act"),
    kassa.PaymentKind.QR: Look("Scan to pay", "act"),
}
CHOICE = Look("How would you like to pay?", "act")


@dataclass(frozen=True)
class OrderView:
    """An order and its payment, for the templates."""

    order: Order
    payment: Payment | None
    entry: kassa.JournalEntry | None
    """What is written down of the payment: its page and its code."""

    @property
    def look(self) -> Look:
        """How it looks."""
        if self.payment is None:
            return CHOICE
        if self.payment.state == State.AWAITING_PAYER:
            return ACTIONS[self.payment.ref.kind]
        return LOOKS[self.payment.state]

    @property
    def version(self) -> str:
        """Another text after each change."""
        return "0" if self.payment is None else f"{self.payment.id}.{self.payment.version}"

    @property
    def can_choose(self) -> bool:
        """Whether a way to pay can be chosen."""
        return self.payment is None or self.payment.state.leaves_order_open

    @property
    def is_waiting(self) -> bool:
        """Whether something may change by itself."""
        return self.payment is not None and not self.payment.state.is_over

    @property
    def reloads(self) -> bool:
        """Whether the page is to reload itself where no script runs: not while somebody types into it."""
        return self.is_waiting and self.look is not ACTIONS[kassa.PaymentKind.MBANK]

    @property
    def phone_link(self) -> str | None:
        """What a phone that shows this page can open instead of scanning it."""
        text = self.entry.qr_text if self.entry else None
        return text if text and urlsplit(text).scheme in ("http", "https") else None


def money(amount: Decimal) -> str:
    """An amount for people: ``1 234.50``."""
    return f"{amount:,.2f}".replace(",", "\u202f")
