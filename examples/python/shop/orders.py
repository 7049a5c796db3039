"""Orders, what was opened to have them paid, and what was told about that, in SQLite.

Every change is on the disk when its method returns. The calls are short and block the event loop for as long; a shop with many
payers at once would use a database server.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import astuple, dataclass
from decimal import Decimal
from pathlib import Path

from .catalogue import CURRENCY, Cart
from .standing import Event, Standing, State, standing


@dataclass(frozen=True)
class Order:
    """What somebody wants to buy."""

    reference: str
    """Names the order in the addresses of its pages. Nobody can guess it."""
    cart: Cart
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Checkout:
    """What the server was asked to have paid."""

    reference: str
    return_url: str
    id: str | None
    """The server's name of it; None as long as the server has not answered."""
    page_url: str | None
    """The page where the payer pays; None likewise."""


class NotPayable(Exception):
    """The order is paid or given up, or money may have been taken."""


class Orders:
    """The database."""

    def __init__(self, path: Path) -> None:
        """Opens it, or makes it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._database.row_factory = sqlite3.Row
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._database.execute(f"PRAGMA {pragma}")
        with self._transaction() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'orders'").fetchone():
                _run_all(database, (Path(__file__).parent / "schema.sql").read_text())

    def close(self) -> None:
        """Closes it."""
        self._database.close()

    # Orders

    def add_order(self, cart: Cart) -> Order:
        """A new order."""
        order = Order(secrets.token_urlsafe(16), cart, cart.amount, CURRENCY)
        with self._transaction() as database:
            database.execute(
                "INSERT INTO orders (reference, quantity, gift_box, amount, currency) VALUES (?, ?, ?, ?, ?)",
                (order.reference, cart.quantity, cart.gift_box, str(order.amount), order.currency),
            )
        return order

    def order(self, reference: str) -> Order | None:
        """The order with a reference."""
        row = self._database.execute("SELECT * FROM orders WHERE reference = ?", (reference,)).fetchone()
        if row is None:
            return None
        cart = Cart(row["quantity"], bool(row["gift_box"]))
        return Order(row["reference"], cart, Decimal(row["amount"]), row["currency"])

    def order_of(self, checkout: str) -> Order | None:
        """The order that a checkout was opened for."""
        sql = "SELECT order_reference FROM checkouts WHERE reference = ?"
        row = self._database.execute(sql, (checkout,)).fetchone()
        return None if row is None else self.order(row["order_reference"])

    def standing(self, order: Order) -> Standing:
        """How it stands."""
        return standing([checkout.reference for checkout in self.checkouts(order)], self.events(order))

    # Checkouts

    def checkouts(self, order: Order) -> list[Checkout]:
        """Those of an order, the newest last."""
        sql = "SELECT reference, return_url, id, page_url FROM checkouts WHERE order_reference = ? ORDER BY number"
        return [Checkout(*row) for row in self._database.execute(sql, (order.reference,))]

    def checkout_to_pay(self, order: Order, return_url: str) -> Checkout:
        """The one to pay the order by: the last one, or another one where the time of that is over. However often it is
        asked for, there is one. `NotPayable` where nobody shall pay."""
        with self._transaction() as database:
            now, known = self.standing(order), self.checkouts(order)
            if not now.can_be_paid:
                raise NotPayable(order.reference)
            if known and now.state != State.EXPIRED:
                return known[-1]
            reference = f"{order.reference}.{len(known) + 1}" if known else order.reference
            row = (reference, order.reference, return_url)
            database.execute("INSERT INTO checkouts (reference, order_reference, return_url) VALUES (?, ?, ?)", row)
        return Checkout(reference, return_url, None, None)

    def opened(self, reference: str, checkout_id: str, page_url: str) -> None:
        """Notes what the server has answered."""
        with self._transaction() as database:
            row = (checkout_id, page_url, reference)
            database.execute("UPDATE checkouts SET id = ?, page_url = ? WHERE reference = ?", row)

    # Events

    def take(self, event: Event) -> bool:
        """Keeps an event. False where it was kept before: it comes again, and changes nothing."""
        with self._transaction() as database:
            sql = "INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING"
            return database.execute(sql, astuple(event)).rowcount == 1

    def told(self, order: Order) -> Standing:
        """How it stood when the shop's people were told the last time."""
        row = self._database.execute(
            "SELECT state, owed FROM told WHERE order_reference = ?", (order.reference,)
        ).fetchone()
        return Standing(State.OPEN) if row is None else Standing(State(row["state"]), row["owed"])

    def note_told(self, order: Order, now: Standing) -> None:
        """Notes that they were."""
        with self._transaction() as database:
            database.execute(
                "INSERT OR REPLACE INTO told VALUES (?, ?, ?)", (order.reference, now.state.value, now.owed)
            )

    def events(self, order: Order) -> list[Event]:
        """All about an order."""
        sql = """SELECT events.* FROM events JOIN checkouts ON checkouts.reference = events.checkout
            WHERE checkouts.order_reference = ?"""
        return [Event(*row) for row in self._database.execute(sql, (order.reference,))]

    @contextmanager
    def _transaction(self) -> Generator[sqlite3.Connection]:
        self._database.execute("BEGIN IMMEDIATE")
        try:
            yield self._database
        except BaseException:
            self._database.execute("ROLLBACK")
            raise
        self._database.execute("COMMIT")


def _run_all(database: sqlite3.Connection, script: str) -> None:
    """As ``executescript``, which would end the transaction."""
    statement = ""
    for line in script.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            database.execute(statement)
            statement = ""
