"""Where a payment stands, as far as the shop knows, and which way it can go from there."""

from __future__ import annotations

from enum import Enum


class State(str, Enum):
    """Where a payment stands."""

    PREPARED = "prepared"
    """Stored. It is about to be sent, or on its way."""
    AWAITING_PAYER = "awaiting_payer"
    """The gateway accepted it, and the payer has something to do."""
    CONFIRMING = "confirming"
    """The payer's one-time password is on its way."""
    ACCEPTED = "accepted"
    """Everything is done that can be; the gateway has not said how it ended."""
    UNKNOWN = "unknown"
    """It was sent, and nobody knows what became of it. The shop asks; it never sends it again."""
    CHARGED = "charged"
    """The money was taken."""
    UNCLEAR = "unclear"
    """What the gateway says does not fit what was asked for. A person has to look."""
    REJECTED = "rejected"
    """It ended without the money being taken."""
    NOT_MADE = "not_made"
    """The gateway never took it on: nothing happened."""

    @property
    def is_over(self) -> bool:
        """True where nothing more will happen."""
        return self in _OVER

    @property
    def leaves_order_open(self) -> bool:
        """True where the order can be paid by another payment."""
        return self in (State.REJECTED, State.NOT_MADE)


_OVER = (State.CHARGED, State.UNCLEAR, State.REJECTED, State.NOT_MADE)
_OPEN = tuple(state for state in State if state not in _OVER)

BEFORE: dict[State, tuple[State, ...]] = {
    State.PREPARED: (),
    State.AWAITING_PAYER: (State.PREPARED, State.CONFIRMING),
    # From here alone, and by one request alone: a password is sent once.
    State.CONFIRMING: (State.AWAITING_PAYER,),
    State.ACCEPTED: (State.PREPARED, State.CONFIRMING),
    State.UNKNOWN: (State.PREPARED, State.CONFIRMING),
    # The gateway's word that money was taken goes before its word that none was.
    State.CHARGED: (*_OPEN, State.NOT_MADE, State.REJECTED),
    State.UNCLEAR: (*_OPEN, State.NOT_MADE, State.REJECTED),
    State.REJECTED: _OPEN,
    State.NOT_MADE: (State.PREPARED,),
}
"""From which states each state can be reached. What was paid stays paid."""
