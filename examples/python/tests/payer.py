"""Somebody with a browser: what they press in the shop and on the gateway's pages."""

from __future__ import annotations

import io
import os
import re
from pathlib import Path

import zxingcpp
from kassa_sandbox import TestCard, TestPhone
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

SIZES = {"phone": (390, 844), "desktop": (1280, 800)}
SCREENSHOTS = os.environ.get("KASSA_SCREENSHOTS")


class Payer:
    """One browser window. It notes what the pages complain about."""

    def __init__(self, browser: Browser, shop_url: str, *, scripts: bool = True, dark: bool = False) -> None:
        self.context: BrowserContext = browser.new_context(
            java_script_enabled=scripts, color_scheme="dark" if dark else "light"
        )
        self.context.set_default_timeout(60_000)
        self.shop_url = shop_url
        self.complaints: list[str] = []
        self.page: Page = self._new_page()

    def _new_page(self) -> Page:
        page = self.context.new_page()
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        return page

    def give_the_page_up(self) -> None:
        """Goes on in another page, whatever becomes of what this one is loading."""
        self.page.close()
        self.page = self._new_page()

    # In the shop

    def order(self, jars: int = 1, *, gift_box: bool = False) -> str:
        """Orders; the address of the order's page."""
        self.page.goto(self.shop_url)
        self.page.get_by_label("Jars").select_option(str(jars))
        if gift_box:
            self.page.get_by_label("In a gift box").check()
        self.look("product")
        self.press("Order")
        self.sees("How would you like to pay?")
        return self.page.url

    def type_card(self, card: TestCard, expiry: str = "12 / 39") -> None:
        """Fills in the shop's form for cards."""
        self.page.get_by_role("link", name="Card, here in the shop").click()
        self.page.get_by_label("Card number").fill(card.pan)
        self.page.get_by_label("Expiry date").fill(expiry)
        self.page.get_by_label("Security code").fill("123")
        self.page.get_by_label("Name on the card").fill("Aibek Asanov")

    def pay_by_card(self, card: TestCard) -> None:
        """Pays with the shop's form for cards."""
        self.type_card(card)
        self.look("card-form")
        self.press("Pay ")

    def pay_by_mbank(self, phone: str) -> None:
        """Asks for the code."""
        self.page.get_by_role("link", name="MBank", exact=True).click()
        self.page.get_by_label("Phone number").fill(phone)
        self.look("mbank-form")
        self.press("Send me the code")
        self.sees("Enter the code")

    def open_pay_form(self) -> str:
        """Goes to the payment page; its address."""
        self.press("Pay on the payment page")
        self.page.wait_for_url(re.compile("/pay-form"))
        return self.page.url

    def type_otp(self, otp: str) -> None:
        """Types the code into the shop's page."""
        self.page.get_by_label("Code from MBank").fill(otp)
        self.press("Pay ")

    # On the gateway's pages

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
        expect(self.heading).to_have_text(title)

    @property
    def heading(self) -> Locator:
        """The page's heading."""
        return self.page.get_by_role("heading", level=1)

    def scan(self) -> str:
        """Reads the QR code from what the screen shows."""
        picture = self.page.get_by_alt_text("QR code")
        expect(picture).to_have_js_property("complete", value=True)
        (code,) = zxingcpp.read_barcodes(Image.open(io.BytesIO(picture.screenshot())))
        return code.text

    def look(self, name: str) -> None:
        """Keeps pictures of the page, where they are wanted."""
        if SCREENSHOTS:
            folder = Path(SCREENSHOTS)
            for size, (width, height) in SIZES.items():
                self.page.set_viewport_size({"width": width, "height": height})
                self.page.screenshot(path=folder / f"{name}-{size}.png", full_page=True)
