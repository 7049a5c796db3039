"""A small Docker Compose: starts the services of a file as processes, in a network and with folders of their own.

It reads what the file says of commands, environments, dependencies and health. `test_compose_demo.py` runs it as a program:
``python compose.py FILE PROGRAMS``, where PROGRAMS is the folder of the compiled programs.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import yaml
from patience import PATIENCE

VOLUME = Path("/srv/kassa-demo")
SHOP = "http://localhost:8000"
SERVER = "http://localhost:8080"
PAYER = "996555000101"
OTP = "101101"


class Project:
    """The services that run."""

    def __init__(self, file: Path, programs: Path) -> None:
        self.services: dict[str, dict[str, Any]] = yaml.safe_load(file.read_text(encoding="utf-8"))["services"]
        self._environment = {"PATH": f"{programs}:{os.environ['PATH']}", "LANG": "C.UTF-8"}
        self._running: dict[str, subprocess.Popen[bytes]] = {}

    def up(self) -> None:
        for name in self.services:
            self._start(name)
        for name in self.services:
            if "healthcheck" in self.services[name]:
                self._wait(name, "service_healthy")

    def down(self) -> None:
        running = dict(reversed(self._running.items()))
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        for process in running.values():
            process.wait(PATIENCE)
        self._running.clear()

    def kill(self) -> None:
        """What is left where something failed: it would hold the caller's pipes open."""
        for process in self._running.values():
            process.kill()

    def _start(self, name: str) -> None:
        if name in self._running:
            return
        service = self.services[name]
        for needed, how in service.get("depends_on", {}).items():
            self._start(needed)
            self._wait(needed, how["condition"])
        command = [word.replace("$$", "$") for word in service["command"]]
        environment = {**self._environment, **service.get("environment", {})}
        self._running[name] = subprocess.Popen(command, cwd=VOLUME, env=environment)

    def _wait(self, name: str, condition: str) -> None:
        process = self._running[name]
        if condition == "service_completed_successfully":
            if process.wait(PATIENCE) != 0:
                raise SystemExit(f"{name} failed")
        elif condition == "service_healthy":
            how, *check = self.services[name]["healthcheck"]["test"]
            assert how == "CMD"
            until(f"{name} is healthy", lambda: process.poll() is None and answers(check))
        else:
            assert condition == "service_started", condition


def answers(check: list[str]) -> bool:
    return subprocess.run(check, check=False, stderr=subprocess.DEVNULL).returncode == 0


def until(what: str, condition: Any) -> Any:
    deadline = time.monotonic() + PATIENCE
    while not (result := condition()):
        if time.monotonic() > deadline:
            raise SystemExit(f"it never happened: {what}")
        time.sleep(0.05)
    return result


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


def call(method: str, url: str, body: object = None, **headers: str) -> tuple[int, str, str]:
    """The status, the address of a redirect, and the body."""
    data = None if body is None else json.dumps(body).encode()
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **sent}, method=method)
    try:
        with urllib.request.build_opener(NoRedirect).open(request, timeout=PATIENCE) as response:
            return response.status, "", response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers.get("Location", ""), error.read().decode()


def buy() -> str:
    """The payer buys at the shop, and pays on the server's page by the mobile bank. Returns the address of the order."""
    assert "<button>Buy" in call("GET", f"{SHOP}/")[2]
    status, page, _ = call("POST", f"{SHOP}/buy", {})
    assert (status, page.startswith(SERVER)) == (303, True), page
    assert call("GET", page)[0] == 200
    key = f"Bearer {(VOLUME / 'api-key').read_text().strip()}"
    with closing(sqlite3.connect(VOLUME / "shop.db")) as orders:
        (reference,) = orders.execute("SELECT reference FROM orders WHERE state = 'new'").fetchone()
    checkout = json.loads(call("GET", f"{SERVER}/v1/checkouts?reference={reference}", Authorization=key)[2])
    token = json.loads(call("POST", f"{SERVER}/v1/checkouts/{checkout['id']}/tokens", Authorization=key)[2])["token"]
    app = {"Authorization": f"Bearer {token}"}
    payments = f"{SERVER}/v1/checkout/payments"
    _, _, made = call("POST", payments, {"method": "mbank", "phone": PAYER}, **app, Idempotency_Key="pay-1")
    confirm = f"{payments}/{json.loads(made)['id']}/confirm"
    status, _, confirmed = call("POST", confirm, {"otp": OTP}, **app, Idempotency_Key="otp-1")
    assert status in (200, 202), confirmed
    until("the shop has delivered", lambda: "is delivered" in call("GET", checkout["return_url"])[2])
    return str(checkout["return_url"])


def main(file: Path, programs: Path) -> None:
    project = Project(file, programs)
    shutil.copy(file.parents[2] / "examples/sandbox-dialect.json", "/srv/dialect.json")
    VOLUME.mkdir(mode=0o700)
    try:
        project.up()
        order = buy()
        project.down()
        # A second start has the same secrets and the same orders.
        project.up()
        assert "is delivered" in call("GET", order)[2]
        buy()
        project.down()
    finally:
        project.kill()
    sys.stdout.write("both orders were delivered\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
