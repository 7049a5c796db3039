"""The sandbox that the shop brings along where no gateway is named."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from kassa_sandbox import Sandbox, dialect_json

from .settings import GatewaySettings


@contextmanager
def embedded_sandbox(database: Path, port: int) -> Generator[GatewaySettings]:
    """A gateway on this machine. It keeps its payments, and its port, so that links from before a restart still lead to it."""
    database.parent.mkdir(parents=True, exist_ok=True)
    with Sandbox(database=database, port=port) as sandbox:
        yield GatewaySettings(sandbox.base_url, sandbox.login, sandbox.password, dialect_json())
