"""A shop that calls the gateway by itself, with the standard library alone: for kassa-certify, and for mutants of it."""

from __future__ import annotations

import base64
import json
import os
import secrets
import sqlite3
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from decimal import Decimal, InvalidOperation
from http.client import HTTPConnection, HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast
from urllib.parse import urlsplit

PORT = int(os.environ["PORT"])
DATABASE = os.environ["SHOP_DATABASE"]
GATEWAY = urlsplit(os.environ["KASSA_GATEWAY_URL"])
CREDENTIALS = f"{os.environ['KASSA_GATEWAY_LOGIN']}:{os.environ['KASSA_GATEWAY_PASSWORD']}".encode()
LARGEST = 1_000_000


@contextmanager
def database() -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(DATABASE, timeout=30, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def call_gateway(method: str, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    """A request to the gateway. Everything but a JSON object with HTTP 200 is an error."""
    connection = HTTPConnection(GATEWAY.netloc, timeout=10)
    try:
        token = base64.b64encode(CREDENTIALS).decode()
        headers = {"Authorization": f"Basic {token}", "Content-Type": "application/json"}
        connection.request(method, f"/api/v1.1.0/{path}", json.dumps(dict(body)), headers)
        response = connection.getresponse()
        answer: Any = json.loads(response.read())
        if response.status >= 300 or not isinstance(answer["data"], dict):
            raise ValueError(f"HTTP {response.status}")
        return cast("dict[str, Any]", answer)
    finally:
        connection.close()


def open_order(amount: str) -> dict[str, str]:
    order = f"order-{secrets.token_hex(5)}"
    own = f"http://127.0.0.1:{PORT}"
    wanted = {
        "amount": int(amount),
        "serviceName": "A jar of honey",
        "callbackURL": f"{own}/callbacks/{order}",
        "returnURL": f"{own}/orders/{order}",
    }
    page = str(call_gateway("POST", "pay-form", wanted)["data"]["payFormUrl"])
    token = page.rpartition("token=")[2]
    # The gateway's order number of this payment: each later status has to name the same one.
    number = str(call_gateway("GET", "status", {"orderNumber": token})["data"]["orderNumber"])
    with database() as connection:
        connection.execute("INSERT INTO orders VALUES (?, ?, ?, ?, 'open', 0)", (order, amount, token, number))
    return {"order": order, "page": page}


def settle(order: str) -> None:
    """Asks the gateway about an order, and delivers it once if it is charged as wanted."""
    with database() as connection:
        row = connection.execute("SELECT amount, token, number, state FROM orders WHERE id = ?", (order,)).fetchone()
        if row is None or row[3] != "open":
            return
        amount, token, number, _ = row
        answer = call_gateway("GET", "status", {"orderNumber": token})
        data = answer["data"]
        is_charged = answer.get("code") == "200" and data.get("status") == "CHARGE"
        is_whole = Decimal(str(data.get("amount"))) == Decimal(amount) and data.get("currency") == "KGS"
        is_ours = data.get("orderNumber") == number
        if is_charged and is_whole and is_ours:
            # One statement: of several at the same time one finds the order open.
            sql = "UPDATE orders SET state = 'delivered', deliveries = deliveries + 1 WHERE id = ? AND state = 'open'"
            connection.execute(sql, (order,))


def poll() -> None:
    """A callback can be lost, so open orders are asked about."""
    while True:
        time.sleep(1)
        with database() as connection:
            rows = connection.execute(
                "SELECT id FROM orders WHERE state = 'open' ORDER BY rowid DESC LIMIT 100"
            ).fetchall()
        for (order,) in rows:
            with suppress(OSError, HTTPException, ValueError, InvalidOperation):
                settle(order)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self, status: int, body: dict[str, object] | None = None) -> None:
        text = json.dumps(body or {}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def body(self) -> bytes:
        length = int(self.headers.get("Content-Length") or 0)
        if length > LARGEST:
            raise ValueError("too large")
        return self.rfile.read(length)

    def do_GET(self) -> None:
        with database() as connection:
            order = urlsplit(self.path).path.removeprefix("/orders/")
            row = connection.execute("SELECT id, state, deliveries FROM orders WHERE id = ?", (order,)).fetchone()
        if row is None:
            self.respond(404)
        else:
            self.respond(200, {"order": row[0], "state": row[1], "deliveries": row[2]})

    def do_POST(self) -> None:
        try:
            body = self.body()
            path = urlsplit(self.path).path
            if path == "/orders":
                self.respond(201, dict(open_order(json.loads(body)["amount"])))
            elif path.startswith("/callbacks/"):
                # What a callback says proves nothing. It is the reason to ask.
                settle(path.removeprefix("/callbacks/"))
                self.respond(200)
            elif path.startswith("/orders/"):
                self.do_GET()
            else:
                self.respond(404)
        except (OSError, HTTPException, ValueError, KeyError, InvalidOperation):
            # Not taken: the gateway sends it again.
            self.close_connection = True
            self.respond(503)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the name in the base class)
        """Nothing."""


with database() as first:
    first.execute("PRAGMA journal_mode = WAL")
    columns = "id TEXT PRIMARY KEY, amount TEXT, token TEXT, number TEXT, state TEXT, deliveries INTEGER"
    first.execute(f"CREATE TABLE IF NOT EXISTS orders ({columns})")
threading.Thread(target=poll, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
