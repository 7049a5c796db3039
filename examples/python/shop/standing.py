"""The state of an order, as a pure function of its events. Only `checkout.paid` makes it paid."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True)
class Event:
    """An event of the server about a checkout of the shop. https://www.standardwebhooks.com calls it a message."""

    id: str
    """The same however often it is delivered."""
    checkout: str
    """The shop's reference of the checkout."""
    version: int
    """Of the checkout: a later event has a higher one."""
    kind: str
    """Such as ``checkout.paid``."""
    payment: str | None = None
    """The payment that it is about, if any."""
    payment_state: str | None = None
    """Where that payment stands since then."""
    after: str | None = None
    """Where the checkout stood before, if money came after its end."""


class State(Enum):
    """The state of an order."""

    OPEN = "open"
    """It can be paid."""
    DECLINED = "declined"
    """It can be paid; the last try took no money."""
    WAITING = "waiting"
    """The bank has what the payer sent, and has not said how it went."""
    UNKNOWN = "unknown"
    """Money may have been taken. The server is finding out."""
    UNCLEAR = "unclear"
    """What the bank says does not fit: a person has to look."""
    EXPIRED = "expired"
    """The time to pay is over."""
    CANCELLED = "cancelled"
    """The payer gave it up."""
    PAID = "paid"
    """Paid: **deliver**."""
    PAID_TOO_LATE = "paid_too_late"
    """Paid after the payer had given it up: give it back."""


@dataclass(frozen=True)
class Standing:
    """The state of an order, and the refunds owed to its payer."""

    state: State
    owed: int = 0
    """How many payments have to be given back."""
    given_back: int = 0
    """How many were given back."""
    may_be_paid_late: bool = False
    """A checkout of it is over, and what its payer was shown can still be paid."""

    @property
    def can_be_paid(self) -> bool:
        """Whether a payer may be sent to pay: not where money may have been taken already."""
        return self.state in (State.OPEN, State.DECLINED, State.EXPIRED)

    @property
    def may_change(self) -> bool:
        """Whether the order's page is to look again."""
        return self.state in (State.OPEN, State.DECLINED, State.WAITING, State.UNKNOWN, State.UNCLEAR) or (
            self.may_be_paid_late
        )


def standing(checkouts: Sequence[str], events: Iterable[Event]) -> Standing:
    """The state of an order. ``checkouts`` are the references of all checkouts opened for it, newest last."""
    told = sorted(events, key=lambda event: event.version)
    paid = [event for event in told if event.kind == "checkout.paid"]
    if paid:
        return _paid(told, paid)
    payments = {event.payment: event for event in told if event.payment}
    newest = [event for event in told if checkouts and event.checkout == checkouts[-1]]
    state = _in_doubt(payments.values()) or _ended(newest) or _open([event for event in newest if event.payment])
    is_over = state in (State.EXPIRED, State.CANCELLED)
    awaited = {event.checkout for event in payments.values() if event.payment_state == "awaiting"}
    return Standing(state, may_be_paid_late=bool(awaited if is_over else awaited - set(checkouts[-1:])))


def _paid(told: Sequence[Event], paid: Sequence[Event]) -> Standing:
    """An order is paid once. What was charged beside that has to be given back, and so has what came after it was given up."""
    too_late = all(event.after == "cancelled" for event in paid)
    charged = len(paid) + sum(event.kind == "checkout.overpaid" for event in told)
    given_back = sum(event.kind == "checkout.refund_recorded" for event in told)
    owed = charged - (0 if too_late else 1) - given_back
    return Standing(State.PAID_TOO_LATE if too_late else State.PAID, max(0, owed), given_back)


def _in_doubt(payments: Iterable[Event]) -> State | None:
    """Whether money may have been taken, or was, with the checkout's own event about to come. Older checkouts count, too: of
    their payments may be heard late."""
    states = {"stuck" if _nobody_ends(event) else event.payment_state for event in payments}
    if states & {"mismatch", "unverifiable", "stuck"}:
        return State.UNCLEAR
    if "unknown" in states:
        return State.UNKNOWN
    return State.WAITING if states & {"confirming", "charged"} else None


def _nobody_ends(event: Event) -> bool:
    # A code that nobody has scanned is stuck by and by as well, and in no doubt.
    return event.kind == "payment.stuck" and event.payment_state == "confirming"


def _ended(events: Sequence[Event]) -> State | None:
    """Whether the newest checkout is over."""
    ends = {"checkout.expired": State.EXPIRED, "checkout.cancelled": State.CANCELLED}
    return next((ends[event.kind] for event in reversed(events) if event.kind in ends), None)


def _open(events: Sequence[Event]) -> State:
    """What the payer's last try came to."""
    is_declined = bool(events) and events[-1].payment_state in ("rejected", "not_made")
    return State.DECLINED if is_declined else State.OPEN
