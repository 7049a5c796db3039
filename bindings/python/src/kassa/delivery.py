"""The result of a delivery."""

from collections.abc import Iterator
from typing import NoReturn

from . import _check
from ._dataclass import dataclass
from .journal_entry import JournalEntry, JournalState, Unfinished


@dataclass(frozen=True, slots=True)
class DeliverySummary:
    """What ``deliver_forever`` or ``deliver_unfinished`` delivered, and what it left open when it ended."""

    delivered: int
    """How many payments the handler delivered and the journal has as finished."""
    left_open: tuple[Unfinished, ...] | None
    """The journal's unfinished entries: the next delivery continues with them. None if the journal could not be read."""

    @property
    def undelivered(self) -> tuple[JournalEntry, ...]:
        """Charged, and not delivered yet."""
        return tuple(entry for entry in self._payments() if entry.state is JournalState.CHARGED)

    @property
    def undecided(self) -> tuple[JournalEntry, ...]:
        """Pending or unknown: money may have moved, or may still move."""
        open_states = JournalState.PENDING, JournalState.UNKNOWN
        return tuple(entry for entry in self._payments() if entry.state in open_states)

    @property
    def for_a_person(self) -> tuple[Unfinished, ...]:
        """Mismatches, and files that cannot be read."""
        decided = *self.undelivered, *self.undecided
        return tuple(item for item in self.left_open or () if item not in decided)

    def _payments(self) -> Iterator[JournalEntry]:
        return (item for item in self.left_open or () if isinstance(item, JournalEntry))

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "summary.delivered or summary.left_open")

    def __str__(self) -> str:
        if self.left_open is None:
            return f"{self.delivered} delivered; the journal could not be read"
        counts = (
            f"{len(self.undelivered)} charged and not delivered, {len(self.undecided)} undecided, "
            f"{len(self.for_a_person)} for a person"
        )
        return f"{self.delivered} delivered; left open: {counts if self.left_open else 'nothing'}"
