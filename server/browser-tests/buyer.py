"""Somebody with a browser window on the hosted page of a checkout."""

from __future__ import annotations

import itertools
from typing import Any, Protocol

from kassa_sandbox import TestPhone
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser, expect

from visitor import Size, Visitor

NUMBERS = itertools.count(1)
ANY = ("moderate", "serious", "critical")


class Buyer(Visitor):
    """A payer, and the checkout to pay."""

    def __init__(
        self,
        server: KassaServer,
        return_url: str,
        wanted: dict[str, object],
        browser: Browser,
        hosts: set[str],
        language: str,
        *,
        size: Size,
        dark: bool,
        scripts: bool,
    ) -> None:
        """``wanted`` is what is wanted other than 390,50 som for honey."""
        super().__init__(browser, hosts, language, size=size, dark=dark, scripts=scripts, grave=ANY)
        self.server = server
        self.reference = f"order-{next(NUMBERS)}"
        order: dict[str, object] = {
            "reference": self.reference,
            "amount": "390",
            "description": "Эки банка ак бал, 500 г",
            "return_url": return_url,
        }
        self.page_url: str = server.request("POST", "/v1/checkouts", order | wanted)["page_url"]

    @property
    def checkout(self) -> dict[str, Any]:
        """The checkout, as the shop sees it."""
        return self.server.checkout(self.reference)

    @property
    def payments(self) -> list[dict[str, Any]]:
        """Its payments."""
        payments: list[dict[str, Any]] = self.checkout["payments"]
        return payments

    def sees(self, screen: str) -> None:
        """Waits until the page shows this."""
        expect(self.page.locator("#state")).to_have_attribute("data-screen", screen)

    def picks(self, method: str) -> None:
        """Picks a way to pay."""
        self.page.locator(f"#way-{method}").check()

    def goes_on(self) -> None:
        """Presses the button of the ways to pay."""
        self.page.locator("form:has([name=method]) button").click()

    def gives_phone(self, phone: str) -> None:
        """Asks to pay by mobile bank."""
        self.fills_in_phone(phone)
        self.goes_on()

    def fills_in_phone(self, phone: str) -> None:
        """Picks mobile bank, and types."""
        self.picks("mbank")
        self.page.locator("#phone").fill(phone)

    def gives_wallet_phone(self, phone: str) -> None:
        """Asks to pay from a MegaPay wallet."""
        self.picks("megapay")
        self.page.locator("#wallet-phone").fill(phone)
        self.goes_on()

    def enters(self, otp: str) -> None:
        """Sends a one-time password."""
        # Typed: what is filled in at once is sent at once.
        self.page.locator("#otp").press_sequentially(otp)
        self.page.locator("form:has(#otp) button").click()

    def pays_on_the_form(self, phone: TestPhone) -> None:
        """What a payer does on the gateway's page, in its English."""
        self.page.get_by_role("radio", name=phone.provider).check()
        self.page.get_by_label("Phone number").fill(phone.phone)
        self.page.get_by_role("button", name="Pay KGS").click()
        self.page.get_by_label("One-time password").fill(phone.otp)
        self.press("Confirm")

    def is_back_and_sees(self, screen: str) -> None:
        """Waits until the page shows this after the gateway's page."""
        expect(self.page.locator("#state")).to_have_count(1)
        waits = self.page.locator("#state[data-screen=claimed], #state[data-screen=open-page]")
        while not self.has_scripts and waits.count():
            # The gateway's answer took longer than the page waits for it, or its callback has not come yet.
            self.page.locator("form[action*=check] button").click()
        self.sees(screen)


class Meet(Protocol):
    """Opens a checkout, and its payer's window."""

    def __call__(
        self,
        language: str = "en",
        *,
        size: Size = "desktop",
        dark: bool = False,
        scripts: bool = True,
        **wanted: object,
    ) -> Buyer: ...
