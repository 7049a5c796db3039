"""General mock servers, which developers use where a gateway has no sandbox: WireMock, Prism, and Stripe's own stripe-mock."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from .server import server_process

HERE = Path(__file__).parents[2]
"""This working copy, whichever is measured."""
BASIC = "Basic a2Fzc2E6c2FuZGJveC1wYXNzd29yZA=="
JSON = "application/json"
PATIENCE_S = 120
QUERY = {
    "method": "POST",
    "path": "/api/v1.1.0/get-status",
    "content_type": JSON,
    "body": json.dumps({"orderNumber": "B-1", "provider": "MBank"}),
}
CREATE = {
    "method": "POST",
    "path": "/api/v1.1.0/mbank/pay",
    "content_type": JSON,
    "body": json.dumps({"orderNumber": "B-1", "phone": "996555000101", "amount": 100, "comment": "tea"}),
}
# It knows Stripe's interface alone, so it is asked for what comes nearest.
CHARGE_QUERY = {"method": "GET", "path": "/v1/charges/ch_123", "content_type": JSON, "body": ""}
CHARGE = {
    "method": "POST",
    "path": "/v1/charges",
    "content_type": "application/x-www-form-urlencoded",
    "body": "amount=10000&currency=kgs&source=tok_visa&description=tea",
}


def commands() -> dict[str, list[str]]:
    """Builds and installs them: what runs each."""
    built = subprocess.run([HERE / "scripts/ci/build-mock-servers"], check=True, stdout=subprocess.PIPE, text=True)
    lines = [line.split() for line in built.stdout.splitlines()]
    return {name: command for name, *command in lines}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(command: Sequence[str], port: int) -> Generator[int, None, None]:
    """A server on a port, as its process, once it listens."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + PATIENCE_S
    try:
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if child.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{command[0]} does not listen")
            time.sleep(0.05)
        yield child.pid
    finally:
        child.terminate()
        try:
            child.wait(timeout=10)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


@contextmanager
def mocks(sandbox: str, folder: Path) -> Generator[str, None, None]:
    """All of them, as the benchmark's argument. `sandbox` is an address whose description of the interface Prism answers by."""
    runs = commands()
    description = folder / "openapi.json"
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"{sandbox}/openapi.json") as answer:
        description.write_bytes(answer.read())
    wiremock, prism, stripe = free_port(), free_port(), free_port()
    started = [
        ("WireMock", wiremock, ["--port", str(wiremock), "--root-dir", str(HERE / "bench/mocks/wiremock")]),
        ("Prism", prism, ["mock", "--port", str(prism), "--verboseLevel", "warn", str(description)]),
        ("stripe-mock", stripe, ["-http-port", str(stripe)]),
    ]
    with ExitStack() as stack:
        peers = [
            Peer(name, stack.enter_context(running([*runs[name], *options], port)), f"http://127.0.0.1:{port}")
            for name, port, options in started
        ]
        url, process = stack.enter_context(server_process())
        peers.append(Peer("the floor", process, url))
        for peer in peers:
            peer.wait_until_it_answers()
        yield json.dumps([peer.described() for peer in peers])


@dataclass(frozen=True)
class Peer:
    """Somebody beside whom the sandbox is measured."""

    name: str
    pid: int
    url: str

    def described(self) -> dict[str, object]:
        """As the benchmark reads it."""
        query, create = (CHARGE_QUERY, CHARGE) if self.is_stripe() else (QUERY, CREATE)
        return {
            "name": self.name,
            "pid": self.pid,
            "url": self.url,
            "authorization": self.authorization(),
            "query": query,
            "create": create,
        }

    def is_stripe(self) -> bool:
        """Whether it has another interface than the gateway's."""
        return self.name == "stripe-mock"

    def authorization(self) -> str:
        """The header's value."""
        return "Bearer sk_test_123" if self.is_stripe() else BASIC

    def wait_until_it_answers(self) -> None:
        """One that listens may still read its configuration."""
        deadline = time.monotonic() + PATIENCE_S
        while not self.answers():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name} does not answer")
            time.sleep(0.1)

    def answers(self) -> bool:
        query = CHARGE_QUERY if self.is_stripe() else QUERY
        headers = {"authorization": self.authorization(), "content-type": query["content_type"]}
        with closing(http.client.HTTPConnection(self.url.removeprefix("http://"))) as connection:
            try:
                connection.request(query["method"], query["path"], query["body"], headers)
                return connection.getresponse().status == http.client.OK
            except OSError:
                return False
