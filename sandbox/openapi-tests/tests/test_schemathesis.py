"""schemathesis tries the sandbox against its own description: no failure, nothing undescribed, no invalid request taken."""

from __future__ import annotations

import base64
import os
import subprocess
import sys
from pathlib import Path

import pytest
from kassa_sandbox import Sandbox
from patience import PATIENCE

HERE = Path(__file__).parent
PROGRAM = Path(sys.executable).with_name("st")


@pytest.fixture
def sandbox() -> Sandbox:
    """One of the test's own: faults and switches come and go in it."""
    return Sandbox(log=None)


def run(sandbox: Sandbox, tag: str, authorization: str, folder: Path) -> None:
    """Runs every phase on the operations of a tag; what it prints tells how to repeat a failure."""
    command = [
        str(PROGRAM),
        "--config-file",
        str(HERE / "schemathesis.toml"),
        "run",
        f"{sandbox.base_url}/openapi.json",
        "--request-timeout",
        str(PATIENCE),
    ]
    options = ["--include-tag", tag, "--header", f"Authorization: {authorization}", "--workers", "1", "--no-color"]
    environment = {**os.environ, "PYTHONPATH": str(HERE), "SCHEMATHESIS_HOOKS": "hooks", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [*command, *options], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "No issues found" in done.stdout


def test_gateway_endpoints(sandbox: Sandbox, tmp_path: Path) -> None:
    with sandbox:
        login = ":".join(sandbox.credentials).encode()
        run(sandbox, "gateway", f"Basic {base64.b64encode(login).decode()}", tmp_path)
        assert sandbox.ledger(), "the valid requests made payments"


def test_admin_interface(sandbox: Sandbox, tmp_path: Path) -> None:
    with sandbox:
        run(sandbox, "admin", f"Bearer {sandbox.admin_token}", tmp_path)
