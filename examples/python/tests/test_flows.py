"""Each way to pay, in a browser, to its end: what the order's page says, and what the gateway's books say."""

from __future__ import annotations

import re

import pytest
from kassa_sandbox import Sandbox, TestPhone, cards, phones
from playwright.sync_api import Browser, expect

from client import wait_until
from payer import Payer
from shop_process import ShopProcess
from stage import Books, Stage


@pytest.fixture
def books(sandbox: Sandbox) -> Books:
    return Books(sandbox)


def test_card_is_confirmed_at_the_bank(payer: Payer, books: Books, shop: ShopProcess) -> None:
    payer.fill_basket(2, gift_box=True)
    payer.look("product")
    order_page = payer.order(2, gift_box=True)
    # MBank takes whole som alone.
    expect(payer.page.locator("#way-mbank")).to_have_count(0)
    payer.open_pay_form()
    payer.type_card(cards.APPROVED)
    payer.confirm(cards.APPROVED.otp)
    payer.sees_screen("paid")
    payer.goes_back_to_the_shop()
    payer.sees("Paid")
    payer.look("paid")
    assert payer.page.url.partition("?")[0] == order_page
    expect(payer.page.get_by_text("825.50 som")).to_have_count(2)
    assert books.charged_once("825.50").kind == "pay_form"
    wait_until(lambda: shop.log().count(f"order {order_page.rpartition('/')[2]}: paid: deliver") == 1, shop.log)


def test_order_with_declined_card_is_paid_by_another_method(payer: Payer, books: Books) -> None:
    payer.order()
    payer.open_pay_form()
    payer.type_card(cards.DECLINED)
    payer.confirm(cards.DECLINED.otp)
    payer.page.get_by_role("link", name="Back to the merchant").click()
    # The gateway's page lives on: the payer can try there again, or in another way.
    payer.sees_screen("declined")
    payer.page.locator("#others summary").click()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.goes_back_to_the_shop()
    payer.sees("Paid")
    assert [payment.times_charged for payment in books.payments] == [0, 1]


def test_card_without_3ds_is_paid_at_once(payer: Payer, books: Books) -> None:
    payer.order()
    payer.open_pay_form()
    payer.type_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees_screen("paid")
    payer.goes_back_to_the_shop()
    payer.sees("Paid")
    books.charged_once()


def test_mbank_forgives_one_wrong_code(payer: Payer, books: Books) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp("000000")
    expect(payer.page.locator("#otp-problem")).to_be_visible()
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    assert books.charged_once().kind == "mbank"
    assert books.asked("mbank/confirm") == [400, 200]


def test_declined_mbank_payment_can_be_retried(payer: Payer, books: Books) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_DECLINED.phone)
    payer.type_otp(phones.MBANK_DECLINED.otp)
    payer.sees_screen("choose")
    payer.sees_in_the_shop(order_page, "Not paid")
    payer.look("declined")
    assert books.only().times_charged == 0
    payer.goes_to_pay()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")


@pytest.mark.parametrize("phone", [phones.MBANK_APPROVED, phones.MEGAPAY_APPROVED], ids=["MBank", "MegaPay"])
def test_wallet_on_the_pay_form(payer: Payer, books: Books, phone: TestPhone) -> None:
    order_page = payer.order()
    pay_form = payer.open_pay_form()
    # Somebody who turns back finds the way to the payment page again.
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    payer.look("waiting-for-payment")
    payer.goes_to_pay()
    payer.sees_screen("open-page")
    payer.page.locator("#state a.button").click()
    payer.page.wait_for_url(pay_form)
    payer.choose_wallet(phone)
    payer.confirm(phone.otp)
    payer.sees_screen("paid")
    payer.goes_back_to_the_shop()
    payer.sees("Paid")
    assert books.charged_once().provider == phone.provider


def test_payment_declined_on_the_pay_form_leaves_the_order_open(payer: Payer, books: Books) -> None:
    order_page = payer.order()
    payer.open_pay_form()
    payer.choose_wallet(phones.MBANK_INSUFFICIENT_FUNDS)
    payer.confirm(phones.MBANK_INSUFFICIENT_FUNDS.otp)
    payer.page.get_by_role("link", name="Back to the merchant").click()
    payer.sees_screen("declined")
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    expect(payer.page.get_by_role("link", name="Go to the payment page")).to_be_visible()
    assert (books.only().status, books.only().times_charged) == ("Reject", 0)


def test_qr_code_is_scanned_by_a_phone_and_the_page_follows(
    payer: Payer, browser: Browser, books: Books, stage: Stage
) -> None:
    order_page = payer.order()
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    code = payer.scan()
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    phone = Payer(browser, payer.shop_url, stage.hosts)
    phone.page.goto(code)
    phone.press("Approve")
    # Nobody touches the order's page.
    payer.sees("Paid")
    expect(payer.page).to_have_title("Paid – Honey from Ala-Too")
    assert books.charged_once("39000").kind == "qr"
    phone.close()


def test_everything_works_without_scripts(browser: Browser, stage: Stage, books: Books) -> None:
    payer = Payer(browser, stage.shop.url, stage.hosts, scripts=False)
    order_page = payer.order()
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    payer.page.goto(f"{order_page}?after=payment")
    payer.sees("We are being told")
    stage.sandbox.approve(books.only().order_number)
    # The page reloads itself.
    payer.sees("Paid")
    books.charged_once("39000")
    payer.close()


def test_pages_are_good_to_read_in_the_dark(browser: Browser, stage: Stage) -> None:
    payer = Payer(browser, stage.shop.url, stage.hosts, dark=True)
    payer.sees_in_the_shop(payer.order(), "Waiting for your payment")
    payer.look("waiting-for-payment-dark")
    expect(payer.page.locator("body")).to_have_css("background-color", "rgb(23, 21, 18)")
    payer.close()


def test_payer_returning_before_webhook_sees_waiting_notice(payer: Payer, books: Books) -> None:
    order_page = payer.order()
    payer.goes_back_to_the_shop()
    payer.sees("We are being told")
    payer.look("being-told")
    # What the address says proves nothing.
    payer.page.goto(f"{order_page}?after=payment&OrderNumber=1&statusCode=200")
    payer.sees("We are being told")
    assert books.payments == ()
    payer.goes_to_pay()
    payer.sees_screen("choose")


def test_order_is_cancelled(payer: Payer, books: Books) -> None:
    order_page = payer.order()
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    payer.press("Cancel the order")
    payer.sees("Cancelled")
    payer.look("cancelled")
    expect(payer.page.get_by_role("button")).to_have_count(0)
    payer.page.go_back()
    payer.sees("Cancelled")
    assert books.payments == ()


def test_what_is_being_paid_is_not_cancelled(payer: Payer, sandbox: Sandbox, shop: ShopProcess) -> None:
    order_page = payer.order()
    payer.page.goto(order_page)
    # Another window, in which this one is paid meanwhile.
    other = payer.context.new_page()
    other.goto(shop.page_urls(order_page.rpartition("/")[2])[-1])
    payer.page, before = other, payer.page
    books = Books(sandbox)
    payer.pay_by_mbank(phones.MBANK_STUCK_PENDING.phone)
    payer.type_otp(phones.MBANK_STUCK_PENDING.otp)
    payer.sees_screen("waiting")
    payer.page = before
    payer.sees("Waiting for the bank")
    payer.look("waiting")
    # An old page may still have the button.
    payer.page.evaluate("path => fetch(path, {method: 'POST'})", f"{order_page}/cancel")
    payer.page.reload()
    payer.sees("Waiting for the bank")
    sandbox.approve(books.only().order_number)
    payer.sees("Paid")
    books.charged_once()


def test_page_names_the_shop(payer: Payer) -> None:
    payer.order()
    expect(payer.page.get_by_text("1 x Mountain honey, 500 g")).to_be_visible()
    expect(payer.page.locator("body")).to_contain_text(re.compile("390"))
