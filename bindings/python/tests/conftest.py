"""The sandbox as a child process, and gateways that speak to it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from raw_gateway import RawGateway

import kassa

REPOSITORY = Path(__file__).parents[3]
PASSWORD = "the-password-of-the-tests"


@dataclass(frozen=True)
class Sandbox:
    url: str
    login: str = "kassa"

    @property
    def credentials(self) -> kassa.Credentials:
        return kassa.Credentials(self.login, PASSWORD)

    @property
    def dialect(self) -> kassa.Dialect:
        return kassa.Dialect.from_json((REPOSITORY / "examples/sandbox-dialect.json").read_text())


def sandbox_binary() -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"))
    return os.environ.get("KASSA_SANDBOX_BINARY", str(target / "debug/kassa-sandbox"))


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    child = subprocess.Popen(
        [sandbox_binary(), "--listen", "127.0.0.1:0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "KASSA_SANDBOX_PASSWORD": PASSWORD},
        text=True,
    )
    assert child.stdout is not None
    try:
        for line in child.stdout:
            if found := re.match(r"\s+URL\s+(\S+)", line):
                yield Sandbox(found[1])
                break
        else:
            pytest.fail("the sandbox did not say where it is")
    finally:
        child.terminate()
        child.wait()
        child.stdout.close()


@pytest.fixture
def gateway(sandbox: Sandbox) -> Iterator[kassa.Gateway]:
    with kassa.Gateway(sandbox.url, sandbox.credentials, dialect=sandbox.dialect) as gateway:
        yield gateway


@pytest.fixture
def raw() -> Iterator[RawGateway]:
    with RawGateway() as raw:
        yield raw
