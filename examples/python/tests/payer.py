"""Somebody with a browser: what they press in the shop, on the server's page and on the gateway's pages."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import zxingcpp
from kassa_sandbox import TestCard, TestPhone
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from accessibility import check_accessible
from patience import PATIENCE

SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
SCREENSHOTS = os.environ.get("KASSA_SCREENSHOTS")
LONG_MS = 2500 * PATIENCE
"""Milliseconds: longer than the server waits for an answer that a killed one had asked for."""
WIDTH = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Payer:
    """One browser window. It notes what the pages complain about; that has to be nothing when it is closed."""

    def __init__(
        self, browser: Browser, shop_url: str, hosts: set[str], *, scripts: bool = True, dark: bool = False
    ) -> None:
        """``hosts`` are those that its pages may ask."""
        self.context: BrowserContext = browser.new_context(
            locale="en", java_script_enabled=scripts, color_scheme="dark" if dark else "light"
        )
        self.context.set_default_timeout(LONG_MS)
        self.has_scripts = scripts
        self.shop_url = shop_url
        self._hosts = hosts
        self.complaints: list[str] = []
        self.page: Page = self._new_page()

    def _new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: self._asked(request.url))
        return page

    def _asked(self, url: str) -> None:
        if url.startswith("http") and url.split("/")[2] not in self._hosts:
            self.complaints.append(f"another host: {url}")

    def give_the_page_up(self) -> None:
        """Goes on in another page, whatever becomes of what this one is loading."""
        self.page.close()
        self.page = self._new_page()

    def close(self) -> None:
        """Closes the window; fails where anything was complained about."""
        self.context.close()
        assert self.complaints == [], self.complaints

    # In the shop

    def fill_basket(self, jars: int = 1, *, gift_box: bool = False) -> None:
        """Chooses what to buy."""
        self.page.goto(self.shop_url)
        self.page.get_by_label("Jars").select_option(str(jars))
        if gift_box:
            self.page.get_by_label("In a gift box").check()

    def order(self, jars: int = 1, *, gift_box: bool = False) -> str:
        """Orders, and is sent to pay; the address of the order's page."""
        self.fill_basket(jars, gift_box=gift_box)
        self.press("Order and pay")
        self.sees_screen("choose")
        back = self.page.get_by_role("link", name="Back to the shop").get_attribute("href") or ""
        return back.partition("?")[0]

    def goes_to_pay(self) -> None:
        """From the order's page."""
        self.page.get_by_role("link", name="Go to the payment page").click()
        self.page.wait_for_url(re.compile("/pay/"))

    def goes_back_to_the_shop(self) -> None:
        """From the payment page."""
        self.page.get_by_role("link", name="Back to the shop").click()
        self.page.wait_for_url(re.compile("/orders/"))

    # On the server's page

    def sees_screen(self, screen: str) -> None:
        """Waits until the payment page shows this."""
        expect(self.page.locator("#state")).to_have_attribute("data-screen", screen, timeout=LONG_MS)

    def chooses(self, method: str) -> None:
        """Picks a way to pay, and goes on."""
        self.page.locator(f"#way-{method}").check()
        self.page.locator("form:has([name=method]) button").click()

    def open_pay_form(self) -> str:
        """Goes on to the gateway's page; its address."""
        self.chooses("pay_form")
        self.page.wait_for_url(re.compile("/pay-form"))
        return self.page.url

    def pay_by_mbank(self, phone: str) -> None:
        """Asks for the code."""
        self.page.locator("#way-mbank").check()
        self.page.locator("#phone").fill(phone)
        self.page.locator("form:has([name=method]) button").click()

    def type_otp(self, otp: str) -> None:
        """Types the code that MBank has sent."""
        self.sees_screen("enter-code")
        # By its keys: a code that is filled in at once is sent at once.
        self.page.locator("#otp").press_sequentially(otp)
        self.page.locator("form:has(#otp) button").click()

    def scan(self) -> str:
        """Reads the QR code from what the screen shows."""
        picture = self.page.locator("svg.qr:visible")
        expect(picture).to_have_count(1)
        (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture.screenshot())))
        return code.text

    # On the gateway's pages

    def type_card(self, card: TestCard) -> None:
        """Pays by card on the pay-form."""
        self.page.get_by_label("Bank card").check()
        typed = {"pan": card.pan, "expiryMonth": "12", "expiryYear": "2039", "cvc": "123", "name": "Aibek Asanov"}
        for name, text in typed.items():
            self.page.locator(f"#{name}").fill(text)
        self.press("Pay")

    def choose_wallet(self, phone: TestPhone) -> None:
        """Picks a wallet on the pay-form."""
        self.page.get_by_label(phone.provider).check()
        self.page.locator("#phone").fill(phone.phone)
        self.press("Pay")

    def confirm(self, otp: str | None) -> None:
        """Types the one-time password into the bank's page."""
        self.page.wait_for_url(re.compile(r"/(3ds|wallet)\?"))
        self.page.locator("#otp").fill(otp or "")
        self.press("Confirm")

    # What they see

    def press(self, name: str) -> None:
        """Presses the button whose words begin so."""
        self.page.get_by_role("button", name=re.compile("^" + re.escape(name))).click()

    def sees(self, title: str) -> None:
        """Waits until the page says it, without reloading it."""
        expect(self.heading).to_have_text(title, timeout=LONG_MS)

    def sees_in_the_shop(self, order_page: str, title: str) -> None:
        """Opens the order's page, and waits until it says so."""
        self.page.goto(order_page)
        self.sees(title)

    @property
    def heading(self) -> Locator:
        """The page's heading."""
        return self.page.get_by_role("heading", level=1)

    def look(self, name: str) -> None:
        """Checks that the page is accessible and fits a phone; keeps pictures of it, where they are wanted."""
        self.page.wait_for_load_state()
        for size, (width, height) in SIZES.items():
            self.page.set_viewport_size({"width": width, "height": height})
            assert self.page.evaluate(WIDTH) <= 0, f"{self.page.url} has to be scrolled sideways on a {size}"
            if SCREENSHOTS:
                self.page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{size}.png", full_page=True)
        check_accessible(self.page)
