"""Each way to pay, to its end: with scripts and without, on a phone, a tablet and a desktop, in the light and in the dark."""

from __future__ import annotations

import pytest
from kassa_sandbox import Sandbox, phones
from playwright.sync_api import Route, expect

from buyer import Buyer, Meet
from shop import Shop
from visitor import Size

WINDOWS: list[tuple[str, Size, bool, bool]] = [
    ("en", "small", False, True),
    ("en", "small", False, False),
    ("ru", "tablet", True, True),
    ("ky", "small", True, True),
    ("ky", "desktop", False, True),
    ("ru", "desktop", True, False),
]


@pytest.fixture(params=WINDOWS, ids=lambda window: "-".join(map(str, window)))
def window(request: pytest.FixtureRequest) -> tuple[str, Size, bool, bool]:
    chosen: tuple[str, Size, bool, bool] = request.param
    return chosen


@pytest.fixture
def buyer(meet: Meet, window: tuple[str, Size, bool, bool]) -> Buyer:
    language, size, dark, scripts = window
    return meet(language, size=size, dark=dark, scripts=scripts)


def test_by_mobile_bank(buyer: Buyer, sandbox: Sandbox, site: Shop) -> None:
    phone = phones.MBANK_APPROVED
    buyer.sees("choose")
    buyer.look("choose")
    with buyer.refused(422):
        buyer.gives_phone("0555 12")
        expect(buyer.page.locator("#phone")).to_have_attribute("aria-invalid", "true")
    expect(buyer.page.locator("#phone")).to_be_focused()
    expect(buyer.page.locator("#phone")).to_have_value("0555 12")
    buyer.look("choose-wrong-phone")
    if buyer.has_scripts:
        goes_to = buyer.page.locator("#phone-goes-to")
        for typed, shown in [("0555 00-01-01", "+996 555 000 101"), ("+7 701 000 00 01", "+77010000001")]:
            buyer.fills_in_phone(typed)
            expect(goes_to).to_contain_text(shown)
        buyer.fills_in_phone("0555 00-01")
        expect(goes_to).to_be_empty()
    buyer.gives_phone(f"0{phone.phone[3:6]} {phone.phone[6:9]} {phone.phone[9:]}")
    buyer.sees("enter-code")
    expect(buyer.page.locator("#otp")).to_be_focused()
    buyer.look("enter-code")
    buyer.enters("000000")
    expect(buyer.page.locator("#otp-problem")).to_be_visible()
    expect(buyer.page.locator("#otp")).to_have_value("")
    buyer.look("enter-code-wrong")
    buyer.enters(phone.otp)
    buyer.sees("paid")
    buyer.look("paid")
    assert [payment.times_charged for payment in sandbox.ledger(buyer.payments[0]["order_number"])] == [1]
    buyer.page.locator("#state a.button").click()
    expect(buyer.heading).to_have_text("The shop")
    assert buyer.page.url == site.return_url


def test_by_wallet(buyer: Buyer, sandbox: Sandbox) -> None:
    phone = phones.MEGAPAY_APPROVED
    with buyer.refused(422):
        buyer.gives_wallet_phone("0755 12")
        expect(buyer.page.locator("#wallet-phone")).to_have_attribute("aria-invalid", "true")
    buyer.look("choose-wrong-wallet-phone")
    buyer.gives_wallet_phone(phone.phone)
    buyer.sees("enter-code")
    buyer.look("enter-pin")
    expect(buyer.page.locator("dl.sums dd")).to_contain_text(["390", "7", "397"])
    expect(buyer.page.locator("form:has(#otp) button")).to_contain_text("397")
    buyer.enters("000000")
    expect(buyer.page.locator("#otp-problem")).to_be_visible()
    buyer.look("enter-pin-wrong")
    buyer.enters(phone.otp)
    buyer.sees("paid")
    assert [payment.times_charged for payment in sandbox.ledger(buyer.payments[0]["order_number"])] == [1]


def test_by_qr_code(buyer: Buyer, sandbox: Sandbox, window: tuple[str, Size, bool, bool]) -> None:
    buyer.picks("qr")
    buyer.look("choose-qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    buyer.look("show-qr")
    link = buyer.page.locator("#state .on-phone > a.button")
    code = buyer.page.locator("svg.qr:visible")
    if window[1] == "small":
        expect(link).to_have_attribute("href", buyer.payments[0]["qr_text"])
        expect(code).to_have_count(0)
        buyer.page.locator("#shown-code summary").click()
        buyer.look("show-qr-opened")
    expect(code).to_have_count(1)
    if buyer.has_scripts:
        buyer.page.evaluate("window.isTheSamePage = true")
    sandbox.approve(buyer.payments[0]["transaction_id"])
    # Nobody touches it: without scripts it loads again by itself.
    buyer.sees("paid")
    if buyer.has_scripts:
        assert buyer.page.evaluate("window.isTheSamePage"), "it was not loaded again"
        expect(buyer.page.locator("#news")).to_have_text(buyer.heading.inner_text())


@pytest.mark.parametrize("scripts", [True, False])
def test_another_number(meet: Meet, sandbox: Sandbox, *, scripts: bool) -> None:
    buyer = meet("en", size="small", scripts=scripts)
    wrong, right = phones.MBANK_DECLINED, phones.MBANK_APPROVED
    buyer.gives_phone(wrong.phone)
    buyer.sees("enter-code")
    # With scripts the page knows more of the number than the server keeps.
    shown = "The code was sent to +996 555 ••• {}." if scripts else "the number that ends in {}."
    expect(buyer.page.locator("#state")).to_contain_text(shown.format(wrong.phone[-3 if scripts else -2 :]))
    # What was typed stays, also where the page showed something else meanwhile.
    expect(buyer.page.locator("#phone")).to_have_value(wrong.phone if scripts else "")
    buyer.page.locator("#others summary").click()
    buyer.look("enter-code-others")
    buyer.gives_phone(right.phone)
    expect(buyer.page.locator("#state")).to_contain_text(shown.format(right.phone[-3 if scripts else -2 :]))
    buyer.enters(right.otp)
    buyer.sees("paid")
    charged = [sandbox.ledger(payment["order_number"]) for payment in buyer.payments]
    assert [[payment.times_charged for payment in ledger] for ledger in charged] == [[0], [1]]


def test_late_answer_about_the_same_state_moves_nothing(meet: Meet) -> None:
    buyer = meet("en", size="small")
    waiting: list[Route] = []
    buyer.page.route("**/state?**", lambda route: waiting.append(route))
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    # The form's answer has put in this state, and an older request for news is still under way.
    buyer.sees("enter-code")
    buyer.page.locator("#others summary").click()
    buyer.page.evaluate("document.getElementById('state').isTheFirst = true")
    with buyer.page.expect_request("**/state?**"):
        waiting[-1].continue_()
    assert buyer.page.evaluate("document.getElementById('state').isTheFirst") is True
    assert buyer.page.locator("#others summary:focus-visible").count() == 0


def test_answer_lost_behind_its_news_asks_for_nothing(meet: Meet) -> None:
    buyer = meet("en")
    waiting: list[Route] = []

    def hold_answer(route: Route) -> None:
        if route.request.method == "POST":
            waiting.append(route)
            # The news may come before the server's answer to this request.
            route.fetch()
        else:
            route.continue_()

    buyer.page.route("**/pay/**", hold_answer)
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.sees("enter-code")
    with buyer.page.expect_event("requestfailed"):
        waiting[-1].abort("connectionreset")
    buyer.page.evaluate("new Promise((done) => { setTimeout(done); })")
    expect(buyer.page.locator("#not-sent")).to_have_text("")
    buyer.page.unroute_all(behavior="wait")
    buyer.complaints.clear()
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    assert len(buyer.payments) == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_no_app_for_the_code(meet: Meet, *, scripts: bool) -> None:
    buyer = meet("en", size="small", scripts=scripts)
    buyer.picks("qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    if scripts:
        buyer.page.locator("#others summary").click()
    else:
        # The page loads again by itself, so what is typed is on another one.
        buyer.page.get_by_role("link", name="Pay another way").click()
    buyer.look("show-qr-others")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")


def test_on_the_gateways_page(buyer: Buyer) -> None:
    buyer.picks("pay_form")
    buyer.goes_on()
    # Over a page between, which nobody has to touch.
    buyer.page.wait_for_url("**/pay-form?**")
    form = buyer.page.url
    assert form == buyer.payments[0]["page_url"]
    buyer.page.go_back()
    buyer.sees("open-page")
    buyer.look("open-page")
    buyer.page.locator("#others summary").click()
    buyer.look("open-page-others")
    buyer.page.locator("#state a.button").click()
    buyer.page.wait_for_url(form)
    buyer.server.pay_by_form(form)
    # As the gateway's page sends the payer back.
    buyer.open(f"{buyer.page_url}/back?statusCode=200")
    buyer.is_back_and_sees("paid")
    assert buyer.page.url == buyer.page_url
    assert len(buyer.payments) == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_gateways_page_sends_its_payer_back(meet: Meet, *, scripts: bool) -> None:
    buyer = meet("en", size="small", scripts=scripts)
    buyer.picks("pay_form")
    buyer.goes_on()
    buyer.page.wait_for_url("**/pay-form?**")
    buyer.pays_on_the_form(phones.MEGAPAY_APPROVED)
    buyer.is_back_and_sees("paid")
    assert buyer.page.url == buyer.page_url
    assert buyer.checkout["state"] == "paid"
