"""What the script of the payer's pages adds, and what browsers know about the fields."""

from __future__ import annotations

import pytest
from kassa_sandbox import Sandbox, cards, phones
from playwright.sync_api import Route, expect

from shop import Shop
from visitor import Visit, Visitor
from words import ENGLISH


@pytest.fixture
def form(visit: Visit, shop: Shop) -> Visitor:
    payer = visit()
    payer.open(shop.pay_form())
    return payer


def pay(form: Visitor) -> None:
    form.page.get_by_role("button", name="Pay KGS").click()


def test_card_number_is_grouped_as_it_is_typed(form: Visitor) -> None:
    number = form.page.get_by_label("Card number")
    number.press_sequentially("4111111111111111")
    expect(number).to_have_value("4111 1111 1111 1111")
    for _ in range(4):
        number.press("Backspace")
    expect(number).to_have_value("4111 1111 1111")
    number.fill("41x")
    expect(number).to_have_value("41x")


@pytest.mark.parametrize(
    ("label", "wrong", "told", "right"),
    [
        ("Card number", "4111 11", "A card number has 13 to 20 digits", "4222222222222"),
        ("Expiry month", "13", "Enter the month: 01 to 12", "1"),
        ("Expiry year", "9", "Enter the year, such as 2030", "39"),
        ("CVC", "12", "Enter the 3 digits on the back", "123"),
    ],
)
def test_mistake_is_told_when_the_field_is_left_and_taken_back_when_it_is_mended(
    form: Visitor, label: str, wrong: str, told: str, right: str
) -> None:
    field = form.page.get_by_label(label)
    field.fill(wrong)
    expect(form.page.get_by_text(told)).to_be_hidden()
    field.blur()
    expect(form.page.get_by_text(told)).to_be_visible()
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(told)
    field.fill(right)
    expect(form.page.get_by_text(told)).to_be_hidden()
    expect(field).not_to_have_attribute("aria-invalid", "true")


def test_wrong_phone_is_told(form: Visitor) -> None:
    form.page.get_by_role("radio", name="MBank").check()
    phone = form.page.get_by_label("Phone number")
    phone.fill("0555")
    phone.blur()
    expect(form.page.get_by_text("Enter a phone number")).to_be_visible()
    phone.fill("0555 000-101")
    expect(form.page.get_by_text("Enter a phone number")).to_be_hidden()


def test_expired_card_is_told_before_it_is_sent(form: Visitor, kassa_sandbox: Sandbox) -> None:
    form.page.get_by_role("button", name="4111 1111 1111 1111").click()
    form.page.get_by_label("Expiry year").fill("2020")
    pay(form)
    expect(form.page.get_by_text("The card has expired")).to_be_visible()
    expect(form.page.get_by_label("Expiry year")).to_be_focused()
    assert kassa_sandbox.ledger()[0].provider is None


def test_empty_form_is_not_sent_and_the_first_mistake_is_gone_to(form: Visitor) -> None:
    pay(form)
    expect(form.page.get_by_label("Card number")).to_be_focused()
    expect(form.page.get_by_text("Enter the card number")).to_be_visible()


def test_test_data_go_with_the_chosen_way(form: Visitor) -> None:
    card = form.page.get_by_role("button", name="4111 1111 1111 1111")
    phone = form.page.get_by_role("button", name="+996 755 000 201")
    expect(card).to_be_visible()
    expect(phone).to_be_hidden()
    form.page.get_by_role("radio", name="MegaPay").check()
    expect(card).to_be_hidden()
    phone.click()
    expect(form.page.get_by_label("Phone number")).to_have_value("+996 755 000 201")


def test_every_test_payer_is_offered(form: Visitor) -> None:
    offered = form.page.locator("button[data-fill] .mono").all_text_contents()
    numbers = ["".join(filter(str.isdigit, text)) for text in offered]
    assert sorted(numbers) == sorted([card.pan for card in cards.ALL] + [phone.phone for phone in phones.ALL])


def test_impatient_payer_pays_once(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    payer = visit()
    payer.open(shop.card_payment())
    payer.page.get_by_label("One-time password").fill("123456")
    payer.page.get_by_role("button", name="Confirm").dblclick()
    expect(payer.heading).to_have_text("The shop")
    assert kassa_sandbox.payment("order-17").times_charged == 1


def open_with_its_clock_stopped(payer: Visitor, address: str) -> None:
    """On the page no time passes from then on but what the test lets pass."""
    payer.page.clock.install(time="2030-01-01T00:00:00")
    payer.open(address)
    payer.page.clock.pause_at("2030-01-01T01:00:00")


def test_payer_whose_app_does_not_open_is_not_left_alone(visit: Visit, shop: Shop, kassa_sandbox: Sandbox) -> None:
    shop.return_url = "myapp://paid?cart=7"
    payer = visit()
    open_with_its_clock_stopped(payer, shop.card_payment())
    payer.page.get_by_label("One-time password").fill("123456")
    with payer.without_the_app("myapp"):
        payer.press("Confirm")
        form = payer.page.locator("form[data-checked]")
        expect(form).to_have_attribute("aria-busy", "true")
        assert kassa_sandbox.payment("order-17").times_charged == 1
        told = payer.page.locator("form").get_by_role("status")
        expect(told).to_have_text("")
        payer.page.clock.fast_forward(5000)
        expect(form).not_to_have_attribute("aria-busy", "true")
        expect(told).to_have_text(ENGLISH.still_here)
    payer.page.clock.resume()
    payer.look("app-not-opened")
    # Not by the mouse: until its question about the app is answered, the browser takes no clicks.
    payer.page.get_by_role("button", name="Confirm").dispatch_event("click")
    expect(payer.heading).to_have_text("Paid")
    back = payer.page.get_by_role("link", name="Back to the merchant")
    expect(back).to_have_attribute("href", "myapp://paid?cart=7&OrderNumber=order-17&statusCode=200")
    assert kassa_sandbox.payment("order-17").times_charged == 1


def test_payer_who_is_back_from_an_app_may_send_the_form_again(visit: Visit, shop: Shop) -> None:
    shop.return_url = "myapp://paid"
    payer = visit()
    open_with_its_clock_stopped(payer, shop.card_payment())
    payer.page.get_by_label("One-time password").fill("123456")
    with payer.without_the_app("myapp"):
        payer.press("Confirm")
        form = payer.page.locator("form[data-checked]")
        expect(form).to_have_attribute("aria-busy", "true")
        payer.page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        expect(form).not_to_have_attribute("aria-busy", "true")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_browsers_that_do_not_know_the_latest_functions_show_colours(visit: Visit, shop: Shop, dark: bool) -> None:
    payer = visit(dark=dark)

    def older(route: Route) -> None:
        answer = route.fetch()
        route.fulfill(response=answer, body=answer.text().replace("light-dark(", "unknown-here("))

    payer.page.route("**/*.css", older)
    payer.open(shop.card_payment())
    card, button = payer.page.locator(".card").first, payer.page.get_by_role("button", name="Confirm")
    for part, prop in [(card, "backgroundColor"), (card, "borderTopColor"), (button, "backgroundColor")]:
        colour = part.evaluate(f"part => getComputedStyle(part).{prop}")
        background = payer.page.evaluate("getComputedStyle(document.body).backgroundColor")
        ink = payer.page.evaluate("getComputedStyle(document.body).color")
        assert colour not in (background, ink, "rgba(0, 0, 0, 0)"), prop


def test_who_comes_back_from_the_shop_sees_that_it_is_paid(visit: Visit, shop: Shop) -> None:
    payer = visit()
    address = shop.card_payment()
    payer.open(address)
    payer.page.get_by_label("One-time password").fill("123456")
    payer.press("Confirm")
    expect(payer.heading).to_have_text("The shop")
    payer.open(address)
    expect(payer.heading).to_have_text("Paid")
    payer.look("finished")
    payer.page.get_by_role("link", name="Back to the merchant").click()
    assert payer.page.url == f"{shop.return_url}&OrderNumber=order-17&statusCode=200"


def test_three_wrong_passwords_end_the_payment(visit: Visit, shop: Shop) -> None:
    payer = visit()
    payer.open(shop.card_payment())
    for left in (2, 1):
        payer.page.get_by_label("One-time password").fill("000000")
        with payer.refused(400):
            payer.press("Confirm")
            expect(payer.page.get_by_text(f"Attempts left: {left}")).to_be_visible()
    payer.page.get_by_label("One-time password").fill("000000")
    payer.press("Confirm")
    expect(payer.heading).to_have_text("Not paid")
    expect(payer.page.get_by_text("Too many wrong one-time passwords")).to_be_visible()


def test_browsers_know_the_fields(form: Visitor, shop: Shop) -> None:
    names = ["cc-number", "cc-exp-month", "cc-exp-year", "cc-csc", "cc-name", "tel"]
    found = form.page.locator("form[data-checked] input:not([type=radio])").evaluate_all(
        "inputs => inputs.map(input => input.autocomplete)"
    )
    assert found == names
    form.open(shop.card_payment())
    otp = form.page.get_by_label("One-time password")
    expect(otp).to_have_attribute("autocomplete", "one-time-code")
    expect(otp).to_have_attribute("inputmode", "numeric")


def test_all_fits_a_very_small_phone(visit: Visit, shop: Shop) -> None:
    payer = visit("ru", size="phone")
    payer.page.set_viewport_size({"width": 320, "height": 568})
    for number, address in enumerate([shop.card_payment(), shop.pay_form("4.99"), shop.qr(None)]):
        payer.open(address)
        payer.look(f"small-{number}")


def test_long_name_and_a_large_amount_fit_a_phone(visit: Visit, shop: Shop) -> None:
    payer = visit("ru", size="phone")
    payer.open(shop.pay_form("79228162514264337593543.95", service="Мёд" * 60))
    payer.look("pay-form-long")
