"""Somebody with a browser window, who notes everything that the pages complain about."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol, TypeAlias
from urllib.parse import urlsplit

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Locator, Page, Request

import pictures
from accessibility import GRAVE, check_accessible
from patience import PATIENCE

Size: TypeAlias = Literal["small", "phone", "tablet", "desktop"]
SIZES: dict[Size, tuple[int, int]] = {
    "small": (360, 740),
    "phone": (390, 844),
    "tablet": (768, 1024),
    "desktop": (1280, 800),
}
HELD = ("small", "phone")


class Visitor:
    """One browser window. What it notes has to be nothing when it is closed."""

    pictures: Path
    """Where the accepted pictures are of the pages that are tested."""

    def __init__(
        self,
        browser: Browser,
        hosts: set[str],
        language: str,
        *,
        size: Size,
        dark: bool,
        scripts: bool,
        grave: tuple[str, ...] = GRAVE,
    ) -> None:
        """``hosts`` are those that its pages may ask, each with its port; ``grave``, what axe-core may not find."""
        width, height = SIZES[size]
        self.context: BrowserContext = browser.new_context(
            locale=language,
            viewport={"width": width, "height": height},
            is_mobile=size in HELD,
            has_touch=size in HELD,
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.label = f"{language}-{size}{'-dark' if dark else ''}{'' if scripts else '-no-script'}"
        self.has_scripts = scripts
        self._grave = grave
        self.complaints: list[str] = []
        self._hosts = hosts
        self.page: Page = self.context.new_page()
        self.page.on("pageerror", lambda error: self.complaints.append(f"page error: {error}"))
        self.page.on("console", self._heard)
        self.page.on("request", self._asked)
        self.page.on("requestfailed", self._failed)

    def _heard(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning"):
            self.complaints.append(f"console: {said.text}")

    def _asked(self, request: Request) -> None:
        url = urlsplit(request.url)
        if url.scheme in ("http", "https") and url.netloc not in self._hosts:
            self.complaints.append(f"another host: {request.url}")

    def _failed(self, request: Request) -> None:
        # Whoever goes on before a picture has come wants it no more: that is no failure of the page.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"failed: {request.url} {request.failure}")

    @contextmanager
    def refused(self, status: int) -> Generator[None]:
        """What is done inside leads to a page with an error's status once, which the browser itself notes."""
        before = len(self.complaints)
        with self.page.expect_console_message(lambda said: f"a status of {status} " in said.text):
            yield
        assert len(self.complaints) == before + 1, self.complaints[before:]
        del self.complaints[before:]

    @contextmanager
    def without_the_app(self, scheme: str) -> Generator[None]:
        """What is done inside leads to an app that is not there, which the browser itself may note."""
        before = len(self.complaints)
        yield
        said = self.complaints[before:]
        assert all(f"{scheme}:" in complaint for complaint in said), said
        del self.complaints[before:]

    def look(self, name: str, *, varies: bool = False, shows_codes: bool = False) -> None:
        """Checks that the page is accessible, fits, and looks as the accepted picture of this name.

        Of a page that ``varies`` with the hour no picture is compared. QR codes are hidden on the picture, unless it
        ``shows_codes`` that are the same each time. Without scripts axe-core does not come to an end.
        """
        self.page.wait_for_load_state()
        if self.has_scripts:
            check_accessible(self.page, self._grave)
        page = "document.documentElement"
        fits = self.page.evaluate(f"{page}.scrollWidth <= {page}.clientWidth")
        assert fits, f"{self.page.url} has to be scrolled sideways"
        if not varies:
            path = pictures.path_of(self.pictures, f"{name}-{self.label}")
            pictures.compare(self.page, path, shows_codes=shows_codes)

    def look_at_print(self, name: str) -> None:
        """Checks that the page fits a sheet of paper, and looks there as the accepted picture of this name."""
        with pictures.printed(self.page):
            wide = self.page.evaluate("document.documentElement.scrollWidth")
            assert wide <= pictures.PAPER[0], f"{self.page.url} is {wide} px wide on paper"
            pictures.compare(self.page, pictures.path_of(self.pictures, f"{name}-{self.label}"))

    def open(self, url: str) -> None:
        """Opens an address."""
        self.page.goto(url)

    def press(self, name: str) -> None:
        """Presses the button of that name."""
        self.page.get_by_role("button", name=name, exact=True).click()

    @property
    def heading(self) -> Locator:
        """The page's heading."""
        return self.page.get_by_role("heading", level=1)

    @property
    def focused(self) -> Locator:
        """What the keyboard is on."""
        return self.page.locator(":focus")

    def close(self) -> None:
        """Closes the window; fails where anything was complained about."""
        self.context.close()
        assert self.complaints == [], self.complaints


class Visit(Protocol):
    """Opens a window."""

    def __call__(
        self, language: str = "en", *, size: Size = "desktop", dark: bool = False, scripts: bool = True
    ) -> Visitor: ...
