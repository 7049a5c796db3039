"""schemathesis tries the server against its own description: no failure, nothing undescribed, no invalid request taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from kassa_server.testing import KassaServer
from patience import PATIENCE

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("st")


@pytest.fixture
def server() -> Iterator[KassaServer]:
    """One of the test's own: schemathesis revokes and cancels whatever it finds."""
    with KassaServer() as server:
        yield server


def run(server: KassaServer, tag: str, credential: str, folder: Path) -> None:
    """Runs every phase on the operations of a tag; what it prints tells how to repeat a failure."""
    command = [
        str(PROGRAM),
        "--config-file",
        str(HERE / "schemathesis.toml"),
        "run",
        f"{server.url}/openapi.json",
        "--request-timeout",
        str(PATIENCE),
    ]
    options = ["--include-tag", tag, "--header", f"Authorization: Bearer {credential}", "--workers", "1", "--no-color"]
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout


def post(server: KassaServer, path: str, body: object) -> dict[str, Any]:
    headers = {"Authorization": f"Bearer {server.api_key}", "Content-Type": "application/json"}
    with urlopen(Request(server.url + path, json.dumps(body).encode(), headers)) as answer:
        made: dict[str, Any] = json.load(answer)
        return made


def test_what_shops_call(server: KassaServer, tmp_path: Path) -> None:
    run(server, "shop", server.api_key, tmp_path)
    assert server.events(), "the valid requests opened and cancelled checkouts"


def test_what_apps_call(server: KassaServer, tmp_path: Path) -> None:
    order = {
        "reference": "order-17",
        "amount": "390",
        "description": "Two tickets",
        "return_url": "https://shop.example.kg/paid",
    }
    checkout = post(server, "/v1/checkouts", order)
    token = post(server, f"/v1/checkouts/{checkout['id']}/tokens", {})
    run(server, "app", token["token"], tmp_path)


def test_what_others_call(server: KassaServer, tmp_path: Path) -> None:
    run(server, "others", server.api_key, tmp_path)
