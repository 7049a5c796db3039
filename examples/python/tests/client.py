"""Plain HTTP, for what no browser does: the same form many times at once, and events and callbacks that nobody sent."""

from __future__ import annotations

import json
import os
import socket
import time
import urllib.request
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from urllib.parse import urlencode, urlsplit

from patience import PATIENCE

DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def get(url: str) -> str:
    """A page, after whatever redirects lead to it."""
    with DIRECT.open(url, timeout=PATIENCE) as answer:
        return str(answer.read().decode())


def post(url: str, body: bytes = b"", headers: dict[str, str] | None = None) -> tuple[int, str]:
    """The status of the answer, and where it leads to."""
    address = urlsplit(url)
    connection = HTTPConnection(address.netloc, timeout=PATIENCE)
    try:
        connection.request("POST", address.path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.getheader("location", "")
    finally:
        connection.close()


def post_at_once(times: int, url: str) -> list[tuple[int, str]]:
    """The same form, several times at once."""
    with ThreadPoolExecutor(times) as pool:
        return list(pool.map(post, [url] * times))


def form(**fields: str) -> bytes:
    """A form's body."""
    return urlencode(fields).encode()


def callback(number: str, provider: str, amount: str = "390.00", status: str = "CHARGE") -> bytes:
    """The body of a callback of the gateway's."""
    body = {"orderNumber": number, "currency": "KGS", "status": status, "provider": provider}
    text = json.dumps(body | {"dateCreated": "2026-11-20T09:05:07"})
    return (text[:-1] + f', "amount": {amount}}}').encode()


def wait_until(is_so: Callable[[], bool], log: Callable[[], str] = lambda: "it never came to that") -> None:
    """Polls until a condition holds."""
    # Twice the patience, because the server delivers an event again only after a pause.
    until = time.monotonic() + 2 * PATIENCE
    while not is_so():
        assert time.monotonic() < until, log()
        time.sleep(0.02)


def free_port(count: int = 1) -> int:
    """The first of so many ports in a row that nobody listens on now, below those that a system hands out (ephemeral ports)."""
    for first in range(12_000 + os.getpid() % 8_000, 32_768, count):
        if all(is_free(port) for port in range(first, first + count)):
            return first
    raise RuntimeError("no port is free")


def is_free(port: int) -> bool:
    """Whether nobody listens there."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
