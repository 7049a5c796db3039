"""A sandbox, a shop that asks it for payments, and people with browsers."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Sandbox
from playwright.sync_api import Browser

from chromium import browser
from shop import Shop
from visitor import Size, Visit, Visitor

__all__ = ["browser"]


@pytest.fixture
def shop(kassa_sandbox: Sandbox) -> Iterator[Shop]:
    with Shop(kassa_sandbox) as shop:
        yield shop


@pytest.fixture
def visit(browser: Browser, kassa_sandbox: Sandbox, shop: Shop) -> Iterator[Visit]:
    """Opens windows, by the options of `Visitor`; each is closed afterwards, without a complaint."""
    hosts = {urlsplit(kassa_sandbox.base_url).netloc, shop.host}
    open_windows: list[Visitor] = []

    def visit(language: str = "en", *, size: Size = "desktop", dark: bool = False, scripts: bool = True) -> Visitor:
        visitor = Visitor(browser, hosts, language, size=size, dark=dark, scripts=scripts)
        open_windows.append(visitor)
        return visitor

    yield visit
    for visitor in open_windows:
        visitor.close()
