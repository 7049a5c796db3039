"""A merchant: asks the gateway for payments, and has a site that payers come back to."""

from __future__ import annotations

import base64
import json
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from types import TracebackType
from typing import Any

from kassa_sandbox import Sandbox, TestCard, cards

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PAGE = (
    b'<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,"><main><h1>The shop</h1></main>'
)


class _Site(BaseHTTPRequestHandler):
    """Answers everything: payers' browsers and the gateway's callbacks."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the standard library's name
        """Says nothing."""


class Shop:
    """A merchant with the sandbox's credentials, and a site on this machine."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,))
        self.host = f"127.0.0.1:{self._server.server_port}"
        self.return_url = f"http://{self.host}/thanks?cart=7"
        self.callback_url = f"http://{self.host}/callback"

    def __enter__(self) -> Shop:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def card_payment(
        self, card: TestCard = cards.APPROVED, *, order: str = "order-17", language: str = "en", amount: str = "1234.50"
    ) -> str:
        """Registers a card payment; the address of its confirmation page."""
        answer = self._ask(
            "/api/v1.1.0/payment",
            amount,
            orderNumber=order,
            description="Two jars of white honey",
            currency="KGS",
            pan=card.pan,
            expiryMonth="12",
            expiryYear=2099,
            cvc="123",
            language=language,
            name="Aibek Asanov",
            returnUrl=self.return_url,
            callbackUrl=self.callback_url,
            ip="203.0.113.7",
        )
        return str(answer["ConfirmationUrl"])

    def pay_form(self, amount: str = "1234.50", *, service: str = "Honey of the Ala-Too") -> str:
        """Makes a pay-form; its address."""
        answer = self._ask(
            "/api/v1.1.0/pay-form",
            amount,
            serviceName=service,
            callbackURL=self.callback_url,
            returnURL=self.return_url,
        )
        return str(answer["payFormUrl"])

    def qr(self, sum_tyiyn: int | None = 123450, *, requisite: str = "996700123456") -> str:
        """Makes a QR code; the address in it."""
        body: dict[str, object] = {"requisite": requisite, "callback_url": self.callback_url}
        if sum_tyiyn is not None:
            body["sum"] = sum_tyiyn
        return str(self._post("/gen/qr/dynamic/data", json.dumps(body))["qr_data"])

    def _ask(self, path: str, amount: str, **fields: object) -> dict[str, Any]:
        # The amount goes out digit for digit.
        return self._post(path, f'{{"amount": {amount}, {json.dumps(fields)[1:]}')

    def _post(self, path: str, body: str) -> dict[str, Any]:
        login, password = self._sandbox.credentials
        token = base64.b64encode(f"{login}:{password}".encode()).decode()
        headers = {"authorization": f"Basic {token}", "content-type": "application/json"}
        request = urllib.request.Request(f"{self._sandbox.base_url}{path}", body.encode(), headers)
        with DIRECT.open(request) as answer:
            data: dict[str, Any] = json.load(answer)["data"]
        return data
