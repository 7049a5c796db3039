"""The journal: a write-ahead log of payments, so that none is forgotten when a program crashes."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

from . import _check, _schedulers
from ._codec import write_as
from ._core import native
from ._forks import leave_behind
from ._schedulers import on_disk
from .errors import Misconfigured
from .journal_entry import JournalEntry, Unfinished, id_of
from .payments import PaymentRef


class Journal:
    """A folder in which a gateway records each payment **before** sending it. Pass it to the gateway, or let the gateway open
    it: ``kassa.Gateway(..., journal="/var/lib/shop/payments")``. Then

    * every payment has an entry, flushed to the disk before anything is sent; the gateway adds the response and the final
      status;
    * **the same order number is never sent twice**, by any thread, process or program that shares the folder, even after a
      crash: a second attempt is `kassa.OutcomeUnknown` and says what is known of the first. If the first ended with an error
      that means that nothing happened, the number is free again. A mobile-bank confirmation is not sent again while the
      outcome of the first one is unknown;
    * ``gateway.recover()`` polls every unfinished payment until it is final, also after a crash: deliver what is charged, and
      ``finish`` it. ``unfinished()`` lists them without a query.

    If an entry cannot be written, nothing is sent (`kassa.Unavailable`). Entries hold no secrets and are readable only by the
    owner. One folder serves any number of processes, for **one gateway and one merchant**: an order number does not say
    where it was sent. The folder must be on a local file system.

    Pay-forms, and QR codes without a transaction id, have no number to query by. Their entries have a name (``entry_id``),
    which you give or the journal makes; their payments get a number when a callback or a return claims one.

    It is thread-safe. Its methods wait for the disk; in an event loop use ``unfinished`` and ``finish`` of `AsyncGateway`,
    which do not block it. After a fork it works in the child. A pickled journal is its folder, opened again when it is read.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Gateway("https://pay.example.kg", kassa.Credentials("shop", "secret"), journal=folder.name) as gateway:
    ...     for recovered in gateway.recover():
    ...         print("deliver or look at", recovered)
    >>> folder.cleanup()
    """

    __slots__ = ("__weakref__", "_folder", "_here")

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Opens the journal in a folder, which is created if needed, and removes entries that were finished more than 90 days
        ago.

        Raises `kassa.Misconfigured` if the folder cannot be created, read or written.
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
        """All unfinished entries: pending, unknown or mismatched payments, and charged ones that are not finished. Oldest
        first, by the day on which they began. They are read lazily, so any number of them needs little memory.

        Raises `kassa.Unavailable` if the journal cannot be read.
        """
        return Pages(on_disk(self._core().unfinished_pages)).items()

    def entry(self, payment: PaymentRef) -> JournalEntry | None:
        """What is known of a payment, finished or not; None if it has no entry.

        Raises `kassa.Unavailable` if the entry cannot be read.
        """
        entry: JournalEntry | None = on_disk(self._core().entry, _check.instance("payment", payment, PaymentRef))
        return entry

    def finish(self, entry: Unfinished | str) -> None:
        """Marks an entry as finished, by the entry or its ``id``: the goods were delivered, or a person has dealt with it. A
        finished entry is no longer listed; it is kept for 90 days, and its order number stays taken. Finishing it again does
        nothing.

        Raises `kassa.Invalid` if there is no such entry, and `kassa.Unavailable` if the change cannot be written: then the
        entry is still unfinished.
        """
        on_disk(self._core().finish, id_of(entry))

    def prune(self, older_than: timedelta | float) -> None:
        """Permanently removes finished entries from months that ended longer ago than this (a `timedelta` or a number of
        seconds). The journal then forgets their order numbers.

        Raises `kassa.Unavailable` if they cannot be removed.
        """
        on_disk(self._core().prune, _check.duration("older_than", older_than))

    def _open(self, folder: str) -> Any:
        core = on_disk(native.Journal.open, folder)
        # In one assignment, so that no other thread mistakes it for an object of the parent process.
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


write_as("@Journal", lambda journal: journal._core())


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
        """The next entries; none after the last one. It waits for the disk."""
        if self._process != os.getpid():
            raise Misconfigured("the list was opened before a fork; call unfinished() again in this process")
        page: tuple[Unfinished, ...] = on_disk(self._pages.next_page)
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
