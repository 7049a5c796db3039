"""What is sent is written down first (write-ahead log), so that no payment is forgotten by a program that dies."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

from . import _check, _schedulers
from ._calls import call_on_disk
from ._convert import lowers
from ._forks import leave_behind
from ._generated import native
from .errors import Misconfigured
from .journal_entry import JournalEntry, Unfinished, id_of
from .payments import PaymentRef


class Journal:
    """A folder in which a gateway writes down what it sends, **before** it sends it. Give it to the gateway, or let the
    gateway open it: ``kassa.Gateway(..., journal="/var/lib/shop/payments")``. Then

    * every payment has an entry, flushed to the disk, before a byte of it is sent; what came back, and how it ended, is
      noted by the gateway itself;
    * **the same order number is never sent twice**, by any thread, process or program that shares the folder, living or
      dead: a second try is `kassa.OutcomeUnknown` and names what is known of the first. Where the first ended in an error
      that says that nothing happened, the number is free again. The confirmation of a mobile-bank payment is not sent again
      while it is unknown what the first one did;
    * ``gateway.recover()`` polls every unfinished payment until it is final, also after a crash: deliver what is charged,
      and ``finish`` it. ``unfinished()`` lists it without asking anybody.

    Where an entry cannot be written, nothing is sent (`kassa.Unavailable`). Entries hold no secret, and can be read by the
    owner alone. One folder serves any number of processes, for **one gateway and one merchant**: an order number says
    nothing of where it was sent. It must be on a file system of the machine itself.

    Pay-forms and QR codes of which the gateway tells no transaction have no number to be found by: their entries have a name
    (``entry_id``) that you give or the journal makes, and their payments a number once a callback or a return claims one.

    Any thread may use it. Its methods wait for the disk; in an event loop there are ``unfinished`` and ``finish`` of
    `AsyncGateway`, which do not. After a fork it goes on working in the child. Pickled, it is its folder, opened again
    where it is read.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Gateway("https://pay.example.kg", kassa.Credentials("shop", "secret"), journal=folder.name) as gateway:
    ...     for recovered in gateway.recover():
    ...         print("deliver or look at", recovered)
    >>> folder.cleanup()
    """

    __slots__ = ("__weakref__", "_folder", "_here")

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Opens the journal in a folder, which is made if need be, and removes what was finished more than 90 days ago.

        Raises `kassa.Misconfigured` where the folder cannot be made, read or written.
        """
        given = _check.path("folder", folder)
        self._open(given)
        # A program that goes to another folder must not begin another journal after a fork.
        self._folder = os.path.join(os.getcwd(), given)  # noqa: PTH109, PTH118 (pathlib would be a twentieth of Kassa's import)

    @classmethod
    def open(cls, folder: str | os.PathLike[str]) -> Journal:
        """The same as ``Journal(folder)``."""
        return cls(folder)

    def unfinished(self) -> Iterator[Unfinished]:
        """All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. The oldest
        first, by the day on which they were begun. They are read as they are asked for, so that any number of them needs
        little memory.

        Raises `kassa.Unavailable` where the journal cannot be read.
        """
        return Pages(call_on_disk(self._core().unfinished_pages)).items()

    def entry(self, payment: PaymentRef) -> JournalEntry | None:
        """What is known of a payment, finished or not; None where it has no entry.

        Raises `kassa.Unavailable` where the entry cannot be read.
        """
        entry: JournalEntry | None = call_on_disk(self._core().entry, _check.instance("payment", payment, PaymentRef))
        return entry

    def finish(self, entry: Unfinished | str) -> None:
        """Says that a payment is done with, by its entry or the entry's ``id``: the goods were delivered, or a person has
        dealt with it. It is listed no more, and kept for 90 days; its order number stays taken. Finishing it again does
        nothing.

        Raises `kassa.Invalid` where there is no such entry, and `kassa.Unavailable` where that cannot be written: then it
        is still unfinished.
        """
        call_on_disk(self._core().finish, id_of(entry))

    def prune(self, older_than: timedelta | float) -> None:
        """Removes finished entries for good: those of months that ended longer ago than this, a `timedelta` or a number of
        seconds. Their order numbers are forgotten with them.

        Raises `kassa.Unavailable` where they cannot be removed.
        """
        call_on_disk(self._core().prune, _check.duration("older_than", older_than))

    def _open(self, folder: str) -> Any:
        core = call_on_disk(native.Journal.open, folder)
        # At once, so that no other thread takes this one for what was left behind.
        self._here: tuple[int, Any] = os.getpid(), core
        return core

    def _core(self) -> Any:
        """The core's journal of this process: a lock of one that was forked away from may be held for ever."""
        process, core = self._here
        if process == os.getpid():
            return core
        leave_behind(core)
        return self._open(self._folder)

    def __repr__(self) -> str:
        return f"Journal({self._folder!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return Journal, (self._folder,)


lowers(Journal, lambda journal: journal._core())


def opened(journal: Journal | str | os.PathLike[str]) -> Journal:
    """A journal, which may be given by its folder."""
    if isinstance(journal, Journal):
        return journal
    return Journal(_check.path("journal", journal, "a kassa.Journal, a str or an os.PathLike"))


class Pages:
    """What is unfinished, many at a time: each crossing into the core costs about as much as reading an entry."""

    __slots__ = ("_pages", "_process")

    def __init__(self, pages: Any) -> None:
        self._pages = pages
        self._process = os.getpid()

    def next(self) -> tuple[Unfinished, ...]:
        """The next ones; none after the last one. It waits for the disk."""
        if self._process != os.getpid():
            raise Misconfigured("what is unfinished was asked for before a fork; ask again in this process")
        page: tuple[Unfinished, ...] = call_on_disk(self._pages.next_page)
        return page

    def items(self) -> Iterator[Unfinished]:
        """One by one."""
        while page := self.next():
            yield from page

    async def items_read_apart(self) -> AsyncIterator[Unfinished]:
        """One by one, read in a thread, so that the event loop never waits for the disk."""
        while page := await _schedulers.in_thread(self.next):
            for item in page:
                yield item
