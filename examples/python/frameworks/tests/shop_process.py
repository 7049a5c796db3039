"""A shop as a user starts it: its web server and its worker, each a process of its own."""

from __future__ import annotations

import base64
import os
import re
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from http.client import HTTPConnection
from pathlib import Path
from types import TracebackType
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from kassa.server.testing import sign_event
from kassa_server.testing import KassaServer

FOLDER = Path(__file__).parents[1]
PATIENCE = 60.0 * float(os.environ.get("KASSA_PATIENCE", "1"))
"""The upper bound of a wait, in seconds. ``KASSA_PATIENCE`` multiplies it on a slow machine."""
OTHER_SECRET = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
OWN = ("KASSA_", "SHOP_", "DJANGO_", "CELERY_", "GUNICORN_", "FLASK_")


GRACEFUL = 65
"""Seconds: gunicorn's `graceful_timeout` in the shops' settings."""


class Program(NamedTuple):
    """How a shop is started, in the folder of the examples. Each part is a command of the environment that runs the tests."""

    web: Sequence[str]
    worker: Sequence[str]
    before: Sequence[str] = ()
    settings: Mapping[str, str] = {}
    """Environment variables of its own. ``{folder}`` is a folder for its files."""


class Answer(NamedTuple):
    """A response."""

    status: int
    location: str
    text: str


class Process:
    """A command that runs in the background, and what it prints."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], log: Path) -> None:
        self._command = command
        self._environment = environment
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts it, in a process group of its own."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=FOLDER,
                env=dict(self._environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The number of the process that was started last."""
        assert self._process is not None
        return self._process.pid

    @property
    def has_ended(self) -> bool:
        """Whether it has ended by itself."""
        return self._process is not None and self._process.poll() is not None

    def log(self) -> str:
        """What it has printed."""
        return self._log.read_text(errors="replace") if self._log.exists() else ""

    def end(self) -> None:
        """Ends it in order, as a service manager does, which waits longer than gunicorn's `graceful_timeout`."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(GRACEFUL + PATIENCE)

    def kill(self) -> None:
        """Kills it and its children, as a crash of the machine would."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(PATIENCE)

    def __enter__(self) -> Process:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self.end()
        finally:
            self.kill()


class Shop:
    """A running shop, as browsers and servers see it."""

    def __init__(self, program: Program, port: int, folder: Path, variables: Mapping[str, str]) -> None:
        self.url = f"http://127.0.0.1:{port}"
        own = {
            "SHOP_URL": self.url,
            "SHOP_DATABASE": str(folder / "shop.db"),
            "SHOP_JOURNAL": str(folder / "payments"),
            "SHOP_SECRET_KEY": secrets.token_hex(32),
            "SHOP_CALLBACK_SECRET": secrets.token_hex(32),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "PYTHONUNBUFFERED": "1",
            **{name: value.format(folder=folder) for name, value in program.settings.items()},
        }
        others = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        self.environment = {**others, **variables, **own}
        self._program = program
        self._port = port
        self.web = Process([part.format(port=port) for part in program.web], self.environment, folder / "web.log")
        worker = [part.format(folder=folder) for part in program.worker]
        self.worker = Process(worker, self.environment, folder / "worker.log")
        self._running = ExitStack()

    def __enter__(self) -> Shop:
        if self._program.before:
            subprocess.run(
                self._program.before, cwd=FOLDER, env=self.environment, check=True, stdout=subprocess.DEVNULL
            )
        with ExitStack() as starting:
            starting.enter_context(self.web)
            self.wait_until(self._answers)
            starting.enter_context(self.worker)
            self._running = starting.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._running.close()

    def _answers(self) -> bool:
        assert not self.web.has_ended, self.log()
        with suppress(OSError):
            return self.open("/").status == 200
        return False

    def log(self) -> str:
        """What its processes have printed."""
        return f"{self.web.log()}\n{self.worker.log()}"

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Polls until a condition holds."""
        until = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < until, self.log()
            time.sleep(0.05)

    # A browser, and whoever sends an event

    def open(
        self, path: str, method: str = "GET", body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Sends a request, and follows no redirect."""
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        try:
            connection.request(method, path, body, dict(headers or {}))
            got = connection.getresponse()
            return Answer(got.status, got.getheader("location", ""), got.read().decode())
        finally:
            connection.close()

    def press(self) -> Answer:
        """Presses the button of the product's page."""
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', self.open("/").text)
        if token is None:
            return self.open("/buy", "POST")
        headers = {
            "Content-Type": "application/x-www-form-urlencoded",
            "Cookie": f"csrftoken={self._csrf_cookie()}",
            "Referer": f"{self.url}/",
        }
        return self.open("/buy", "POST", urlencode({"csrfmiddlewaretoken": headers["Cookie"][10:]}).encode(), headers)

    def _csrf_cookie(self) -> str:
        connection = HTTPConnection(urlsplit(self.url).netloc, timeout=PATIENCE)
        try:
            connection.request("GET", "/")
            cookie = connection.getresponse().getheader("set-cookie", "")
        finally:
            connection.close()
        return cookie.partition("csrftoken=")[2].partition(";")[0]

    def buy(self) -> str:
        """Buys; the page where the payer is sent to pay."""
        answer = self.press()
        assert answer.status == 303, (answer, self.log())
        return answer.location

    def order(self) -> tuple[str, str]:
        """Buys: the order's reference, and the page of the server where it is paid. The page leads back to the order."""
        page_url = self.buy()
        with DIRECT.open(page_url, timeout=PATIENCE) as answer:
            page = str(answer.read().decode())
        (reference,) = set(re.findall(rf"{re.escape(self.url)}/orders/([\w-]+)", page))
        return reference, page_url

    def send(self, server: KassaServer, reference: str, *, secret: str = "", kind: str = "checkout.paid") -> int:
        """Sends an event, as the server would, or somebody who pretends to be it; the status of the answer."""
        signed = sign_event(secret or server.events_secret, kind, reference=reference)
        return self.open("/events", "POST", signed.body, signed.headers).status

    def deliveries(self, reference: str) -> int:
        """How often an order was delivered."""
        return len(re.findall(rf"^.*deliver {reference}$", self.worker.log(), re.MULTILINE))

    def wait_for_delivery(self, reference: str) -> None:
        """Waits until an order is delivered, and its page says so."""
        self.wait_until(lambda: self.deliveries(reference) > 0)
        self.wait_until(lambda: "delivered" in self.open(f"/orders/{reference}").text)
        assert self.deliveries(reference) == 1, self.log()


def free_port(after: int = 0) -> int:
    """A port that nobody listens on now, above another one, below those that a system hands out by itself (ephemeral ports)."""
    for port in range(max(12_000 + os.getpid() % 8_000, after + 1), 32_768):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("no port is free")
