"""Orders and their payments, in SQLite.

Every change is on the disk when its method returns, and is one transaction. The calls are short and block the event loop for
as long; a shop with many payers at once would use a database server.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Literal

import kassa

from .catalogue import CURRENCY, Cart
from .states import BEFORE, State

MOST_HINTS = 20
"""How many different callbacks and returns of a payment are kept. A real one has three or four."""


@dataclass(frozen=True)
class Order:
    """What somebody wants to buy."""

    reference: str
    """Names the order in the addresses of its pages. Nobody can guess it."""
    cart: Cart
    amount: Decimal
    currency: str


@dataclass(frozen=True)
class Payment:
    """One attempt to pay an order."""

    id: str
    """The shop's own reference, which is in the query of the callback and return URLs."""
    order_reference: str
    ref: kassa.PaymentRef
    """What the gateway is asked with, and its answer compared with."""
    state: State
    version: int
    detail: str | None


@dataclass(frozen=True)
class Hint:
    """What a callback or a returning payer has said."""

    key: str
    kind: Literal["callback", "return"]
    text: str
    """The callback's body, or the order number that the payer came back with."""


class AnotherGateway(Exception):
    """The database belongs to another gateway."""


class PaymentUnderWay(Exception):
    """The order has a payment already that may take money, or has taken it."""


class Orders:
    """The database."""

    def __init__(self, path: Path, gateway: str) -> None:
        """Opens it, or makes it. ``gateway`` names the gateway that its payments are made with."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._database = sqlite3.connect(path, isolation_level=None, timeout=10)
        self._database.row_factory = sqlite3.Row
        for pragma in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
            self._database.execute(f"PRAGMA {pragma}")
        with self._transaction() as database:
            if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'shop'").fetchone():
                schema = (Path(__file__).parent / "schema.sql").read_text()
                _run_all(database, schema)
                database.execute("INSERT INTO shop (gateway) VALUES (?)", (gateway,))
        (belongs_to,) = self._database.execute("SELECT gateway FROM shop").fetchone()
        if belongs_to != gateway:
            self.close()
            raise AnotherGateway(
                f"{path} holds the payments of {belongs_to}; use another folder for those of {gateway}"
            )

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

    # Payments

    def begin(self, order: Order, payment_id: str, ref: kassa.PaymentRef) -> Payment:
        """Stores a payment that is about to be sent. `PaymentUnderWay` where the order has one already."""
        try:
            with self._transaction() as database:
                database.execute(
                    "INSERT INTO payments (id, order_reference, payment_ref, state) VALUES (?, ?, ?, ?)",
                    (payment_id, order.reference, str(ref), State.PREPARED.value),
                )
                _take_numbers(database, payment_id, ref)
        except sqlite3.IntegrityError:
            raise PaymentUnderWay from None
        return self.payment(payment_id)

    def payment(self, payment_id: str) -> Payment:
        """The payment with an id; `LookupError` where there is none."""
        row = self._database.execute("SELECT * FROM payments WHERE id = ?", (payment_id,)).fetchone()
        if row is None:
            raise LookupError(payment_id)
        return _payment(row)

    def latest_payment(self, order: Order) -> Payment | None:
        """The last payment of an order."""
        sql = "SELECT * FROM payments WHERE order_reference = ? ORDER BY state IN ('rejected', 'not_made'), number DESC"
        row = self._database.execute(sql, (order.reference,)).fetchone()
        return None if row is None else _payment(row)

    def open_payments(self) -> list[Payment]:
        """Every payment that is not over."""
        payments = map(_payment, self._database.execute("SELECT * FROM payments ORDER BY number").fetchall())
        return [payment for payment in payments if not payment.state.is_over]

    def move(self, payment_id: str, state: State, *, detail: str | None = None) -> bool:
        """Puts a payment into another state. False, and nothing changes, where there is no way there from where it is."""
        marks = ", ".join("?" * len(BEFORE[state]))
        with self._transaction() as database:
            changed = database.execute(
                f"""UPDATE payments SET state = ?, detail = ?, version = version + 1
                    WHERE id = ? AND state IN ({marks})""",  # noqa: S608 - question marks alone
                (state.value, detail, payment_id, *(s.value for s in BEFORE[state])),
            )
        return changed.rowcount == 1

    def learn(self, payment_id: str, ref: kassa.PaymentRef) -> bool:
        """Stores a reference that knows more. False, and nothing changes, where one of its numbers is another payment's."""
        try:
            with self._transaction() as database:
                _take_numbers(database, payment_id, ref)
                database.execute("UPDATE payments SET payment_ref = ? WHERE id = ?", (str(ref), payment_id))
        except sqlite3.IntegrityError:
            return False
        return True

    # Hints

    def add_hint(self, payment_id: str, hint: Hint) -> bool:
        """Keeps a hint, once. False where a payment has too many."""
        with self._transaction() as database:
            row = (payment_id, hint.key, hint.kind, hint.text)
            held = database.execute(
                "SELECT count(*), coalesce(sum(key = ?), 0) FROM hints WHERE payment_id = ?", (hint.key, payment_id)
            )
            count, is_known = held.fetchone()
            if not is_known and count < MOST_HINTS:
                database.execute("INSERT INTO hints (payment_id, key, kind, text) VALUES (?, ?, ?, ?)", row)
        return bool(is_known) or count < MOST_HINTS

    def open_hints(self, payment_id: str) -> list[Hint]:
        """The hints that the gateway was not asked about yet."""
        rows = self._database.execute(
            "SELECT key, kind, text FROM hints WHERE payment_id = ? AND is_open ORDER BY key", (payment_id,)
        )
        return [Hint(row["key"], row["kind"], row["text"]) for row in rows]

    def close_hint(self, payment_id: str, hint: Hint) -> None:
        """Notes that a hint has been dealt with."""
        with self._transaction() as database:
            database.execute("UPDATE hints SET is_open = 0 WHERE payment_id = ? AND key = ?", (payment_id, hint.key))

    def payments_with_open_hints(self) -> list[str]:
        """The ids of payments that have some."""
        return [row[0] for row in self._database.execute("SELECT DISTINCT payment_id FROM hints WHERE is_open")]

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


def _take_numbers(database: sqlite3.Connection, payment_id: str, ref: kassa.PaymentRef) -> None:
    for number in (ref.order_number, ref.gateway_number, ref.transaction_id):
        if number is None:
            continue
        # As the laziest database would compare them: a gateway may know one payment by several spellings.
        number = number.strip().casefold()
        taken = database.execute("SELECT payment_id FROM numbers WHERE number = ?", (number,)).fetchone()
        if taken is None or taken["payment_id"] != payment_id:
            database.execute("INSERT INTO numbers (number, payment_id) VALUES (?, ?)", (number, payment_id))


def _payment(row: sqlite3.Row) -> Payment:
    return Payment(
        id=row["id"],
        order_reference=row["order_reference"],
        ref=kassa.PaymentRef.parse(row["payment_ref"]),
        state=State(row["state"]),
        version=row["version"],
        detail=row["detail"],
    )
