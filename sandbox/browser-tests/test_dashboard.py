"""The merchant's dashboard."""

from __future__ import annotations

import csv
import io
import time
import urllib.request
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from kassa_sandbox import Sandbox, cards
from playwright.sync_api import Browser, Download, expect

from patience import PATIENCE
from shop import Shop
from staff import PAGES, check_held, fill_login, log_in
from visitor import HELD, Size, Visit, Visitor

NOW = datetime(2040, 3, 14, 15, 1, tzinfo=timezone(timedelta(hours=6)))
"""When the invented history ends: the same history each time, whose days and charts are compared. The hour has only begun."""


@pytest.fixture(scope="session")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """A sandbox with an invented history, on a Wednesday in Bishkek."""
    database = tmp_path_factory.mktemp("sandbox") / "demo.db"
    with Sandbox(database=database) as empty:
        empty.clock.forward(timedelta(seconds=round(NOW.timestamp() - time.time())))
    # The file keeps the clock, and has no payments yet.
    with Sandbox(database=database, demo_payments=2000) as sandbox:
        yield sandbox


@pytest.fixture
def merchant(browser: Browser, history: Sandbox) -> Iterator[Visitor]:
    """Somebody who is logged in where much has happened."""
    visitor = Visitor(browser, {urlsplit(history.base_url).netloc}, "en", size="desktop", dark=False, scripts=True)
    log_in(visitor, history)
    yield visitor
    visitor.close()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", ["small", "tablet", "desktop"])
def test_every_page_is_accessible_and_fits(browser: Browser, history: Sandbox, size: Size, dark: bool) -> None:
    visitor = Visitor(browser, {urlsplit(history.base_url).netloc}, "en", size=size, dark=dark, scripts=True)
    visitor.open(f"{history.base_url}/dashboard")
    visitor.look("login")
    fill_login(visitor, *history.credentials)
    expect(visitor.heading).to_have_text("Transactions")
    for name, path in PAGES.items():
        visitor.open(f"{history.base_url}{path}")
        look_and_hold(visitor, name, size)
        if name in ("transactions", "deliveries"):
            assert_list_suits(visitor, size)
    visitor.open(f"{history.base_url}/dashboard/deliveries")
    visitor.page.locator("tbody a").first.click()
    expect(visitor.page.get_by_role("heading", name="Response")).to_be_visible()
    look_and_hold(visitor, "delivery", size)
    visitor.open(f"{history.base_url}/dashboard?status=CHARGE&kind=card")
    visitor.page.locator("tbody a").first.click()
    expect(visitor.page.get_by_role("heading", name="History")).to_be_visible()
    visitor.page.locator("summary").first.click()
    look_and_hold(visitor, "payment", size)
    visitor.close()


def look_and_hold(visitor: Visitor, name: str, size: Size) -> None:
    visitor.look(name)
    if size in HELD:
        check_held(visitor)


def assert_list_suits(visitor: Visitor, size: Size) -> None:
    """A phone shows a list without its head, and nothing of it has to be scrolled sideways; a desktop shows a table."""
    head = visitor.page.locator(".table-box thead")
    box = visitor.page.locator(".table-box")
    if size == "desktop":
        expect(head).to_be_visible()
        return
    expect(box.locator("tbody tr").first).to_be_visible()
    expect(head).to_be_hidden()
    wide, room = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert wide <= room, f"{visitor.page.url}: the list is {wide} px wide in a box of {room} px"


def test_phone_shows_figures_as_rows_with_bars_the_newest_first(browser: Browser, history: Sandbox) -> None:
    visitor = Visitor(browser, {urlsplit(history.base_url).netloc}, "en", size="small", dark=False, scripts=True)
    log_in(visitor, history, "/dashboard/charts")
    rows = visitor.page.locator(".sums tbody tr")
    expect(rows).to_have_count(30)
    expect(visitor.page.locator(".chart").first).to_be_hidden()
    days = [
        datetime.strptime(text, "%d %b %Y") for text in visitor.page.locator(".sums th[scope=row]").all_inner_texts()
    ]
    assert days == sorted(days, reverse=True)
    busy = visitor.page.locator(".sums tbody tr:not(.none)").first
    expect(busy.locator("svg rect").first).to_be_visible()
    unit = "node => getComputedStyle(node, '::after').content"
    assert busy.locator("td.number").nth(1).evaluate(unit) == '" charged"'
    visitor.open(f"{history.base_url}/dashboard/analysis?span=90")
    expect(visitor.page.locator(".chart").first).to_be_hidden()
    expect(visitor.page.get_by_role("region", name="Reasons").locator("svg rect").first).to_be_visible()
    visitor.close()


def wait_for_a_callback(sandbox: Sandbox, order: str) -> None:
    """An attempt is written down only after its receiver has answered, and no page waits for that."""
    deadline = time.monotonic() + PATIENCE
    while not sandbox.callbacks(order):
        assert time.monotonic() < deadline, "no callback was delivered"
        time.sleep(0.01)


def test_empty_sandbox_says_how_to_begin(visit: Visit, kassa_sandbox: Sandbox) -> None:
    merchant = visit()
    log_in(merchant, kassa_sandbox)
    expect(merchant.page.get_by_text("No payment was made yet.")).to_be_visible()
    merchant.look("empty")
    for path in PAGES.values():
        merchant.open(f"{kassa_sandbox.base_url}{path}")
        expect(merchant.heading).to_be_visible()


def test_stranger_is_asked_to_log_in_and_gets_where_they_wanted(visit: Visit, kassa_sandbox: Sandbox) -> None:
    merchant = visit()
    merchant.open(f"{kassa_sandbox.base_url}/dashboard/analysis?span=90")
    expect(merchant.heading).to_have_text("Log in")
    with merchant.refused(403):
        fill_login(merchant, "kassa", "wrong")
        expect(merchant.page.get_by_role("alert")).to_have_text("Wrong login or password.")
    merchant.look("login-refused")
    fill_login(merchant, *kassa_sandbox.credentials)
    expect(merchant.heading).to_have_text("Analysis")
    assert merchant.page.url.endswith("/dashboard/analysis?span=90")
    merchant.press("Log out")
    expect(merchant.heading).to_have_text("Log in")
    merchant.open(f"{kassa_sandbox.base_url}/dashboard")
    expect(merchant.heading).to_have_text("Log in")


def test_start_page_leads_everywhere(visit: Visit, kassa_sandbox: Sandbox) -> None:
    merchant = visit()
    places = {"Dashboard": "Log in", "Control": "Control", "API description": "API", "Receiver": "Log in"}
    for link, heading in places.items():
        merchant.open(kassa_sandbox.base_url)
        merchant.page.get_by_role("main").get_by_role("link", name=link, exact=True).click()
        expect(merchant.heading).to_have_text(heading)
    merchant.page.get_by_role("link", name="Kassa sandbox").click()
    expect(merchant.page.get_by_role("heading", name="The payer's pages")).to_be_visible()


def test_payment_is_followed_from_request_to_callback(visit: Visit, kassa_sandbox: Sandbox, shop: Shop) -> None:
    payer = visit()
    payer.open(shop.card_payment(order="followed-1"))
    payer.page.get_by_label("One-time password").fill(cards.APPROVED.otp or "")
    payer.press("Confirm")
    expect(payer.heading).to_have_text("The shop")
    wait_for_a_callback(kassa_sandbox, "followed-1")

    merchant = visit()
    log_in(merchant, kassa_sandbox)
    merchant.page.get_by_label("Search").fill("followed")
    merchant.press("Show")
    expect(merchant.page.get_by_role("heading", name="1 matching payment")).to_be_visible()
    merchant.page.get_by_role("link", name="followed-1").click()
    expect(merchant.heading).to_have_text("followed-1")
    history = merchant.page.locator(".history")
    expect(history).to_contain_text("Request to payment")
    expect(history).to_contain_text("Callback, attempt 1")
    merchant.page.get_by_text("Request", exact=True).first.click()
    expect(history).to_contain_text('"pan": "411111******1111"')
    merchant.look("followed", varies=True)  # how long each step took


def test_open_payment_leads_to_its_payer_s_page_and_to_where_it_is_decided(
    visit: Visit, kassa_sandbox: Sandbox, shop: Shop
) -> None:
    shop.card_payment(order="open-1")
    merchant = visit()
    log_in(merchant, kassa_sandbox, "/dashboard?q=open-1")
    merchant.page.get_by_role("link", name="open-1").click()
    merchant.look("payment-open")
    merchant.page.get_by_role("link", name="Open the payer's page").click()
    expect(merchant.heading).to_have_text("Confirm the payment")
    merchant.page.go_back()
    merchant.page.get_by_role("link", name="Decide it").click()
    merchant.page.get_by_label("Admin token").fill(kassa_sandbox.admin_token)
    merchant.press("Continue")
    number = kassa_sandbox.payment("open-1").gateway_number
    expect(merchant.page.get_by_label("Order number, gateway number")).to_have_value(number)
    expect(merchant.page.get_by_role("heading", name="Decide a payment")).to_be_in_viewport()
    merchant.press("Decline")
    expect(merchant.page.get_by_role("status")).to_have_text("The payment was decided.")
    assert kassa_sandbox.payment("open-1").status == "Reject"


def test_callback_to_the_receiver_is_seen_and_delivered_again(visit: Visit, kassa_sandbox: Sandbox) -> None:
    with Shop(kassa_sandbox) as shop:
        shop.callback_url = f"{kassa_sandbox.base_url}/receiver/my-shop"
        payer = visit()
        payer.open(shop.card_payment(order="seen-1"))
        payer.press("Cancel the payment")
        expect(payer.heading).to_have_text("Not paid")
        wait_for_a_callback(kassa_sandbox, "seen-1")

    merchant = visit()
    log_in(merchant, kassa_sandbox, "/dashboard/deliveries?order=seen-1")
    expect(merchant.page.locator("tbody tr")).to_have_count(1)
    merchant.press("Deliver again: seen-1, attempt 1")
    expect(merchant.page.get_by_role("status")).to_contain_text("on its way once more")
    merchant.look("delivered-again", varies=True)  # the callback is delivered sooner or later
    load_until_delivered(merchant, 2)
    merchant.open(f"{kassa_sandbox.base_url}/dashboard/receiver")
    expect(merchant.page.locator(".event")).to_have_count(2)
    expect(merchant.page.locator(".event").first).to_contain_text('"orderNumber":"seen-1"')
    merchant.look("received", varies=True)  # when and with what each callback came
    merchant.press("Clear")
    expect(merchant.page.get_by_text("Nothing yet.")).to_be_visible()


def load_until_delivered(merchant: Visitor, attempts: int) -> None:
    """Loads the deliveries again until so many attempts are there."""
    rows = merchant.page.locator("tbody tr")
    merchant.page.get_by_role("link", name="Load the list again").click()
    expect(merchant.page.get_by_role("status")).to_have_count(0)
    deadline = time.monotonic() + PATIENCE
    while rows.count() < attempts:
        assert time.monotonic() < deadline, f"never seen: attempt {attempts}"
        merchant.page.reload()
    expect(rows).to_have_count(attempts)


def test_list_is_filtered_sorted_and_paged(merchant: Visitor) -> None:
    page = merchant.page
    page.get_by_label("Status").select_option("Rejected")
    merchant.press("Show")
    expect(page.get_by_role("heading", name="matching payments")).to_be_visible()
    page.wait_for_load_state()
    assert set(page.locator("tbody .badge").all_inner_texts()) == {"Rejected"}
    page.get_by_role("link", name="Amount").click()
    expect(page.get_by_role("columnheader", name="Amount")).to_have_attribute("aria-sort", "descending")
    page.wait_for_load_state()
    first = page.locator("tbody td.number").all_inner_texts()
    amounts = [float(text.split()[0].replace(",", "")) for text in first]
    assert amounts == sorted(amounts, reverse=True)
    page.get_by_role("link", name="Next").click()
    expect(page.get_by_role("link", name="Previous")).to_be_visible()
    page.wait_for_load_state()
    second = page.locator("tbody td.number").all_inner_texts()
    assert float(second[0].split()[0].replace(",", "")) <= amounts[-1]
    page.get_by_role("link", name="Previous").click()
    expect(page.get_by_role("link", name="Previous")).to_be_hidden()
    page.wait_for_load_state()
    assert page.locator("tbody td.number").all_inner_texts() == first
    with merchant.refused(400):
        page.get_by_label("Amount from").fill("a lot")
        merchant.press("Show")
        expect(page.get_by_role("alert")).to_contain_text("Amount from must be an amount")


def test_export_has_what_the_filter_shows(merchant: Visitor, tmp_path: Path) -> None:
    page = merchant.page
    page.get_by_label("Provider").select_option("MegaPay")
    merchant.press("Show")
    heading = page.get_by_role("heading", name="matching payments").inner_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="Export as CSV").click()
    path = tmp_path / "transactions.csv"
    download.value.save_as(path)
    with io.StringIO(path.read_text(encoding="utf-8-sig")) as text:
        rows = list(csv.DictReader(text))
    assert len(rows) == int(heading.split()[0].replace(",", ""))
    assert {row["provider"] for row in rows} == {"MegaPay"}


def test_export_after_the_session_ended_leads_to_the_login_and_back_to_the_list(merchant: Visitor) -> None:
    page = merchant.page
    page.get_by_label("Provider").select_option("MegaPay")
    merchant.press("Show")
    heading = page.get_by_role("heading", name="matching payments").inner_text()
    downloads: list[Download] = []
    page.on("download", lambda download: downloads.append(download))
    merchant.context.clear_cookies()
    page.get_by_role("link", name="Export as CSV").click()
    expect(merchant.heading).to_have_text("Log in")
    fill_login(merchant, "kassa", "sandbox-password")
    expect(merchant.heading).to_have_text("Transactions")
    expect(page.get_by_label("Provider")).to_have_value("MegaPay")
    expect(page.get_by_role("heading", name="matching payments")).to_have_text(heading)
    assert downloads == []


def test_choice_between_light_and_dark_stays(merchant: Visitor, history: Sandbox) -> None:
    page = merchant.page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    merchant.press("Change between light and dark")
    assert page.evaluate(background) != light
    merchant.open(f"{history.base_url}/dashboard/charts")
    assert page.evaluate(background) != light
    merchant.press("Change between light and dark")
    assert page.evaluate(background) == light


def test_charts_follow_the_theme(merchant: Visitor, history: Sandbox) -> None:
    merchant.open(f"{history.base_url}/dashboard/charts")
    bar = merchant.page.locator('.chart [fill="#010101"]').first
    colour = "node => getComputedStyle(node).fill"
    light = bar.evaluate(colour)
    merchant.press("Change between light and dark")
    assert bar.evaluate(colour) not in (light, "rgb(1, 1, 1)")


def test_pages_work_without_scripts(visit: Visit, kassa_sandbox: Sandbox, shop: Shop) -> None:
    shop.card_payment(order="plain-1")
    merchant = visit(scripts=False)
    log_in(merchant, kassa_sandbox)
    merchant.page.get_by_role("link", name="plain-1").click()
    expect(merchant.heading).to_have_text("plain-1")
    merchant.look("payment", varies=True)  # how long each step took


def test_keyboard_gets_past_the_navigation_at_once(merchant: Visitor) -> None:
    merchant.page.keyboard.press("Tab")
    expect(merchant.focused).to_have_text("Skip to the content")
    merchant.page.keyboard.press("Enter")
    expect(merchant.page.locator("#content")).to_be_focused()


def test_static_files_are_kept_by_the_browser(kassa_sandbox: Sandbox) -> None:
    with urllib.request.urlopen(f"{kassa_sandbox.base_url}/dashboard/login") as answer:
        html = answer.read().decode()
    name = html.split('href="../assets/base-')[1].split('"')[0]
    with urllib.request.urlopen(f"{kassa_sandbox.base_url}/assets/base-{name}") as answer:
        assert "immutable" in answer.headers["cache-control"]
