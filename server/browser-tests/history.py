"""A server with a checkout in every state that people of the staff meet."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from types import TracebackType
from typing import Any

from kassa_sandbox import phones
from kassa_server.testing import KassaServer

from patience import PATIENCE

DAY = "2024-03-05"
"""All charges are of this day, at noon, but one: that is of the day before."""
NOON = 1_709_640_000_000
TEXT = "A jar of honey from the mountains, with a very long description that has to be broken somewhere"


class History:
    """The server, and its checkouts by their references."""

    def __init__(self, database: Path) -> None:
        self.database = database
        self.server = KassaServer(settings={"database": str(database)})

    def __enter__(self) -> History:
        self.server.start()
        try:
            self._fill()
        except BaseException:
            self.server.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.stop()

    def path(self, reference: str) -> str:
        """Where the checkout's page is."""
        return f"/staff/checkouts/{self.server.checkout(reference)['id']}"

    def number(self, reference: str) -> str:
        """The order number of the checkout's last payment."""
        number: str = self.server.checkout(reference)["payments"][-1]["id"].removeprefix("pay_")
        return number

    def write(self, sql: str, *values: object) -> None:
        """Changes the database itself, for what no test can wait for."""
        with closing(sqlite3.connect(self.database, timeout=PATIENCE)) as database, database:
            database.execute(sql, values)

    def _fill(self) -> None:
        self._opened("nobody paid")
        for reference in ("paid", "paid-too", "paid-yesterday"):
            self._paid(reference)
        self._refused("refused-with-a-reference-that-is-as-long-as-a-reference-may-be-x")
        for reference in ("unknown", "unknown-too"):
            self._unknown(reference)
        self._paid("overpaid")
        self._paid("undelivered")
        charged = "UPDATE events SET at = ? WHERE kind = 'payment.charged' AND body LIKE ?"
        self.write(charged, NOON, "%")
        self.write(charged, NOON - 24 * 3600 * 1000, "%paid-yesterday%")
        self.write("UPDATE checkouts SET is_overpaid = 1, refunds_due = 1 WHERE reference = 'overpaid'")
        stream = "checkout_id = (SELECT id FROM checkouts WHERE reference = 'undelivered')"
        self.write(f"UPDATE streams SET is_given_up = 1, due_at = NULL WHERE {stream}")  # noqa: S608 - no one else's text

    def _opened(self, reference: str) -> str:
        wanted = {
            "reference": reference,
            "amount": "390",
            "description": TEXT,
            "return_url": "https://shop.example.kg/paid",
            "metadata": {"cart": "17"},
        }
        checkout = self.server.request("POST", "/v1/checkouts", wanted)
        token: str = self.server.request("POST", f"/v1/checkouts/{checkout['id']}/tokens")["token"]
        return token

    def _begun(self, reference: str) -> tuple[str, dict[str, Any]]:
        token = self._opened(reference)
        body = {"method": "mbank", "phone": phones.MBANK_APPROVED.phone}
        return token, self.server.request("POST", "/v1/checkout/payments", body, key=token, idempotency_key="first")

    def _paid(self, reference: str) -> None:
        token, payment = self._begun(reference)
        path = f"/v1/checkout/payments/{payment['id']}/confirm"
        self.server.request("POST", path, {"otp": phones.MBANK_APPROVED.otp}, key=token, idempotency_key="otp")
        self.server.wait_for("checkout.paid", reference=reference, timeout=timedelta(seconds=PATIENCE))

    def _refused(self, reference: str) -> None:
        with self.server.sandbox.faults.add("unauthorized", times=1):
            self._begun(reference)

    def _unknown(self, reference: str) -> None:
        """The gateway was asked, and never heard of it."""
        with self.server.sandbox.faults.add("response-lost", times=1, endpoint="mbank/pay"):
            self._begun(reference)
        self._wait(reference)
        # Nobody asks the gateway any more, which knows by now.
        one = "id = (SELECT id FROM payments WHERE checkout_id = (SELECT id FROM checkouts WHERE reference = ?))"
        self.write(f"UPDATE payments SET state = 'unknown', unknown_since = 1 WHERE {one}", reference)  # noqa: S608
        self.write(f"DELETE FROM due WHERE payment_{one}", reference)  # noqa: S608 - no one else's text

    def _wait(self, reference: str) -> None:
        """Until the gateway has been asked what became of it."""
        until = time.monotonic() + PATIENCE
        while self.server.checkout(reference)["payments"][-1]["state"] == "unknown":
            assert time.monotonic() < until, "the gateway was not asked"
            time.sleep(0.05)
