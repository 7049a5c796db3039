"""A shop as a process of its own, and what browsers and others send to it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from kassa_sandbox import TestPhone
from kassa_server.testing import KassaServer

FOLDER = Path(__file__).parents[1]
SHOPS: dict[str, list[str]] = {
    "python": [sys.executable, "shop.py"],
    "node": ["node", "shop.js"],
    "php": ["php", "-S", "127.0.0.1:{port}", "shop.php"],
    "java": ["java", "Shop.java"],
}
"""How each is started, in its folder."""
PATIENCE = 60.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""The upper bound of a wait, in seconds. ``KASSA_PATIENCE`` multiplies it on a slow machine."""


class Answer(NamedTuple):
    """What came back."""

    status: int
    location: str
    text: str


class ShopProcess:
    """A shop that uses a server."""

    def __init__(self, language: str, server: KassaServer, port: int, folder: Path) -> None:
        self.server = server
        self.url = f"http://127.0.0.1:{port}"
        self._log = folder / "shop.log"
        self._language = language
        self._port = port
        self._folder = folder
        self.pages: list[str] = []
        """All that it has shown."""

    def __enter__(self) -> ShopProcess:
        environment = {
            **os.environ,
            "KASSA_SERVER_URL": self.server.url,
            "KASSA_API_KEY": self.server.api_key,
            "KASSA_EVENTS_SECRET": self.server.events_secret,
            "PORT": str(self._port),
            "PHP_CLI_SERVER_WORKERS": "4",
            "TMPDIR": str(self._folder),
            "no_proxy": "127.0.0.1",
        }
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [part.format(port=self._port) for part in SHOPS[self._language]],
                cwd=FOLDER / self._language,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                # PHP's workers end with its group alone.
                start_new_session=True,
            )
        wait_until(self._listens, self.log)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait(PATIENCE)

    def _listens(self) -> bool:
        assert self._process.poll() is None, self.log()
        with socket.socket() as knocking:
            return knocking.connect_ex(("127.0.0.1", self._port)) == 0

    def log(self) -> str:
        """What it has written."""
        return self._log.read_text(errors="replace")

    # A browser

    def open(self, url: str, method: str = "GET", body: str = "", headers: Mapping[str, str] | None = None) -> Answer:
        """Asks the shop, and follows nothing."""
        assert urlsplit(url).netloc == urlsplit(self.url).netloc
        answer = request(url, method, body, headers)
        self.pages.append(f"{answer.location}\n{answer.text}")
        return answer

    def buy(self) -> tuple[str, str]:
        """Presses the button: the order's number, and the address of the page where it is paid."""
        begun = self.open(f"{self.url}/buy", "POST")
        assert begun.status == 303, (begun, self.log())
        # The way back from there leads to the order.
        back = self.way_back(begun.location)
        assert back.startswith(f"{self.url}/orders/")
        return back.rpartition("/")[2], begun.location

    def way_back(self, page_url: str) -> str:
        """Where the page for payers leads back to."""
        backs: set[str] = set(re.findall(rf'href="({re.escape(self.url)}[^"]*)"', request(page_url).text))
        (back,) = backs
        return back

    def pay(self, reference: str, page_url: str, phone: TestPhone) -> str:
        """Chooses the gateway's page on the page for payers, and pays there; where the payer is sent back to."""
        (form_key,) = set(re.findall(r'name="key" value="([^"]+)"', request(page_url).text))
        chosen = urlencode({"key": form_key, "method": "pay_form"})
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        assert request(f"{page_url}/pay", "POST", chosen, kind).status == 303
        # On a busy machine the gateway's page may be there a moment later.
        wait_until(lambda: self.server.checkout(reference)["payments"][0].get("page_url") is not None, self.log)
        (payment,) = self.server.checkout(reference)["payments"]
        return self.server.pay_by_form(payment["page_url"], phone)

    def page_of(self, reference: str) -> str:
        """The order's page."""
        answer = self.open(f"{self.url}/orders/{reference}")
        assert answer.status == 200
        return answer.text

    def deliveries(self, reference: str) -> int:
        """How often it was delivered."""
        return self.log().splitlines().count(f"deliver {reference}")

    # The server, and those who would like to be it

    def tell(
        self,
        reference: str,
        *,
        kind: str = "checkout.paid",
        event_id: str = "evt_1",
        secret: str | None = None,
        age: int = 0,
        also: str = "",
    ) -> int:
        """Sends an event; the status of the answer."""
        at = int(time.time()) - age
        data = {
            "checkout": "co_1",
            "reference": reference,
            "amount": "390",
            "currency": "KGS",
            "checkout_state": "paid",
            "version": 1,
            "number": 1,
        }
        event = {"id": event_id, "type": kind, "timestamp_ms": at * 1000, "data": data}
        body = json.dumps(event, separators=(",", ":"))
        headers = {
            "Content-Type": "application/json",
            "webhook-id": event_id,
            "webhook-timestamp": str(at),
            "webhook-signature": also + sign(secret or self.server.events_secret, f"{event_id}.{at}.{body}"),
        }
        return self.open(f"{self.url}/events", "POST", body, headers).status


def request(url: str, method: str = "GET", body: str = "", headers: Mapping[str, str] | None = None) -> Answer:
    """Sends a request, and follows no redirect."""
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE)
    try:
        connection.request(method, f"{address.path}?{address.query}", body, dict(headers or {}))
        got = connection.getresponse()
        return Answer(got.status, got.getheader("location", ""), got.read().decode())
    finally:
        connection.close()


def sign(secret: str, message: str) -> str:
    """A signature by the Standard Webhooks scheme."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    return f"v1,{base64.b64encode(hmac.digest(key, message.encode(), hashlib.sha256)).decode()}"


def wait_until(is_so: Callable[[], bool], log: Callable[[], str]) -> None:
    """Waits until something is so."""
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, log()
        time.sleep(0.02)


def free_port() -> int:
    """A port that nobody listens on now, below those that a system hands out by itself (ephemeral ports)."""
    for port in range(12_000 + os.getpid() % 8_000, 32_768):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")
