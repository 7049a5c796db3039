"""The staff's pages: each page, and each way through them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import cast
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, expect

from history import DAY, History
from patience import PATIENCE
from staff import Open, fill_login, log_in
from visitor import Size, Visitor

SHOWN_DAY = "5 Mar 2024"
UNITS = {"from": "2020-01-01", "until": "2100-01-01"}


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", ["small", "tablet", "desktop"])
def test_every_page_is_accessible_and_fits(
    visit: Open, history: History, size: Size, dark: bool, tmp_path: Path
) -> None:
    # The last statement of another run says which column is which.
    history.write("DELETE FROM statement_mapping")
    visitor = visit(history, size, dark=dark)
    url = history.server.url
    visitor.open(f"{url}/staff/login")
    visitor.look("login")
    log_in(visitor, history)
    visitor.look("start")
    assert_list_suits(visitor, size)
    pages = {
        "person": "/staff?needs=person",
        "found-none": "/staff?q=nothing-is-called-so",
        "found": "/staff?q=paid&method=mbank&from=2020-01-01",
        "russian": "/staff?lang=ru",
        "kyrgyz": "/staff?lang=ky",
        "english": "/staff?lang=en",
        "nobody-paid": history.path("nobody paid"),
        "unknown": history.path("unknown"),
        "overpaid": history.path("overpaid"),
        "overpaid-russian": f"{history.path('overpaid')}?lang=ru",
        "reconciliation-russian": "/staff/reconciliation",
        "day-russian": f"/staff/day?day={DAY}",
        "report-russian": f"/staff/report?day={DAY}",
        "report": f"/staff/report?day={DAY}&lang=en",
        "day": f"/staff/day?day={DAY}",
        "reconciliation": "/staff/reconciliation",
    }
    for name, path in pages.items():
        visitor.open(f"{url}{path}")
        for summary in visitor.page.locator("summary").all():
            summary.click()
        visitor.look(name)
    with visitor.refused(404):
        visitor.open(f"{url}/staff/nowhere")
    visitor.look("nowhere")
    with visitor.refused(400):
        compare(visitor, history, tmp_path, "Номер;Сумма\n1;2\n", {})
    visitor.look("columns")
    text = f"Номер;Сумма\n{history.number('paid')};390\n{history.number('overpaid')};391\nelse;7\n"
    compare(visitor, history, tmp_path, text, {"Order number": "Номер", "Amount": "Сумма"})
    visitor.look("compared")


@pytest.mark.parametrize("window", ["small-dark", "tablet", "desktop"])
def test_every_page_is_in_kyrgyz(visit: Open, history: History, window: str, tmp_path: Path) -> None:
    size, _, dark = window.partition("-")
    visitor = visit(history, cast("Size", size), dark=bool(dark))
    url = history.server.url
    history.write("DELETE FROM statement_mapping")
    log_in(visitor, history)
    visitor.open(f"{url}/staff/login?lang=ky")
    visitor.look("ky-login")
    pages = {
        "person": "/staff?needs=person",
        "found-none": "/staff?q=nothing-is-called-so",
        "found": "/staff?q=paid&method=mbank&from=2020-01-01",
        "nobody-paid": history.path("nobody paid"),
        "unknown": history.path("unknown"),
        "undelivered": history.path("undelivered"),
        "overpaid": history.path("overpaid"),
        "day": f"/staff/day?day={DAY}",
        "report": f"/staff/report?day={DAY}",
        "reconciliation": "/staff/reconciliation",
    }
    for name, path in pages.items():
        visitor.open(f"{url}{path}")
        for summary in visitor.page.locator("summary").all():
            summary.click()
        visitor.look(f"ky-{name}")
    with visitor.refused(404):
        visitor.open(f"{url}/staff/nowhere")
    visitor.look("ky-nowhere")
    file = tmp_path / "export.csv"
    file.write_text(f"amount;order_number\n390;{history.number('paid')}\n391;{history.number('overpaid')}\n7;else\n")
    visitor.open(f"{url}/staff/reconciliation?from={UNITS['from']}&until={UNITS['until']}")
    visitor.page.locator("input[type=file]").set_input_files(file)
    visitor.page.locator("form:has(input[type=file]) button").click()
    visitor.page.locator("[data-count=matched]").wait_for()
    visitor.look("ky-compared")


@pytest.mark.parametrize("language", ["en", "ru", "ky"])
def test_report_and_lists_are_printed(visit: Open, history: History, language: str) -> None:
    visitor = visit(history, dark=True)
    log_in(visitor, history)
    for name, path in {
        "report": f"/staff/report?day={DAY}&lang={language}",
        "day": f"/staff/day?day={DAY}&lang={language}",
        "list": f"/staff?lang={language}",
        "overpaid": f"{history.path('overpaid')}?lang={language}",
    }.items():
        visitor.open(f"{history.server.url}{path}")
        visitor.look_at_print(f"printed-{name}-{language}")


def assert_list_suits(visitor: Visitor, size: Size) -> None:
    """A phone shows a list without its head, and nothing of it has to be scrolled sideways; a desktop shows a table."""
    box = visitor.page.locator(".table-box").first
    if size == "desktop":
        expect(box.locator("thead")).to_be_visible()
        return
    expect(box.locator("tbody tr").first).to_be_visible()
    wide, room = box.evaluate("box => [box.scrollWidth, box.clientWidth]")
    assert wide <= room, f"the list is {wide} px wide in a box of {room} px"


def compare(visitor: Visitor, history: History, folder: Path, text: str, columns: dict[str, str]) -> None:
    """Holds a statement against what was charged, from a file as a program for tables writes it."""
    file = folder / "export.csv"
    file.write_bytes(text.encode("windows-1251"))
    visitor.open(f"{history.server.url}/staff/reconciliation?from={UNITS['from']}&until={UNITS['until']}")
    page = visitor.page
    page.get_by_label("The statement, as a CSV file").set_input_files(file)
    details = page.locator("details")
    if details.get_attribute("open") is None:
        page.get_by_text("Columns", exact=True).click()
    for label, name in columns.items():
        page.get_by_label(label, exact=True).fill(name)
    visitor.press("Compare")


def payment_of(visitor: Visitor) -> Locator:
    """The part of a checkout's page about its payments."""
    return visitor.page.locator("section", has=visitor.page.get_by_role("heading", name="Payments", exact=True))


def test_wrong_key_is_refused_and_guessing_is_slowed_down(visit: Open, own_history: History) -> None:
    visitor = visit(own_history)
    visitor.open(f"{own_history.server.url}/staff/login")
    for _ in range(5):
        with visitor.refused(401):
            fill_login(visitor, "sk_guess")
        expect(visitor.page.get_by_role("alert")).to_contain_text("Wrong or revoked key")
    with visitor.refused(429):
        fill_login(visitor, "sk_guess")
    expect(visitor.page.get_by_role("alert")).to_contain_text("Wait a little")
    fill_login(visitor, own_history.server.new_staff_key("Aizada"))
    expect(visitor.heading).to_have_text("Needs a person")
    visitor.press("Log out")
    expect(visitor.heading).to_have_text("Log in")


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no-scripts"])
def test_staff_finds_and_resolves_payment(visit: Open, own_history: History, scripts: bool) -> None:
    visitor = visit(own_history, "small", scripts=scripts)
    page = visitor.page
    log_in(visitor, own_history)
    page.get_by_label("Find", exact=True).fill(own_history.number("unknown"))
    visitor.press("Show")
    page.get_by_role("link", name="unknown", exact=True).click()
    expect(visitor.heading).to_have_text("unknown")
    page.get_by_text("Requests to the gateway and its responses").click()
    answers = page.get_by_role("region", name="The gateway's responses about payment 1")
    expect(answers.get_by_text("Create payment")).to_be_visible()
    expect(answers.get_by_text("Status query").first).to_be_visible()
    page.get_by_label("No money was taken").check()
    page.get_by_label("How you know this").fill("The gateway's own list has no such payment")
    visitor.press("Decide")
    expect(page.get_by_role("status")).to_have_text("Your decision is recorded, and the shop gets an event.")
    expect(payment_of(visitor).get_by_text("rejected", exact=True)).to_be_visible()
    expect(page.get_by_text("By: Aizada")).to_be_visible()
    expect(page.get_by_role("button", name="Decide")).to_have_count(0)


def test_read_only_staff_sees_no_action_buttons(visit: Open, history: History) -> None:
    visitor = visit(history)
    log_in(visitor, history, "view")
    for reference in ("unknown", "overpaid", "undelivered", "nobody paid"):
        visitor.open(f"{history.server.url}{history.path(reference)}")
        expect(visitor.page.get_by_role("button")).to_have_text(["Log out"])


def test_staff_notes_refund_replays_events_and_cancels(visit: Open, own_history: History) -> None:
    visitor = visit(own_history)
    page, url = visitor.page, own_history.server.url
    log_in(visitor, own_history)
    visitor.open(f"{url}{own_history.path('overpaid')}")
    page.get_by_label("What you did, and why").fill("Refunded at the gateway")
    visitor.press("Record")
    expect(page.get_by_role("status")).to_have_text("The refund is recorded.")
    expect(page.get_by_text("Needs a person")).to_have_count(0)
    visitor.open(f"{url}{own_history.path('undelivered')}")
    visitor.press("Deliver the events again")
    expect(page.get_by_role("status")).to_have_text("The events are being delivered again.")
    visitor.open(f"{url}{own_history.path('nobody paid')}")
    visitor.press("Cancel the checkout")
    expect(page.get_by_role("status")).to_have_text("The checkout is cancelled.")
    visitor.open(f"{url}{own_history.path('unknown-too')}")
    visitor.press("Check status now")
    expect(page.get_by_role("status")).to_contain_text("The status is being checked")
    visitor.open(f"{url}/staff?needs=person")
    expect(page.locator("#all ~ .table-box")).not_to_contain_text("overpaid")


def test_forgotten_payments_are_looked_at(visit: Open, own_history: History) -> None:
    """The database was restored from a backup, and the gateway calls back about what it has forgotten."""
    url = own_history.server.url
    for number, status in (("7310455", "CHARGE"), ("7310456", "Reject"), ("7310457", "CHARGE")):
        callback = {"orderNumber": number, "amount": 390, "currency": "KGS", "status": status, "provider": "MBank"}
        headers = {"Content-Type": "application/json"}
        sent = Request(f"{url}/callbacks/{'0f' * 16}/{number:0>32}", json.dumps(callback).encode(), headers)
        with pytest.raises(HTTPError, match="404"):
            urlopen(sent, timeout=PATIENCE)
    visitor = visit(own_history, "small")
    log_in(visitor, own_history)
    link = visitor.page.get_by_role("link", name="See them, and what to do")
    expect(visitor.page.locator("[data-unknown-callbacks]")).to_contain_text("that are not in this database: 3.")
    link.click()
    expect(visitor.page.locator("tbody tr")).to_have_count(3)
    visitor.look("unknown-callbacks")
    visitor.page.set_viewport_size({"width": 1280, "height": 800})
    for language in ("ru", "ky", "en"):
        visitor.open(f"{url}/staff/unknown-callbacks?lang={language}")
        visitor.look(f"unknown-callbacks-{language}")
    visitor.press("All are checked: remove the list")
    expect(visitor.page.get_by_text("There are none.")).to_be_visible()
    visitor.open(f"{url}/staff")
    expect(visitor.page.locator("[data-unknown-callbacks]")).to_have_count(0)


def test_statement_mapping_is_remembered(visit: Open, own_history: History, tmp_path: Path) -> None:
    visitor = visit(own_history)
    page = visitor.page
    log_in(visitor, own_history)
    text = f"Номер;Сумма\n{own_history.number('paid')};390\n{own_history.number('paid-too')};7\nelse;7\n"
    with visitor.refused(400):
        compare(visitor, own_history, tmp_path, text, {})
    expect(page.get_by_role("alert")).to_contain_text("Choose the number column")
    expect(page.get_by_text("Names of the columns: Номер, Сумма.")).to_be_visible()
    compare(visitor, own_history, tmp_path, text, {"Order number": "Номер", "Amount": "Сумма"})
    counts = {"matched": "1", "differing": "1", "only-there": "1", "only-here": "3"}
    for name, count in counts.items():
        expect(page.locator(f"[data-count={name}]")).to_have_text(count)
    compare(visitor, own_history, tmp_path, text, {})
    expect(page.locator("[data-count=matched]")).to_have_text("1")
    expect(page.get_by_role("heading", name="Charged twice")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download as CSV").click()
    saved = download.value.path().read_text(encoding="utf-8")
    assert own_history.number("paid-yesterday") in saved


def test_day_is_drawn_beside_the_day_before(visit: Open, history: History) -> None:
    visitor = visit(history)
    page = visitor.page
    log_in(visitor, history)
    page.get_by_role("link", name="Day", exact=True).click()
    expect(visitor.heading).to_contain_text("so far")
    page.get_by_label("Day, in Bishkek").fill(DAY)
    visitor.press("Show")
    expect(page.get_by_role("img", name="Charged payments by hour and method")).to_be_visible()
    expect(page.locator("[data-end=charged]")).to_have_text("4")
    page.get_by_role("navigation", name="Days").get_by_role("link").first.click()
    expect(page.locator("[data-end=charged]")).to_have_text("1")
    page.get_by_role("navigation", name="Days").get_by_role("link", name=SHOWN_DAY).click()
    expect(visitor.heading).to_have_text(SHOWN_DAY)
    expect(page.get_by_text("The day before: 1 (390.00 som)").first).to_be_visible()
    page.get_by_role("link", name="Printable report of the day").click()
    expect(visitor.heading).to_have_text("Report of the day 5 Mar 2024")
    expect(page.locator("[data-report-total]")).to_have_text("1,560.00 som")


def test_language_is_picked_and_remembered(visit: Open, history: History) -> None:
    visitor = visit(history)
    page = visitor.page
    log_in(visitor, history)
    visitor.open(f"{history.server.url}/staff?q=paid")
    page.get_by_role("navigation", name="Language").get_by_role("link", name="Русский").click()
    expect(page.locator("#all")).to_have_text("Найдено")
    expect(page.get_by_label("Найти", exact=True)).to_have_value("paid")
    page.get_by_role("link", name="День", exact=True).click()
    expect(page.get_by_role("button", name="Показать")).to_be_visible()
    page.get_by_role("link", name="Кыргызча").click()
    expect(page.get_by_role("button", name="Көрсөтүү")).to_be_visible()


def test_list_is_filtered_added_up_and_downloaded(visit: Open, history: History) -> None:
    visitor = visit(history, scripts=False)
    page = visitor.page
    log_in(visitor, history)
    page.get_by_label("Find", exact=True).fill("paid-")
    page.get_by_label("Method", exact=True).select_option("mbank")
    visitor.press("Show")
    expect(page.locator("[data-totals]")).to_contain_text("checkouts: 2, charged payments: 2")
    expect(page.locator("[data-totals]")).to_contain_text("780.00 som")
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the list as CSV").click()
    saved = download.value.path().read_bytes()
    assert saved.startswith(b"\xef\xbb\xbf")
    assert history.number("paid-too").encode() in saved
    assert history.number("overpaid").encode() not in saved
