"""A server with a sandbox behind it, a shop that opens checkouts, and payers with browsers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser

from buyer import Buyer, Meet
from chromium import browser
from shop import Shop
from visitor import Size

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
