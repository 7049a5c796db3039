"""The system's Chromium, for these tests and for those of the server's pages."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from patience import PATIENCE
from pictures import FONTS
from visitor import Visitor

FIND = Path(__file__).resolve().parents[2] / "scripts" / "ci" / "find-chromium"
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--no-first-run",
)
# In milliseconds. It is reached only if something never happens.
expect.set_options(timeout=PATIENCE * 1000)


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """One for all tests; each visitor has a window of its own."""
    Visitor.pictures = request.config.rootpath / "pictures"
    found = subprocess.run([FIND], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    environment: dict[str, str | float | bool] = {**os.environ, "FONTCONFIG_FILE": str(FONTS)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=found, args=list(FLAGS), env=environment, timeout=PATIENCE * 3000
        )
        yield browser
        browser.close()
