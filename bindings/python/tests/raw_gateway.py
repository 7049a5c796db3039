"""A gateway that is nothing but a socket, and does exactly what a test tells it to."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal
from typing import Any

import kassa

Answer = Callable[[socket.socket], None]

CREDENTIALS = kassa.Credentials("shop", "the-password-of-the-tests")


class RawGateway:
    """Answers one request a connection, by the answers given in turn; the last one goes on."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{self._listener.getsockname()[1]}"
        self.requests: list[bytes] = []
        self.received = threading.Semaphore(0)
        self._answers: list[Answer] = []
        self._open: list[socket.socket] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def answers(self, *answers: Answer) -> None:
        self._answers = list(answers)

    def gateway(self, **settings: Any) -> kassa.Gateway:
        return kassa.Gateway(self.url, CREDENTIALS, **settings)

    def async_gateway(self, **settings: Any) -> kassa.AsyncGateway:
        return kassa.AsyncGateway(self.url, CREDENTIALS, **settings)

    def __enter__(self) -> RawGateway:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
            connection.close()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.append(connection)
                threading.Thread(target=self._converse, args=(connection,), daemon=True).start()

    def _secured(self, connection: socket.socket) -> socket.socket:
        return self._tls.wrap_socket(connection, server_side=True) if self._tls else connection

    def _converse(self, connection: socket.socket) -> None:
        # Its answer closes it, or there is none to come.
        with suppress(OSError), self._secured(connection) as connection:
            request = read_request(connection)
            if not request:
                return
            self.requests.append(request)
            answer = self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]
            self.received.release()
            answer(connection)


def read_request(connection: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        more = connection.recv(65536)
        if not more:
            return b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = next((int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0)
    while len(body) < length and (more := connection.recv(65536)):
        body += more
    return head + b"\r\n\r\n" + body


def response(status: int, body: str | bytes, *headers: str) -> Answer:
    """Responds at once and closes."""
    content = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}", "connection: close", *headers]

    def answer(connection: socket.socket) -> None:
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        connection.close()

    return answer


def envelope(status: int, code: str, message: str = "", data: dict[str, object] | None = None) -> Answer:
    return response(status, json.dumps({"code": code, "message": message, "data": data or {}}))


def silence(connection: socket.socket) -> None:
    """Never responds; leaves when the other side does."""
    with connection, suppress(OSError):
        while connection.recv(65536):
            pass


def hang_up(connection: socket.socket) -> None:
    """Closes without a response."""
    connection.close()


def after(event: threading.Event, answer: Answer) -> Answer:
    """Responds when a test says so."""

    def wait_and_answer(connection: socket.socket) -> None:
        event.wait()
        answer(connection)

    return wait_and_answer


_closed = list[socket.socket]()


def closed_port() -> str:
    """An address where nobody listens, and nobody else can: the port stays bound."""
    bound = socket.socket()
    bound.bind(("127.0.0.1", 0))
    _closed.append(bound)
    return f"http://127.0.0.1:{bound.getsockname()[1]}"


CHARGED = envelope(200, "200", "PAYMENT_SUCCESS", {"orderNumber": "o-1", "amount": 250, "status": "CHARGE"})
OPEN = envelope(200, "200", "WAIT", {"orderNumber": "o-1", "status": "HOLD"})
CREATED = envelope(200, "110", "CREATED", {"status": "Success"})


def card(pan: str = "4111111111111111", cvc: str = "123") -> kassa.Card:
    return kassa.Card(pan, "08", 2031, cvc, "Aibek Usenov")


def card_payment(**changes: Any) -> kassa.CardPayment:
    fields: dict[str, Any] = {
        "order_number": kassa.new_order_number(),
        "description": "Two tickets",
        "amount": Decimal("100.10"),
        "currency": "KGS",
        "card": card(),
        "language": "en",
        "return_url": "https://shop.example.kg/back",
        "callback_url": "http://127.0.0.1:9/callback",
        "ip": "203.0.113.7",
    }
    return kassa.CardPayment(**(fields | changes))


def mbank_payment(**changes: Any) -> kassa.MbankPayment:
    fields: dict[str, Any] = {
        "order_number": kassa.new_order_number(),
        "phone": "996555000101",
        "amount_som": 250,
        "comment": "Two tickets",
    }
    return kassa.MbankPayment(**(fields | changes))


def megapay_payment(**changes: Any) -> kassa.MegapayPayment:
    fields: dict[str, Any] = {
        "order_number": kassa.new_order_number(),
        "amount": Decimal("250.50"),
        "phone": "996755000201",
        "account": "7",
    }
    return kassa.MegapayPayment(**(fields | changes))
