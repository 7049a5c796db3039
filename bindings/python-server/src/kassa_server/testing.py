"""The server and a sandbox behind it in one call, for the tests of a shop. Needs the package ``kassa-sandbox``."""

from __future__ import annotations

import base64
import html
import os
import re
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
import weakref
from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any, Literal
from urllib.parse import quote, urljoin

from kassa_sandbox import Sandbox, SandboxError, TestCard, TestPhone, dialect_json, phones

from . import _http
from ._binary import find
from ._child import Child
from .errors import NotRunning, ServerError, StartError, TooLate
from .events import Event, event

__all__ = ["Event", "KassaServer"]

PREFIX = "KASSA_SERVER_"
PAUSE = 0.02
"""Seconds between two polls of the events."""
ATTEMPTS = 5
"""To find a port: one that was free may be taken a moment later."""


class KassaServer:
    """kassa-server on this machine, with an API key and a secret for events, and a sandbox as its gateway.

        with KassaServer(events_url="http://127.0.0.1:8000/events") as server:
            shop = Shop(server.url, server.api_key, server.events_secret)
            server.pay_by_form(shop.buy("order-17"))
            server.wait_for("checkout.paid", reference="order-17")

    It is a separate process with an SQLite file in a temporary folder, and never outlives the process that started it.
    """

    def __init__(
        self,
        *,
        sandbox: Sandbox | None = None,
        events_url: str | None = None,
        port: int = 0,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing is started yet: `start`, or a ``with`` block.

        * ``sandbox``: a running sandbox; by default it starts its own, and stops it
        * ``events_url``: the shop's URL for events; without it they are only listed
        * ``port``: the port to listen on, on this machine only; 0 takes a free one
        * ``settings``: others of the program's, by their names, such as ``{"payment_wait": "5s"}``
        """
        self._owns_sandbox = sandbox is None
        self._sandbox = sandbox if sandbox is not None else Sandbox()
        self._events_secret = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
        self._events_url = events_url
        self._port = port
        self._settings = dict(settings or {})
        self._folder: Path | None = None
        self._remove_folder: weakref.finalize[..., KassaServer] | None = None
        self._owner = os.getpid()
        self._child: Child | None = None
        self._url = ""
        self._api_key = ""

    # Its life

    def start(self) -> KassaServer:
        """Starts it, and its own sandbox, unless they run; `StartError` says why it could not."""
        if self.is_running:
            return self
        if not self._is_mine:
            raise NotRunning("this server belongs to the process that this one was forked from; it is started there")
        if self._owns_sandbox:
            self._sandbox.start()
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="kassa-server-"))
            self._remove_folder = weakref.finalize(self, remove, self._folder, self._owner)
        dialect = dialect_json(self._sandbox.switches.read().acts_as)
        self._file("dialect.json").write_text(dialect, encoding="utf-8")
        self._child = self._started()
        self._url = self._child.url
        if not self._api_key:
            self._api_key = self.new_api_key("tests")
        return self

    def _started(self) -> Child:
        for attempt in range(ATTEMPTS):
            port = self._port or free_port()
            environment = self._environment(port)
            try:
                child = Child(find(), ["serve"], environment, self._file("server.log"))
            except StartError as error:
                if self._port or attempt == ATTEMPTS - 1 or "in use" not in error.log:
                    raise
            else:
                self._port = port
                return child
        raise StartError("no port is free")

    def stop(self) -> None:
        """Stops it in order, and its own sandbox; its database is gone then. Nothing happens in a forked process."""
        if not self._is_mine:
            return
        if self._child is not None:
            self._child.stop()
        if self._owns_sandbox:
            self._sandbox.stop()
        if self._remove_folder is not None:
            self._remove_folder()
        self._folder, self._api_key = None, ""

    def restart(self) -> KassaServer:
        """Stops the server alone and starts it again, on the same port, with the same database. After `kill`: after a crash."""
        if self._child is None:
            raise NotRunning("the server was not started")
        self._child.stop()
        return self.start()

    def kill(self) -> None:
        """Kills only the server, as a crash would. `restart` starts it again."""
        if self._child is not None:
            self._child.kill()

    def __enter__(self) -> KassaServer:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"KassaServer({self._url or 'not started'})"

    def _file(self, name: str) -> Path:
        if self._folder is None:
            raise NotRunning("the server was not started")
        return self._folder / name

    def _environment(self, port: int) -> dict[str, str]:
        # Secrets go by the environment: everybody can read the arguments of a process.
        own = {
            "listen": f"127.0.0.1:{port}",
            "public_url": f"http://127.0.0.1:{port}",
            "database": str(self._file("kassa-server.db")),
            "gateway.url": self._sandbox.base_url,
            "gateway.login": self._sandbox.login,
            "gateway.password": self._sandbox.password,
            "gateway.dialect": str(self._file("dialect.json")),
            **({"events.url": self._events_url} if self._events_url else {}),
            "events.secret": self._events_secret,
            **self._settings,
        }
        # Settings of the user's own server must not affect this one.
        others = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
        return others | {PREFIX + name.replace(".", "_").upper(): value for name, value in own.items()}

    # Address and credentials

    @property
    def _is_mine(self) -> bool:
        return self._owner == os.getpid()

    @property
    def is_running(self) -> bool:
        """Whether it runs, as a child of this process."""
        return self._child is not None and self._child.is_running

    @property
    def pid(self) -> int | None:
        """The number of its process, while it runs."""
        return self._child.pid if self._child is not None and self._child.is_running else None

    @property
    def url(self) -> str:
        """Its address, without a trailing slash: KASSA_SERVER_URL of a shop. It stays the same after a restart."""
        self._file("")
        return self._url

    @property
    def api_key(self) -> str:
        """The API key that was made for the shop."""
        self._file("")
        return self._api_key

    @property
    def events_secret(self) -> str:
        """The secret that signs events (Standard Webhooks)."""
        return self._events_secret

    def environment(self) -> dict[str, str]:
        """The environment variables of a shop under test, as ``kassa.server.Client.from_environment`` and the examples read
        them: ``KASSA_SERVER_URL``, ``KASSA_API_KEY`` and ``KASSA_EVENTS_SECRET``.

            subprocess.run(["flask", "run"], env=os.environ | server.environment())
        """
        named = {"SERVER_URL": self.url, "API_KEY": self.api_key, "EVENTS_SECRET": self.events_secret}
        return {f"KASSA_{name}": value for name, value in named.items()}

    @property
    def sandbox(self) -> Sandbox:
        """The gateway's side: real charges, faults, and the payer's actions."""
        return self._sandbox

    def new_api_key(self, name: str) -> str:
        """One more API key, made as an operator makes it."""
        return self._new_key("--name", name)

    def new_staff_key(self, name: str, permission: Literal["view", "decide"] = "decide") -> str:
        """A key for a person of the staff, who logs in with it at ``/staff``."""
        return self._new_key("--for", "staff", "--permission", permission, "--name", name)

    def _new_key(self, *options: str) -> str:
        command = [str(find()), "keys", "new", *options]
        made = subprocess.run(  # noqa: S603 - the server itself
            command,
            env=self._environment(self._port),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode != 0:
            raise ServerError(f"no key was made: {made.stderr.strip()}")
        return made.stdout.strip()

    def log(self) -> str:
        """Its log."""
        return self._file("server.log").read_text(encoding="utf-8", errors="replace")

    # What is in it

    def request(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        *,
        key: str | None = None,
        idempotency_key: str | None = None,
    ) -> dict[str, Any]:
        """Sends a request as a shop, or as a payer's app with a client token; `Refused` if it refuses.

        * ``path``: such as ``/v1/checkouts``
        * ``key``: an API key or a client token; default: `api_key`
        """
        headers = {"Authorization": f"Bearer {self.api_key if key is None else key}"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return _http.request(method, f"{self.url}{path}", headers, body)

    def checkout(self, reference: str) -> dict[str, Any]:
        """The checkout that the shop opened with this reference, as JSON."""
        return self.request("GET", f"/v1/checkouts?reference={quote(reference, safe='')}")

    def events(self, kind: str | None = None, *, reference: str | None = None) -> tuple[Event, ...]:
        """Every event, or those of this kind or about this reference, in the order in which they happened."""
        listed: list[Event] = []
        after = ""
        told: dict[str, Any] = {"next": "0"}
        while told["next"] != after:
            after = told["next"]
            told = self.request("GET", f"/v1/events?after={after}&limit=1000")
            listed.extend(map(event, told["events"]))
        wanted = (one for one in listed if kind in (None, one.kind) and reference in (None, one.reference))
        return tuple(wanted)

    def wait_for(self, kind: str, *, reference: str | None = None, timeout: timedelta = timedelta(seconds=30)) -> Event:
        """Waits for the first event of this kind; `TooLate` if there is none in time."""
        until = time.monotonic() + timeout.total_seconds()
        while True:
            found = self.events(kind, reference=reference)
            if found:
                return found[0]
            if time.monotonic() > until:
                about = "" if reference is None else f" about {reference!r}"
                raise TooLate(f"there was no event {kind!r}{about} within {timeout.total_seconds():g} s")
            time.sleep(PAUSE)

    # The payer's part

    def pay_by_form(self, page_url: str, payer: TestCard | TestPhone = phones.MBANK_APPROVED) -> str:
        """Pays on the gateway's pay-form, as a payer with that card or wallet does. Returns the URL that the payer is sent
        back to; empty if the payer stays there, as after a decline."""
        try:
            return self._sandbox.pay_by_form(page_url, payer)
        except SandboxError as error:
            raise ServerError(str(error)) from error

    def pay_on_page(self, page_url: str, payer: TestCard | TestPhone = phones.MBANK_APPROVED) -> str:
        """Pays a checkout on the server's page for payers (a checkout's ``page_url``): chooses *Card or wallet*, and pays on
        the gateway's page. Returns as `pay_by_form` does."""
        page = _http.exchange("GET", page_url, {})[2]
        form_key = re.search(r'name="key" value="([^"]+)"', page)
        if form_key is None:
            raise ServerError("the page offers no way to pay: the checkout has ended, or is not one of this server")
        status, leads_to, _ = _http.submit(f"{page_url}/pay", key=form_key[1], method="pay_form")
        if status != HTTPStatus.SEE_OTHER:
            raise ServerError(f"the page refused to begin the payment: HTTP {status}")
        return self.pay_by_form(gateways_page(urljoin(page_url, leads_to)), payer)


def gateways_page(own_page: str, timeout: timedelta = timedelta(seconds=30)) -> str:
    """The gateway's page, to which a page of the server sends the browser on as soon as it is known."""
    until = time.monotonic() + timeout.total_seconds()
    while True:
        _, _, page = _http.exchange("GET", own_page, {})
        leads_to = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page)
        if leads_to is not None:
            return html.unescape(leads_to[1])
        if time.monotonic() > until:
            raise TooLate(f"the gateway's page was not known within {timeout.total_seconds():g} s")
        time.sleep(PAUSE)


def remove(folder: Path, owner: int) -> None:
    """Removes the files, unless this is a fork of the process that owns them."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


def free_port() -> int:
    """A free port."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port
