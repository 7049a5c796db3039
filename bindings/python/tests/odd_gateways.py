"""Gateways of a few lines that answer in ways of their own, and remember what came."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

Fields = dict[str, Any]
Answer = Callable[[str, Fields], tuple[int, str]]

BASE = "/api/v1.1.0"


class OddGateway:
    """Answers by a function of the path and the fields of a request."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self._lock = threading.Lock()
        self.paths: list[str] = []
        self.url = ""

    def take(self, path: str, sent: Fields) -> tuple[int, str]:
        with self._lock:
            self.paths.append(path)
            return self._answer(path, sent)

    def count(self, end: str) -> int:
        return sum(path.endswith(end) for path in self.paths)


@contextmanager
def running(answer: Answer) -> Generator[OddGateway]:
    gateway = OddGateway(answer)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _response(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            target = urlsplit(self.path)
            try:
                sent: Fields = json.loads(body)
            except ValueError:
                sent = dict(parse_qsl(target.query))
            status, text = gateway.take(target.path, sent)
            content = text.encode()
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = _response  # noqa: N815 - the name is http.server's
        do_POST = _response  # noqa: N815 - the name is http.server's

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is http.server's
            """Nothing is written."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    gateway.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield gateway
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def enveloped(code: str, data: Fields) -> tuple[int, str]:
    return 200, json.dumps({"code": code, "message": "OK", "data": data})


def renamed() -> Answer:
    """Another envelope, other names, other words. It repeats the phone and the card."""
    paid: dict[str, bool] = {}
    payers: dict[str, list[Any]] = {}
    ok = {"resultCode": "0", "resultText": "OK"}

    def answer(path: str, sent: Fields) -> tuple[int, str]:
        number = str(sent.get("orderNumber", ""))
        if path in (f"{BASE}/payment", f"{BASE}/mbank/pay"):
            paid[number], payers[number] = path.endswith("/payment"), [sent.get("phone"), sent.get("pan")]
        elif path == f"{BASE}/pay-form":
            return 200, json.dumps({"head": ok, "body": {"link": "https://pay.example.kg/f/1"}})
        order = next((order for order in paid if number in (order, f"R{order}")), None)
        if order is None:
            return 404, json.dumps({"head": {"resultCode": "44", "resultText": "unknown"}})
        if path.endswith("/confirm"):
            paid[order] = True
        state = "PAID" if paid[order] else "NEW"
        body = {"no": order, "ref": f"R{order}", "sum": 1, "ccy": "KGS", "state": state, "payer": payers[order]}
        return 200, json.dumps({"head": ok, "body": body})

    return answer


def by_quid() -> Answer:
    """The envelope of the interface; a confirmation must carry the quid in the place of the order number."""
    paid: dict[str, bool] = {}

    def answer(path: str, sent: Fields) -> tuple[int, str]:
        number = str(sent.get("orderNumber", ""))
        if path == f"{BASE}/mbank/pay":
            paid[number] = False
            return enveloped("110", {"amount": 1, "quid": f"FP{number}", "dateTime": "2026-11-28T16:50:58"})
        order = next((order for order in paid if number in (order, f"FP{order}")), None)
        if order is not None and path == f"{BASE}/mbank/confirm" and number == f"FP{order}":
            paid[order] = True
            return enveloped("120", {"quid": number})
        if order is not None and path in (f"{BASE}/status", f"{BASE}/get-status"):
            word = "CHARGE" if paid[order] else "CREATED"
            return enveloped("200", {"orderNumber": order, "amount": 1, "currency": "KGS", "status": word})
        return 404, json.dumps({"code": "404", "message": "no such payment"})

    return answer


def pages() -> Answer:
    """Something that is no gateway, with pages and with nothing."""
    return lambda path, _: (200, "" if path == f"{BASE}/get-status" else "<html><body>Welcome</body></html>")


def slow() -> Answer:
    """The outcome of a confirmation is unknown, and some questions later the payment is charged. About numbers that nobody
    has, it answers in a form of its own."""
    order = ""
    questions = 0

    def answer(path: str, sent: Fields) -> tuple[int, str]:
        nonlocal order, questions
        number = str(sent.get("orderNumber", ""))
        if path == f"{BASE}/mbank/pay":
            order = number
            return enveloped("110", {"amount": 1, "quid": f"FP{order}"})
        if path == f"{BASE}/mbank/confirm":
            questions = 1
            return 500, "down"
        if not order or number not in (order, f"FP{order}"):
            return 200, json.dumps({"head": {"resultCode": "44"}, "body": {"state": "CHARGE", "info": "none"}})
        word = "CHARGE" if questions > 3 else "CREATED"
        questions += 1 if questions else 0
        return enveloped("200", {"orderNumber": order, "amount": 1, "currency": "KGS", "status": word})

    return answer


COMPLETE = {
    "endpoints": {
        "mbank_payment": {"success_codes": ["110"]},
        "mbank_confirm": {"success_codes": ["120"]},
        "pay_form": {"success_codes": ["0"], "pay_form_url": ["/data/page"]},
        "qr_image": {"success_codes": ["0"], "image": ["/data/image"]},
        "qr_data": {"success_codes": ["0"], "qr_payload": ["/data/qr"], "transaction_id": ["/data/transaction"]},
    },
    "mbank_identifier": {"pointers": ["/data/id"], "confirm_field": None},
}
"""The dialect of the complete gateway, beside the interface."""


def complete(png: bytes) -> Answer:
    """Answers with nothing but what its dialect reads. A card is charged at once."""
    paid: dict[str, bool] = {}

    def answer(path: str, sent: Fields) -> tuple[int, str]:
        number = str(sent.get("orderNumber", ""))
        match path.removeprefix(BASE):
            case "/payment" | "/mbank/pay":
                paid[number] = path.endswith("/payment")
                return enveloped("110", {"orderNumber": number, "amount": 1})
            case "/mbank/confirm" if number in paid:
                paid[number] = True
                return enveloped("120", {"orderNumber": number})
            case "/pay-form":
                return enveloped("0", {"page": "https://pay.example.kg/f/1"})
            case "/gen/qr/dynamic":
                return enveloped("0", {"image": base64.b64encode(png).decode()})
            case "/gen/qr/dynamic/data":
                return enveloped("0", {"qr": "https://pay.example.kg/q/1", "transaction": "T-1000001"})
            case "/gen/qr/transaction/status" if "T-1000001" in sent.values():
                return enveloped("200", {"orderNumber": "T-1000001", "amount": 100, "status": "CREATED"})
            case "/status" | "/get-status" if number in paid:
                word = "CHARGE" if paid[number] else "CREATED"
                return enveloped("200", {"orderNumber": number, "amount": 1, "currency": "KGS", "status": word})
            case _:
                return 404, json.dumps({"code": "404", "message": "no such payment"})

    return answer
