"""A shop, a server that takes its payments and a sandbox behind that, for all tests; and payers with browsers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser

from chromium import browser
from client import free_port
from patience import PATIENCE
from payer import Payer
from shop_process import ShopProcess
from stage import Stage

__all__ = ["browser"]

SETTINGS = {"gateway.payment_deadline": f"{min(PATIENCE / 2, 600):.0f}s"}
"""After so long the next server says of what a killed one was sending that nobody knows; a test waits for that."""


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """One for the whole run: each test makes orders of its own, and leaves everything running."""
    folder: Path = tmp_path_factory.mktemp("stage")
    port = free_port()
    with (
        # It keeps its payments when a test stops it.
        Sandbox(database=folder / "sandbox.db") as sandbox,
        KassaServer(sandbox=sandbox, events_url=f"http://127.0.0.1:{port}/events", settings=SETTINGS) as server,
        ShopProcess(folder / "shop", port, server) as shop,
    ):
        yield Stage(sandbox, server, shop)


@pytest.fixture
def sandbox(stage: Stage) -> Sandbox:
    return stage.sandbox


@pytest.fixture
def server(stage: Stage) -> KassaServer:
    return stage.server


@pytest.fixture
def shop(stage: Stage) -> ShopProcess:
    return stage.shop


@pytest.fixture
def payer(browser: Browser, stage: Stage) -> Iterator[Payer]:
    payer = Payer(browser, stage.shop.url, stage.hosts)
    yield payer
    payer.close()
