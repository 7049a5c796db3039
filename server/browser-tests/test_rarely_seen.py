"""Screens that few payers meet, and that must be right when one does."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import kassa
import pytest
from kassa_sandbox import Sandbox, dialect_json, phones
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser, expect

from buyer import Buyer, Meet
from patience import PATIENCE
from shop import Shop


def uses_number_again(sandbox: Sandbox, order_number: str, amount_som: int) -> None:
    """Another program of the merchant's has a number twice: it takes a payment of its own under it."""
    dialect = kassa.Dialect.from_json(dialect_json("interface"))
    with kassa.Gateway(sandbox.base_url, kassa.Credentials(*sandbox.credentials), dialect=dialect) as gateway:
        payment = kassa.MbankPayment(
            order_number=order_number,
            phone=phones.MBANK_APPROVED.phone,
            amount_som=amount_som,
            comment="Another order",
        )
        gateway.create_mbank_payment(payment)
    sandbox.approve(order_number)


@pytest.mark.parametrize(("language", "scripts"), [("en", True), ("ru", True), ("ky", False)])
def test_payer_with_amount_mismatch_is_not_asked_to_pay_again(
    meet: Meet, sandbox: Sandbox, language: str, *, scripts: bool
) -> None:
    buyer = meet(language, size="small", scripts=scripts)
    with sandbox.faults.add("request-lost", endpoint="mbank/pay", times=1):
        buyer.gives_phone(phones.MBANK_APPROVED.phone)
        buyer.sees("unknown")
    (payment,) = buyer.payments
    uses_number_again(sandbox, payment["order_number"], 500)
    buyer.server.request("POST", f"/v1/checkouts/{buyer.checkout['id']}/check")
    if not scripts:
        buyer.open(buyer.page_url)
    buyer.sees("person-needed")
    expect(buyer.page.locator("button")).to_have_count(0)
    buyer.look("person-needed")


def test_request_that_takes_its_time(meet: Meet, sandbox: Sandbox) -> None:
    buyer = meet("ru", size="small")
    # Longer than the page waits for the gateway, and shorter than the payment deadline of 60 seconds.
    delay = timedelta(seconds=round(min(PATIENCE / 4, 45)))
    with sandbox.faults.add("delay", endpoint="mbank/pay", delay=delay, times=1):
        buyer.gives_phone(phones.MBANK_APPROVED.phone)
        buyer.sees("under-way")
        # Of that screen alone: on a slow machine the next one is there by now.
        expect(buyer.page.locator("#state[data-screen=under-way] button")).to_have_count(0)
        buyer.look("under-way")
    buyer.sees("enter-code")
    assert len(buyer.payments) == 1


def test_payer_of_cancelled_checkout_is_not_asked_to_pay_again(meet: Meet, sandbox: Sandbox) -> None:
    buyer = meet("ru", size="small")
    buyer.picks("qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    buyer.server.request("POST", f"/v1/checkouts/{buyer.checkout['id']}/cancel")
    buyer.sees("late")
    buyer.look("late")
    sandbox.approve(buyer.payments[0]["transaction_id"])
    buyer.sees("paid")


ELQR = "00020101021232430013qr.example.kg0102021104TX171202121302125204581253034175405390005910HONEY SHOP630463e7"


@pytest.fixture
def server_of_its_own(sandbox: Sandbox, tmp_path: Path) -> Iterator[KassaServer]:
    """A server where one code may be tried, and whose database a test may change."""
    settings = {"database": str(tmp_path / "kassa.db"), "otp_attempts": "1"}
    with KassaServer(sandbox=sandbox, settings=settings) as server:
        yield server


@pytest.fixture
def buyer(browser: Browser, server_of_its_own: KassaServer, site: Shop) -> Iterator[Buyer]:
    """A payer there."""
    hosts = {urlsplit(server_of_its_own.url).netloc}
    buyer = Buyer(server_of_its_own, site.return_url, {}, browser, hosts, "ru", size="small", dark=True, scripts=True)
    buyer.open(buyer.page_url)
    yield buyer
    buyer.close()


def test_payer_after_too_many_otp_attempts_waits(buyer: Buyer) -> None:
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters("000000")
    buyer.sees("no-codes-left")
    expect(buyer.page.locator("#otp")).to_have_count(0)
    buyer.look("no-codes-left")
    assert [payment["state"] for payment in buyer.payments] == ["awaiting"]


def test_code_in_elqr_opens_in_the_app_of_a_bank(buyer: Buyer, tmp_path: Path) -> None:
    buyer.picks("qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    with closing(sqlite3.connect(tmp_path / "kassa.db", timeout=PATIENCE)) as database, database:
        # The link of the sandbox's own codes is one to the sandbox.
        database.execute("DELETE FROM due")
        database.execute("UPDATE payments SET qr_text = ?", [f"https://app.mbank.kg/qr/#{ELQR}"])
    buyer.open(buyer.page_url)
    buyer.sees("show-qr")
    any_bank = buyer.page.locator("#state .on-phone > a.button")
    expect(any_bank).to_have_attribute("href", f"https://pay.payqr.kg/#{ELQR.replace(' ', '%20')}")
    banks = buyer.page.locator("#state .banks a:visible")
    expect(banks).to_have_count(13)
    expect(banks.first).to_have_text("MBank")
    # The text of this code is always the same, so the code itself is on the pictures.
    buyer.look("show-qr-banks", shows_codes=True)
    for width in (320, 1280):
        buyer.page.set_viewport_size({"width": width, "height": 800})
        buyer.look(f"show-qr-banks-{width}", shows_codes=True)
    # Elsewhere they are collapsed.
    expect(banks).to_have_count(0)
    buyer.page.locator("#bank-apps summary").click()
    expect(banks).to_have_count(14)
    expect(banks.first).to_have_text("Любой банк")
    buyer.look("show-qr-bank-apps", shows_codes=True)
    buyer.page.emulate_media(color_scheme="light")
    buyer.look("show-qr-light", shows_codes=True)


def test_expired_checkout_page(buyer: Buyer, tmp_path: Path) -> None:
    buyer.sees("choose")
    with closing(sqlite3.connect(tmp_path / "kassa.db", timeout=PATIENCE)) as database, database:
        # A minute at the least, which no test should wait for.
        database.execute("UPDATE checkouts SET expires_at = 1, expiry_due_at = 1")
    buyer.sees("expired")
    expect(buyer.page.locator("button")).to_have_count(0)
    buyer.look("expired")
