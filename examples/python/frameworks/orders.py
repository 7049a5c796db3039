"""The shop's orders, in SQLite. In your shop this is a table of your own database, behind your own ORM."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager


# docs: begin orders
class Orders:
    """An order is ``new``, then ``paid``, then ``delivered``."""

    def __init__(self, path: str) -> None:
        self._path = path
        with self._transaction() as database:
            database.execute("CREATE TABLE IF NOT EXISTS orders (reference TEXT PRIMARY KEY, state TEXT NOT NULL)")

    def add(self, reference: str) -> None:
        """Before anything is paid, so that no event is about an order that the shop does not know."""
        with self._transaction() as database:
            database.execute("INSERT INTO orders VALUES (?, 'new')", [reference])

    def state(self, reference: str) -> str | None:
        """None if there is no such order."""
        with self._transaction() as database:
            row = database.execute("SELECT state FROM orders WHERE reference = ?", [reference]).fetchone()
        return None if row is None else str(row[0])

    def mark_paid(self, reference: str) -> bool:
        """Marks an order as paid. A repetition changes nothing. False if there is no such order."""
        with self._transaction() as database:
            database.execute("UPDATE orders SET state = 'paid' WHERE reference = ? AND state = 'new'", [reference])
        return self.state(reference) is not None

    def list_in(self, state: str) -> list[str]:
        """The references of the orders in a state."""
        with self._transaction() as database:
            return [row[0] for row in database.execute("SELECT reference FROM orders WHERE state = ?", [state])]

    def deliver(self, reference: str, deliver: Callable[[str], None]) -> None:
        """Delivers a paid order, once. One process at a time does it; after a crash in the middle it is done again."""
        with self._transaction() as database:
            paid = "UPDATE orders SET state = 'delivered' WHERE reference = ? AND state = 'paid'"
            if database.execute(paid, [reference]).rowcount == 1:
                deliver(reference)  # if it fails, the order stays paid
                # docs: end orders

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection, None, None]:
        # A connection for each transaction, so that threads, greenlets and forked processes share none.
        with closing(sqlite3.connect(self._path, timeout=30, isolation_level=None)) as database:
            database.execute("BEGIN IMMEDIATE")
            try:
                yield database
            except BaseException:
                database.execute("ROLLBACK")
                raise
            database.execute("COMMIT")
