"""A shop in a few lines, and somebody who receives its callbacks."""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Iterator
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import kassa
import pytest

from kassa_sandbox import DialectName, Sandbox, cards, dialect_json, phones

pytest_plugins = ["pytester"]

PATIENCE = 60.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""The upper bound of a wait, in seconds. ``KASSA_PATIENCE`` multiplies it on a slow machine."""


class Shop:
    """Asks a sandbox through the SDK, and never twice."""

    def __init__(self, sandbox: Sandbox, dialect: DialectName = "interface") -> None:
        self.gateway = kassa.Gateway(
            sandbox.base_url,
            kassa.Credentials(*sandbox.credentials),
            dialect=kassa.Dialect.from_json(dialect_json(dialect)),
            query_retries=0,
        )

    def pay_by_card(
        self, order_number: str, pan: str = cards.WITHOUT_3DS_APPROVED.pan, callback_url: str = "http://127.0.0.1:9/c"
    ) -> kassa.CardPaymentCreated:
        return self.gateway.create_card_payment(
            kassa.CardPayment(
                order_number=order_number,
                description="Two tickets",
                amount=Decimal("100.10"),
                currency="KGS",
                card=kassa.Card(pan, "08", 2099, "123", "Aibek Usenov"),
                language="en",
                callback_url=callback_url,
                ip="203.0.113.7",
            )
        )

    def ask_for_otp(self, order_number: str) -> kassa.MbankPaymentCreated:
        return self.gateway.create_mbank_payment(
            kassa.MbankPayment(
                order_number=order_number, phone=phones.MBANK_APPROVED.phone, amount_som=250, comment="Lunch"
            )
        )

    def status(self, order_number: str) -> kassa.PaymentStatus | str:
        return self.gateway.provider_status(order_number, kassa.Provider.CARDS).status


@pytest.fixture
def shop(kassa_sandbox: Sandbox) -> Iterator[Shop]:
    shop = Shop(kassa_sandbox)
    with shop.gateway:
        yield shop


class Receiver:
    """Receives callbacks."""

    def __init__(self) -> None:
        self.received: queue.Queue[dict[str, Any]] = queue.Queue()
        received = self.received

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                received.put(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
                """Nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/callback"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def next(self) -> dict[str, Any]:
        return self.received.get(timeout=PATIENCE)

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    receiver = Receiver()
    yield receiver
    receiver.close()
