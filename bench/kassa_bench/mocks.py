"""General mock servers, which developers use where a gateway has no sandbox: WireMock, Prism, and Stripe's own stripe-mock."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Generator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from .foreign import ROOT

BASIC = "Basic a2Fzc2E6c2FuZGJveA=="
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
    built = subprocess.run([ROOT / "scripts/ci/build-mock-servers"], check=True, stdout=subprocess.PIPE, text=True)
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
        ("WireMock", wiremock, ["--port", str(wiremock), "--root-dir", str(ROOT / "bench/mocks/wiremock")]),
        ("Prism", prism, ["mock", "--port", str(prism), str(description)]),
        ("stripe-mock", stripe, ["-http-port", str(stripe)]),
    ]
    peers = []
    with ExitStack() as stack:
        for name, port, options in started:
            process = stack.enter_context(running([*runs[name], *options], port))
            is_stripe = name == "stripe-mock"
            peer = {
                "name": name,
                "pid": process,
                "url": f"http://127.0.0.1:{port}",
                "authorization": "Bearer sk_test_123" if is_stripe else BASIC,
                "query": CHARGE_QUERY if is_stripe else QUERY,
                "create": CHARGE if is_stripe else CREATE,
            }
            peers.append(peer)
        floor = stack.enter_context(subprocess.Popen([os.environ["KASSA_BENCH_SERVER"]], stdin=-1, stdout=-1, text=True))
        if floor.stdin is None or floor.stdout is None:
            raise RuntimeError("the floor has no pipes")
        stack.callback(floor.stdin.close)
        url = floor.stdout.readline().strip()
        peers.append({"name": "the floor", "pid": floor.pid, "url": url, "authorization": BASIC, "query": QUERY, "create": CREATE})
        for peer in peers:
            settled(peer)
        yield json.dumps(peers)


def settled(peer: dict[str, object]) -> None:
    """Waits until a server answers: one that listens may still read its configuration."""
    query = peer["query"]
    if not isinstance(query, dict):
        raise TypeError("a query is a request")
    deadline = time.monotonic() + PATIENCE_S
    while True:
        connection = http.client.HTTPConnection(str(peer["url"]).removeprefix("http://"))
        headers = {"authorization": str(peer["authorization"]), "content-type": query["content_type"]}
        try:
            connection.request(query["method"], query["path"], query["body"], headers)
            answer = connection.getresponse()
            said = answer.read()
        except OSError:
            said, answer = b"", None
        if answer is not None and answer.status == http.client.OK:
            return
        if time.monotonic() > deadline:
            raise RuntimeError(f"{peer['name']} does not answer: {said!r}")
        time.sleep(0.1)
