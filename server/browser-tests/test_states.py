"""What goes wrong, and what people do: two windows, the way back, no line, the keyboard alone."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone

import pytest
from kassa_sandbox import Sandbox, phones
from playwright.sync_api import expect

from buyer import Buyer, Meet
from shop import Shop
from visitor import Size

WINDOWS: list[tuple[str, Size, bool]] = [("en", "small", False), ("ru", "tablet", True), ("ky", "desktop", False)]


@pytest.mark.parametrize("window", WINDOWS, ids=lambda window: "-".join(map(str, window)))
def test_nobody_is_asked_to_pay_what_may_be_paid(meet: Meet, sandbox: Sandbox, window: tuple[str, Size, bool]) -> None:
    language, size, dark = window
    buyer = meet(language, size=size, dark=dark)
    with (
        sandbox.faults.add("response-lost", endpoint="mbank/pay", times=1),
        sandbox.faults.add("html-502", endpoint="status"),
        sandbox.faults.add("html-502", endpoint="get-status"),
    ):
        buyer.gives_phone(phones.MBANK_APPROVED.phone)
        buyer.sees("unknown")
        expect(buyer.page.locator("button")).to_have_count(0)
        buyer.look("unknown")
        # Looking again changes nothing.
        buyer.open(buyer.page_url)
        buyer.sees("unknown")
    buyer.sees("enter-code")
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    assert len(buyer.payments) == 1


def test_declined_payment_can_be_retried(meet: Meet) -> None:
    buyer = meet("ru", size="small")
    buyer.gives_phone(phones.MBANK_DECLINED.phone)
    buyer.enters(phones.MBANK_DECLINED.otp)
    buyer.sees("choose")
    expect(buyer.page.locator(".notice")).to_contain_text("Деньги не списаны")
    buyer.look("declined")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")


def test_the_bank_takes_its_time(meet: Meet, sandbox: Sandbox) -> None:
    buyer = meet(size="tablet")
    buyer.gives_phone(phones.MBANK_STUCK_PENDING.phone)
    buyer.enters(phones.MBANK_STUCK_PENDING.otp)
    buyer.sees("waiting")
    buyer.look("waiting")
    # The gateway tells nobody; the payer says so.
    with sandbox.faults.add("callback-lost"):
        sandbox.approve(buyer.payments[0]["order_number"])
        buyer.page.locator("form[action*=check] button").click()
        buyer.sees("paid")


def test_cancelled_and_unknown_checkout_pages(meet: Meet) -> None:
    buyer = meet("ky", size="small", dark=True)
    buyer.server.ask("POST", f"/v1/checkouts/{buyer.checkout['id']}/cancel")
    buyer.sees("cancelled")
    buyer.look("cancelled")
    with buyer.refused(404):
        buyer.open(buyer.page_url[:-1] + ("0" if buyer.page_url[-1] != "0" else "1"))
    buyer.look("nowhere")


def test_two_windows_and_the_way_back_pay_once(meet: Meet, sandbox: Sandbox) -> None:
    buyer = meet()
    other = buyer.context.new_page()
    other.goto(buyer.page_url)
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.sees("enter-code")
    # The other window has heard of it; its old form, sent all the same, shows the payment that is there.
    expect(other.locator("#state")).to_have_attribute("data-screen", "enter-code")
    buyer.page.go_back()
    buyer.sees("enter-code")
    buyer.page.locator("#otp").fill(phones.MBANK_APPROVED.otp)
    buyer.page.locator("#otp").press("Enter")
    buyer.sees("paid")
    expect(other.locator("#state")).to_have_attribute("data-screen", "paid")
    assert len(buyer.payments) == 1
    assert sandbox.payment(buyer.payments[0]["order_number"]).times_charged == 1


def test_two_clicks_and_two_enters_pay_once(meet: Meet) -> None:
    for scripts in (True, False):
        buyer = meet(scripts=scripts)
        buyer.picks("mbank")
        buyer.page.locator("#phone").fill(phones.MBANK_APPROVED.phone)
        buyer.page.locator("form:has([name=method]) button").dblclick(no_wait_after=True)
        buyer.sees("enter-code")
        assert len(buyer.payments) == 1


def test_a_form_whose_sending_was_stopped_can_be_sent_again(meet: Meet) -> None:
    buyer = meet()
    # The page's time stands still unless it is moved, however slow this machine is.
    buyer.page.clock.install()
    buyer.page.clock.pause_at(datetime.now(timezone.utc) + timedelta(minutes=1))
    buyer.page.route(
        "**/pay/**", lambda route: route.abort("aborted") if route.request.method == "POST" else route.continue_()
    )
    buyer.picks("qr")
    buyer.goes_on()
    form = buyer.page.locator("form:has([name=method])")
    expect(form).to_have_class(re.compile(r"\bsent\b"))
    buyer.page.unroute_all(behavior="wait")
    buyer.goes_on()
    buyer.page.clock.run_for(15_000)
    expect(form).not_to_have_class(re.compile(r"\bsent\b"))
    buyer.complaints.clear()
    buyer.page.clock.resume()
    buyer.goes_on()
    buyer.sees("show-qr")
    assert len(buyer.payments) == 1


def test_typed_input_survives_page_update(meet: Meet) -> None:
    buyer = meet()
    buyer.picks("mbank")
    phone = buyer.page.locator("#phone")
    phone.press_sequentially("0555 00")
    before = buyer.page.locator("#state").get_attribute("data-version") or ""
    token = buyer.server.ask("POST", f"/v1/checkouts/{buyer.checkout['id']}/tokens")["token"]
    # The payer's app tries as well, with a phone that the gateway does not know.
    wanted = {"method": "mbank", "phone": "996555999999"}
    buyer.server.ask("POST", "/v1/checkout/payments", wanted, key=token, idempotency_key="app")
    expect(buyer.page.locator("#state")).not_to_have_attribute("data-version", before)
    expect(phone).to_be_focused()
    phone.press_sequentially("0101")
    expect(phone).to_have_value("0555 000101")
    expect(buyer.page.locator("#way-mbank")).to_be_checked()


def test_lost_connection_is_shown_and_recovers(meet: Meet, site: Shop) -> None:
    buyer = meet("ru")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.sees("enter-code")
    buyer.context.set_offline(True)
    # The line that waits is cut as well.
    buyer.server.kill()
    expect(buyer.page.locator("#offline")).to_have_text("Нет связи. Страница попробует ещё раз сама.")
    buyer.look("offline")
    buyer.server.restart()
    buyer.context.set_offline(False)
    expect(buyer.page.locator("#offline")).to_have_text("")
    buyer.sees("enter-code")
    # That it was cut, the browser notes itself.
    assert all("ERR_" in said for said in buyer.complaints), buyer.complaints
    buyer.complaints.clear()
    assert site.host


def test_the_keyboard_is_enough(meet: Meet) -> None:
    buyer = meet()
    keys = buyer.page.keyboard
    expect(buyer.page.locator("#way-pay_form")).to_be_checked()
    while buyer.page.evaluate("document.activeElement.id") != "way-pay_form":
        keys.press("Tab")
    keys.press("ArrowDown")
    keys.press("ArrowDown")
    expect(buyer.page.locator("#way-mbank")).to_be_checked()
    keys.press("Tab")
    expect(buyer.page.locator("#phone")).to_be_focused()
    keys.type(phones.MBANK_APPROVED.phone)
    keys.press("Enter")
    buyer.sees("enter-code")
    keys.type(phones.MBANK_APPROVED.otp)
    keys.press("Enter")
    buyer.sees("paid")
    expect(buyer.heading).to_be_visible()


@pytest.mark.parametrize("scripts", [True, False])
def test_the_language_is_picked_and_stays(meet: Meet, *, scripts: bool) -> None:
    buyer = meet("en", scripts=scripts)
    buyer.page.get_by_role("link", name="Кыргызча").click()
    expect(buyer.heading).to_have_text("Кантип төлөйсүз?")
    expect(buyer.page.locator("html")).to_have_attribute("lang", "ky")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.sees("enter-code")
    expect(buyer.heading).to_have_text("Кодду киргизиңиз")
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    expect(buyer.heading).to_have_text("Төлөндү")


def test_large_text_fits(meet: Meet) -> None:
    """A window of 1280 pixels at 400 % is one of 320; at 200 % on a phone, half a phone."""
    buyer = meet("ru", description="Оченьдлинноеназваниетоварабезединогопробела " * 4, amount="123456789.05")
    for width in (640, 320):
        buyer.page.set_viewport_size({"width": width, "height": 480})
        buyer.look(f"choose-{width}")
    buyer.picks("qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    buyer.look("show-qr-320")


def test_no_other_site_hears_of_the_address(meet: Meet) -> None:
    buyer = meet()
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    with buyer.page.expect_request(lambda request: "/thanks" in request.url) as asked:
        buyer.page.locator("#state a.button").click()
    assert "referer" not in asked.value.all_headers()
    # Nor does the log, which tells everything here, nor any event.
    secret = buyer.page_url.rpartition("/")[2]
    assert buyer.server.log().count("DEBUG") > 0
    assert secret not in buyer.server.log()
    assert not [event for event in buyer.server.events() if secret in str(event.data)]


def names(buyer: Buyer) -> list[str]:
    """The shown names of the ways to pay."""
    return buyer.page.locator(".pick-name").all_inner_texts()


def test_only_what_can_carry_the_amount_is_offered(meet: Meet) -> None:
    # MBank takes whole som alone, and MegaPay no less than five.
    assert names(meet(amount="390.50")) == ["Card or wallet", "QR code", "MegaPay"]
    assert names(meet(amount="4")) == ["Card or wallet", "QR code", "MBank"]
    assert names(meet(methods=["qr"])) == ["QR code"]
