"""What a page shows of an order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .orders import Order
from .standing import Standing, State


@dataclass(frozen=True)
class Look:
    """How a state looks to the payer."""

    title: str
    mark: str
    """Which colour and sign it has: ``wait``, ``act``, ``good`` or ``bad``."""


LOOKS = {
    State.OPEN: Look("Waiting for your payment", "act"),
    State.DECLINED: Look("Not paid", "bad"),
    State.WAITING: Look("Waiting for the bank", "wait"),
    State.UNKNOWN: Look("We are finding out", "wait"),
    State.UNCLEAR: Look("We have to look at this", "bad"),
    State.EXPIRED: Look("The time to pay is over", "bad"),
    State.CANCELLED: Look("Cancelled", "bad"),
    State.PAID: Look("Paid", "good"),
    State.PAID_TOO_LATE: Look("Paid after it was cancelled", "bad"),
}
NOT_READY = Look("Nothing was charged", "bad")
BEING_TOLD = Look("We are being told", "wait")
ONE_MOMENT = Look("One moment", "wait")


@dataclass(frozen=True)
class OrderView:
    """An order and how it stands, for the templates."""

    order: Order
    standing: Standing
    version: str
    """Another text after each change."""
    page_url: str | None
    """Where it is paid; None as long as the server has not been reached."""
    after: str
    """What the payer has done just now, as the address says, which proves nothing: ``payment``; ``cancel``; ``kept``, where
    the order could not be cancelled."""

    @property
    def state(self) -> str:
        """How it stands, in a word."""
        return self.standing.state.value

    @property
    def look(self) -> Look:
        """How it looks."""
        if self.is_cancelling:
            return ONE_MOMENT
        if self.standing.state == State.OPEN and self.page_url is None:
            return ONE_MOMENT if self.standing.may_be_paid_late else NOT_READY
        if self.standing.state == State.OPEN and self.after == "payment":
            return BEING_TOLD
        return LOOKS[self.standing.state]

    @property
    def is_open(self) -> bool:
        """Whether there is a page to pay on, and nothing is under way that is known of."""
        return self.page_url is not None and self.standing.state in (State.OPEN, State.DECLINED)

    @property
    def is_cancelling(self) -> bool:
        """Whether the event is awaited that tells of it."""
        return self.is_open and self.after == "cancel"


def money(amount: Decimal) -> str:
    """An amount for people: ``1 234.50``."""
    return f"{amount:,.2f}".replace(",", "\u202f")
