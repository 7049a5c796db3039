"""A sandbox, a shop that pays with it, and a payer with a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from kassa_sandbox import Sandbox
from payer import Payer
from playwright.sync_api import Browser, expect, sync_playwright
from shop_process import ShopProcess

# On a busy machine a page, a shop and a sandbox take their time.
expect.set_options(timeout=60_000)

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    assert found, "Chromium is needed on the PATH"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def shop(kassa_sandbox: Sandbox, tmp_path: Path) -> Iterator[ShopProcess]:
    with ShopProcess(tmp_path / "data", kassa_sandbox) as shop:
        yield shop


@pytest.fixture
def payer(browser: Browser, shop: ShopProcess) -> Iterator[Payer]:
    payer = Payer(browser, shop.url)
    yield payer
    payer.context.close()
    assert payer.complaints == []
