"""A server with a sandbox behind it, payers and people of the staff with browsers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser

from accessibility import GRAVE
from buyer import Buyer, Meet
from chromium import browser
from history import History
from shop import Shop
from staff import Open
from visitor import Size, Visitor

__all__ = ["browser"]

LOGO = Path(__file__).with_name("logo.svg")


@pytest.fixture(scope="session")
def server() -> Iterator[KassaServer]:
    """A server whose merchant has a name, a logo and a colour."""
    settings = {
        "log": "debug",
        "merchant.name": "Ала-Тоо бал дүкөнү",
        "merchant.logo": str(LOGO),
        "merchant.colour": "#0A6B4F",
        "merchant.phone": "+996 312 55 44 33",
        "merchant.email": "bal@example.kg",
        "merchant.url": "https://bal.example.kg",
        "megapay.account": "7",
    }
    with KassaServer(settings=settings) as server:
        yield server


@pytest.fixture
def sandbox(server: KassaServer) -> Sandbox:
    return server.sandbox


@pytest.fixture
def site(sandbox: Sandbox) -> Iterator[Shop]:
    """What payers come back to."""
    with Shop(sandbox) as site:
        yield site


@pytest.fixture
def meet(browser: Browser, server: KassaServer, site: Shop) -> Iterator[Meet]:
    """Opens a checkout and its payer's window; each is closed afterwards, without a complaint."""
    hosts = {urlsplit(server.url).netloc, urlsplit(server.sandbox.base_url).netloc, site.host}
    met: list[Buyer] = []

    def meet(
        language: str = "en",
        *,
        size: Size = "desktop",
        dark: bool = False,
        scripts: bool = True,
        **wanted: object,
    ) -> Buyer:
        buyer = Buyer(server, site.return_url, wanted, browser, hosts, language, size=size, dark=dark, scripts=scripts)
        met.append(buyer)
        buyer.open(buyer.page_url)
        return buyer

    yield meet
    for buyer in met:
        buyer.close()


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[History]:
    """A server where much has happened, which is only looked at."""
    with History(tmp_path_factory.mktemp("server") / "kassa.db") as history:
        yield history


@pytest.fixture
def own_history(tmp_path: Path) -> Iterator[History]:
    """One that a test may change."""
    with History(tmp_path / "kassa.db") as history:
        yield history


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Opens windows of the staff; each is closed afterwards, without a complaint."""
    open_windows: list[Visitor] = []

    def visit(history: History, size: Size = "desktop", *, dark: bool = False, scripts: bool = True) -> Visitor:
        hosts = {urlsplit(history.server.url).netloc}
        grave = (*GRAVE, "moderate")
        visitor = Visitor(browser, hosts, "en", size=size, dark=dark, scripts=scripts, grave=grave)
        open_windows.append(visitor)
        return visitor

    yield visit
    for visitor in open_windows:
        visitor.close()
