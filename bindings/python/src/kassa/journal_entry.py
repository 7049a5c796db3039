"""Entries of a journal."""

from datetime import datetime
from enum import Enum
from typing import Any, NoReturn, TypeAlias

from . import _check
from ._codec import flat_enum, itself, read_as, record, variant
from ._dataclass import dataclass
from .payments import PaymentRef


@flat_enum("JournalState")
class JournalState(Enum):
    """The state of a payment in a journal."""

    UNKNOWN = "unknown"
    """It was sent, or was about to be, and there is no trustworthy response. **It may have happened**: query it."""
    PENDING = "pending"
    """The gateway accepted it. Query its status until it is final."""
    CHARGED = "charged"
    """The gateway reported that the money was taken. Deliver the goods, then finish the entry."""
    MISMATCH = "mismatch"
    """The gateway's report does not match the request. Let a person look, then finish the entry."""
    REJECTED = "rejected"
    """It ended without the money being taken."""

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether it is kassa.JournalState.CHARGED")

    def __str__(self) -> str:
        return self.value


@record("JournalEntry")
@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A payment in a `Journal`. Query its ``payment`` (``gateway.check``), deliver what is charged, then ``finish`` it.

    It holds no secrets, but anyone with the page's URL can open it.
    """

    id: str
    """The entry's id, for finishing it."""
    payment: PaymentRef
    """The payment reference, for status queries."""
    begun: datetime
    """When it was recorded, before anything was sent: in UTC."""
    state: JournalState
    """What is known of the payment."""
    is_finished: bool = False
    """Whether ``finish`` was called for it: nothing is left to do."""
    reason: str | None = None
    """The gateway's last message, after the reported number if that is not the payment's; for a mismatch the fields that
    differ from the request, such as ``amount, currency``. At most 256 characters."""
    code: str | None = None
    """The gateway's code in the response to the create request, if any."""
    page_url: str | None = None
    """The page that the payer opens: the 3DS confirmation, or the pay-form."""
    qr_text: str | None = None
    """The text of the QR code, to be drawn with `QrCode`."""
    note: str | None = None
    """Your own note, such as the order in the shop: see ``with_note`` of the gateway."""

    def __post_init__(self) -> None:
        _check.text("id", self.id)
        _check.instance("payment", self.payment, PaymentRef)
        _check.moment("begun", self.begun)
        _check.instance("state", self.state, JournalState)
        _check.flag("is_finished", self.is_finished)
        for name in ("reason", "code", "page_url", "qr_text", "note"):
            _check.optional_text(name, getattr(self, name))

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether entry.state is kassa.JournalState.CHARGED, or the entry None")


@variant("Unfinished.Unreadable")
@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file of a `Journal` that cannot be read: truncated, damaged, of a newer version, or not a journal file. It is kept,
    and blocks its order number, until a person has looked and finished it."""

    id: str
    """The file's name, for finishing it."""
    why: str
    """The error."""

    def __post_init__(self) -> None:
        _check.text("id", self.id)
        _check.text("why", self.why)

    def __bool__(self) -> NoReturn:
        _check.no_truth(self, "whether it is a kassa.JournalEntry (isinstance) and its state CHARGED")


Unfinished: TypeAlias = JournalEntry | Unreadable
"""An unfinished item of a journal: a payment that is pending, unknown or a mismatch, or charged and not yet finished;
or a file that cannot be read."""

read_as("Unfinished.Payment", itself)


def id_of(entry: Unfinished | str) -> str:
    """The id for finishing it."""
    if isinstance(entry, JournalEntry | Unreadable):
        return entry.id
    given: Any = entry
    if not isinstance(given, str):
        raise _check.wrong("entry", "a kassa.JournalEntry, a kassa.Unreadable or a str, its id", given)
    return _check.text("entry", given)
