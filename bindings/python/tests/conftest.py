"""The sandbox as a child process, and gateways that speak to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import kassa_sandbox
import pytest
from raw_gateway import RawGateway

import kassa

pytest_plugins = ["pytester"]

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
        return kassa.Dialect.from_json(kassa_sandbox.dialect_json())


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with kassa_sandbox.Sandbox(password=PASSWORD) as running:
        yield Sandbox(running.base_url)


@pytest.fixture
def gateway(sandbox: Sandbox) -> Iterator[kassa.Gateway]:
    with kassa.Gateway(sandbox.url, sandbox.credentials, dialect=sandbox.dialect) as gateway:
        yield gateway


@pytest.fixture
def raw() -> Iterator[RawGateway]:
    with RawGateway() as raw:
        yield raw
