"""Each way to pay, in a browser, to its end: what the order's page says, and what the sandbox's ledger says."""

from __future__ import annotations

from decimal import Decimal

import pytest
from kassa_sandbox import Payment, Sandbox, TestPhone, cards, phones
from payer import Payer
from playwright.sync_api import Browser, expect
from shop_process import ShopProcess


def only_payment(sandbox: Sandbox) -> Payment:
    (payment,) = sandbox.ledger()
    return payment


def assert_charged_once(sandbox: Sandbox, amount: str = "390.00") -> Payment:
    payment = only_payment(sandbox)
    assert (payment.status, payment.times_charged, payment.amount) == ("CHARGE", 1, Decimal(amount))
    return payment


def assert_not_charged(sandbox: Sandbox) -> None:
    payment = only_payment(sandbox)
    assert (payment.status, payment.times_charged) == ("Reject", 0)


def test_a_card_is_confirmed_at_the_bank(payer: Payer, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order(2, gift_box=True)
    payer.look("choice-without-mbank")
    payer.pay_by_card(cards.APPROVED)
    payer.confirm(cards.APPROVED.otp)
    payer.sees("Paid")
    payer.look("paid")
    assert payer.page.url == order_page
    expect(payer.page.get_by_text("825.50 som")).to_have_count(2)
    assert_charged_once(kassa_sandbox, "825.50")


def test_a_card_is_declined_at_the_bank_and_the_order_paid_in_another_way(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.pay_by_card(cards.DECLINED)
    payer.confirm(cards.DECLINED.otp)
    payer.page.get_by_role("link", name="Back to the merchant").click()
    payer.sees("Not paid")
    payer.look("declined")
    assert_not_charged(kassa_sandbox)

    payer.pay_by_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees("Paid")
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [0, 1]


def test_a_card_without_3ds_is_paid_at_once(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.pay_by_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)


def test_a_mistyped_card_is_named_field_by_field_and_never_sent(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.type_card(cards.APPROVED, expiry="13/39")
    payer.page.get_by_label("Card number").fill("4111")
    payer.press("Pay ")
    alert = payer.page.get_by_role("alert")
    expect(alert.get_by_role("listitem")).to_have_count(2)
    expect(alert).to_contain_text("Card number must")
    expect(alert).to_contain_text("Expiry date must")
    expect(payer.page.get_by_label("Card number")).to_have_value("")
    payer.look("card-errors")
    assert kassa_sandbox.requests() == ()
    # The browser itself notes that the page came with an error's status.
    assert ["422" in complaint for complaint in payer.complaints] == [True]
    payer.complaints.clear()


def test_mbank_forgives_one_wrong_code(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.look("choice")
    payer.pay_by_mbank("+996 555 000 101")
    payer.look("otp")
    payer.type_otp("000000")
    expect(payer.page.get_by_role("alert")).to_be_visible()
    payer.sees("Enter the code")
    payer.look("otp-wrong")
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees("Paid")
    assert assert_charged_once(kassa_sandbox).kind == "mbank"
    confirmed = [request.http_status for request in kassa_sandbox.requests() if request.endpoint == "mbank/confirm"]
    assert confirmed == [400, 200]


def test_a_card_on_the_pay_form(payer: Payer, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order()
    payer.open_pay_form()
    page = payer.page
    page.get_by_label("Bank card").check()
    for name, text in {"pan": cards.APPROVED.pan, "expiryMonth": "12", "expiryYear": "2039", "cvc": "123"}.items():
        page.locator(f"#{name}").fill(text)
    page.locator("#name").fill("Aibek Asanov")
    payer.press("Pay")
    payer.confirm(cards.APPROVED.otp)
    payer.sees("Paid")
    assert page.url == order_page
    assert assert_charged_once(kassa_sandbox).kind == "pay_form"


@pytest.mark.parametrize("phone", [phones.MBANK_APPROVED, phones.MEGAPAY_APPROVED], ids=["MBank", "MegaPay"])
def test_a_wallet_on_the_pay_form(payer: Payer, kassa_sandbox: Sandbox, phone: TestPhone) -> None:
    order_page = payer.order()
    pay_form = payer.open_pay_form()
    # Somebody who turns back finds the way to the payment page again.
    payer.page.goto(order_page)
    payer.look("pay-form-open")
    payer.page.get_by_role("link", name="Go to the payment page").click()
    assert payer.page.url == pay_form
    payer.choose_wallet(phone)
    payer.confirm(phone.otp)
    payer.sees("Paid")
    assert assert_charged_once(kassa_sandbox).provider == phone.provider


def test_a_payment_declined_on_the_pay_form_leaves_the_order_open(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.open_pay_form()
    payer.choose_wallet(phones.MBANK_INSUFFICIENT_FUNDS)
    payer.confirm(phones.MBANK_INSUFFICIENT_FUNDS.otp)
    payer.page.get_by_role("link", name="Back to the merchant").click()
    payer.sees("Not paid")
    expect(payer.page.get_by_role("button", name="Pay on the payment page")).to_be_visible()
    assert_not_charged(kassa_sandbox)


def test_a_qr_code_is_scanned_by_a_phone_and_the_page_follows(
    payer: Payer, browser: Browser, kassa_sandbox: Sandbox
) -> None:
    payer.order()
    payer.press("QR code")
    payer.sees("Scan to pay")
    payer.look("qr")
    phone = Payer(browser, payer.shop_url)
    phone.page.goto(payer.scan())
    phone.press("Approve")
    payer.sees("Paid")
    expect(payer.page).to_have_title("Paid – Honey from Ala-Too")
    assert assert_charged_once(kassa_sandbox, "39000").kind == "qr"
    assert phone.complaints == []
    phone.context.close()


def test_everything_works_without_scripts(browser: Browser, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    payer = Payer(browser, shop.url, scripts=False)
    payer.order()
    payer.press("QR code")
    payer.sees("Scan to pay")
    (payment,) = kassa_sandbox.ledger()
    kassa_sandbox.approve(payment.order_number)
    # The page reloads itself.
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox, "39000")
    payer.context.close()


def test_the_pages_are_good_to_read_in_the_dark(browser: Browser, shop: ShopProcess) -> None:
    payer = Payer(browser, shop.url, dark=True)
    payer.order()
    payer.look("choice-dark")
    expect(payer.page.locator("body")).to_have_css("background-color", "rgb(23, 21, 18)")
    assert payer.complaints == []
    payer.context.close()
