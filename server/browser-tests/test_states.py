"""What goes wrong, and what people do: two windows, the way back, no line, the keyboard alone."""

from __future__ import annotations

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
    expect(buyer.heading).to_have_text("Платёж отклонён. Деньги не списаны.")
    # The same way, and its reason in the payer's language.
    expect(buyer.page.locator("#way-mbank")).to_be_checked()
    expect(buyer.page.locator(".notice")).to_have_text("Причину можно узнать в вашем банке.")
    buyer.look("declined")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")


def test_bank_takes_its_time(meet: Meet, sandbox: Sandbox) -> None:
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
    buyer.server.request("POST", f"/v1/checkouts/{buyer.checkout['id']}/cancel")
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
    buyer.open("about:blank")
    buyer.page.go_back()
    buyer.sees("enter-code")
    # As a phone fills it in from the SMS: nothing is to be pressed.
    buyer.page.locator("#otp").fill(phones.MBANK_APPROVED.otp)
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


@pytest.mark.parametrize("offline", [True, False])
def test_form_that_does_not_arrive_stays(meet: Meet, *, offline: bool) -> None:
    buyer = meet()
    status = "Server Error" if not offline else None
    buyer.page.route(
        "**/pay/**",
        lambda route: (
            route.continue_()
            if route.request.method != "POST"
            else route.abort("connectionrefused")
            if offline
            else route.fulfill(status=502, body=status or "")
        ),
    )
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    text = "The shop cannot be reached." if offline else "This cannot be done now."
    expect(buyer.page.locator("#not-sent")).to_contain_text(text)
    buyer.sees("choose")
    expect(buyer.page.locator("#phone")).to_have_value(phones.MBANK_APPROVED.phone)
    buyer.look("not-sent-offline" if offline else "not-sent")
    buyer.page.unroute_all(behavior="wait")
    buyer.complaints.clear()
    buyer.goes_on()
    buyer.sees("enter-code")
    expect(buyer.page.locator("#not-sent")).to_be_empty()
    expect(buyer.page).to_have_title("Enter the code · Ала-Тоо бал дүкөнү")
    # The number that was typed here, of which the server keeps two digits.
    expect(buyer.page.locator("#sent-to")).to_have_text("The code was sent to +996 555 ••• 101.")
    assert len(buyer.payments) == 1


@pytest.mark.parametrize("scripts", [True, False])
def test_who_has_paid_is_not_asked_to_pay(meet: Meet, *, scripts: bool) -> None:
    buyer = meet("ru", size="small", scripts=scripts)
    buyer.picks("pay_form")
    buyer.goes_on()
    buyer.page.wait_for_url("**/pay-form?**")
    # Back without a payment.
    buyer.open(f"{buyer.page_url}/back")
    buyer.sees("claimed")
    expect(buyer.page.locator("#state")).to_contain_text("не платите ещё раз")
    expect(buyer.page.locator("#state button:visible, #state a.button:visible")).to_have_text(["Проверить оплату"])
    buyer.look("claimed")
    if scripts:
        buyer.page.locator("#others summary").click()
    else:
        buyer.page.get_by_role("link", name="Ещё не оплатили? Показать, как оплатить").click()
    buyer.look("claimed-opened")
    buyer.page.locator("#others a.button").click()
    buyer.page.wait_for_url("**/pay-form?**")
    buyer.server.pay_by_form(buyer.page.url)
    buyer.open(buyer.page_url)
    if not scripts:
        buyer.is_back_and_sees("paid")
    buyer.sees("paid")
    assert [payment["state"] for payment in buyer.payments] == ["charged"]


@pytest.mark.parametrize("scripts", [True, False])
def test_decline_on_the_banks_page_is_shown(meet: Meet, *, scripts: bool) -> None:
    buyer = meet("en", size="small", scripts=scripts)
    other = buyer.context.new_page()
    buyer.picks("pay_form")
    buyer.goes_on()
    buyer.page.wait_for_url("**/pay-form?**")
    other.goto(buyer.page_url)
    expect(other.locator("#state")).to_have_attribute("data-screen", "open-page")
    buyer.pays_on_the_form(phones.MBANK_DECLINED)
    expect(buyer.heading).to_have_text("Not paid")
    # The gateway's page leads nowhere after a decline: its payer goes back by themselves.
    buyer.open(buyer.page_url)
    buyer.is_back_and_sees("declined")
    expect(buyer.heading).to_have_text("The payment was declined. No money was taken.")
    expect(buyer.page.locator(".notice")).to_have_text("Ask your bank for the reason.")
    # They may have tried again on the bank's page: a second payment is one step away.
    expect(buyer.page.locator("#state button:visible, #state a.button:visible")).to_have_text(["Check the payment"])
    buyer.look("declined-on-page")
    if scripts:
        expect(other.locator("#state")).to_have_attribute("data-screen", "declined")
        buyer.page.locator("#others summary").click()
    else:
        buyer.page.get_by_role("link", name="Try again or pay another way").click()
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.is_back_and_sees("paid")
    assert [payment["state"] for payment in buyer.payments] == ["awaiting", "charged"]


def test_opened_ways_do_not_stay_open_for_who_has_paid(meet: Meet) -> None:
    buyer = meet(size="small")
    buyer.picks("qr")
    buyer.goes_on()
    buyer.sees("show-qr")
    buyer.page.locator("#others summary").click()
    buyer.page.locator("#check").click()
    buyer.sees("claimed")
    expect(buyer.page.locator("#others button:visible, svg.qr:visible")).to_have_count(0)
    # The gateway is queried again and again, and the keyboard stays where it is.
    buyer.page.locator("#check").focus()
    expect(buyer.page.locator("#checked-at")).to_contain_text("the bank had not confirmed it yet")
    expect(buyer.page.locator("#check")).to_be_focused()


@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("language", ["en", "ru", "ky"])
def test_receipt_is_printed(meet: Meet, language: str, *, scripts: bool) -> None:
    buyer = meet(language, size="desktop", dark=True, scripts=scripts)
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    buyer.look_at_print("receipt")


def test_receipt_is_kept(meet: Meet, sandbox: Sandbox) -> None:
    buyer = meet("ru", size="small")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.enters(phones.MBANK_APPROVED.otp)
    buyer.sees("paid")
    lines = dict(
        zip(
            buyer.page.locator("#receipt dt").all_inner_texts(),
            buyer.page.locator("#receipt dd").all_inner_texts(),
            strict=True,
        )
    )
    assert lines["Получатель"] == "Ала-Тоо бал дүкөнү"
    assert lines["Сумма"].replace("\xa0", " ") == "390 сом"
    # The gateway finds the payment by it.
    assert sandbox.payment(lines["Номер операции"]).times_charged == 1
    buyer.page.evaluate("navigator.canShare = undefined")
    with buyer.page.expect_download() as download:
        buyer.press("Сохранить как картинку")
    assert download.value.suggested_filename == "Квитанция.png"
    assert download.value.path().read_bytes().startswith(b"\x89PNG")
    buyer.page.emulate_media(media="print")
    expect(buyer.page.locator("#receipt")).to_be_visible()
    expect(buyer.page.locator("button:visible, nav:visible")).to_have_count(0)


def test_typed_input_survives_page_update(meet: Meet) -> None:
    buyer = meet()
    buyer.picks("mbank")
    phone = buyer.page.locator("#phone")
    phone.press_sequentially("0555 00")
    before = buyer.page.locator("#state").get_attribute("data-version") or ""
    token = buyer.server.request("POST", f"/v1/checkouts/{buyer.checkout['id']}/tokens")["token"]
    # The payer's app tries as well, with a phone that the gateway does not know.
    wanted = {"method": "mbank", "phone": "996555999999"}
    buyer.server.request("POST", "/v1/checkout/payments", wanted, key=token, idempotency_key="app")
    expect(buyer.page.locator("#state")).not_to_have_attribute("data-version", before)
    expect(phone).to_be_focused()
    phone.press_sequentially("0101")
    expect(phone).to_have_value("0555 000101")
    expect(buyer.page.locator("#way-mbank")).to_be_checked()


def test_lost_connection_is_shown_and_recovers(meet: Meet, site: Shop) -> None:
    buyer = meet("ru")
    buyer.gives_phone(phones.MBANK_APPROVED.phone)
    buyer.sees("enter-code")
    # The answer to the form has come, too, and not only its news.
    expect(buyer.page.locator("#sent-to")).to_contain_text("•••")
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


def test_keyboard_is_enough(meet: Meet) -> None:
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
def test_language_is_picked_and_stays(meet: Meet, *, scripts: bool) -> None:
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
