"""What goes wrong on the way: the order's page stays true, and nobody pays twice."""

from __future__ import annotations

import re
import signal
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path

import kassa
from client import callback, get, post, post_form_at_once
from kassa_sandbox import Endpoint, Sandbox, cards, dialect_json, phones
from payer import Payer
from playwright.sync_api import Browser, Route, expect
from shop_process import ShopProcess
from test_flows import assert_charged_once, only_payment

STATUS_ENDPOINTS: tuple[Endpoint, ...] = ("status", "get-status")
CARD_FORM = {"pan": cards.WITHOUT_3DS_APPROVED.pan, "expiry": "12/39", "cvc": "123", "name": "Aibek Asanov"}


def wait_until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it never came to that"
        time.sleep(0.02)


def callback_address(sandbox: Sandbox) -> str:
    """Where the last callback went."""
    wait_until(lambda: bool(sandbox.callbacks()))
    return sandbox.callbacks()[-1].url


# Answers, callbacks and processes that are lost


def test_the_page_is_true_when_no_callback_comes(payer: Payer, kassa_sandbox: Sandbox) -> None:
    with kassa_sandbox.faults.add("callback-lost") as lost:
        payer.order()
        payer.pay_by_card(cards.APPROVED)
        payer.confirm(cards.APPROVED.otp)
        payer.sees("Paid")
        wait_until(lambda: lost.struck > 0)
    assert_charged_once(kassa_sandbox)


def test_a_pay_form_is_paid_for_when_no_callback_comes(payer: Payer, kassa_sandbox: Sandbox) -> None:
    with kassa_sandbox.faults.add("callback-lost") as lost:
        payer.order()
        payer.open_pay_form()
        payer.choose_wallet(phones.MBANK_APPROVED)
        payer.confirm(phones.MBANK_APPROVED.otp)
        # The payer came back with the number; the gateway was asked about it.
        payer.sees("Paid")
        wait_until(lambda: lost.struck > 0)
    assert_charged_once(kassa_sandbox)


def test_a_pay_form_is_paid_for_when_its_payer_never_comes_back(
    payer: Payer, browser: Browser, shop: ShopProcess, kassa_sandbox: Sandbox
) -> None:
    order_page = payer.order()
    pay_form = payer.open_pay_form()
    payer.page.goto(order_page)
    payer.sees("Continue on the payment page")
    friend = Payer(browser, payer.shop_url)
    friend.page.goto(pay_form)
    friend.choose_wallet(phones.MBANK_APPROVED)
    friend.page.wait_for_url(re.compile(r"/wallet\?"))
    friend.context.route("**/wallet?*", lose_the_answer)
    friend.confirm(phones.MBANK_APPROVED.otp)
    payer.sees("Paid")
    friend.context.close()
    assert set(shop.hints()) == {"callback"}
    assert_charged_once(kassa_sandbox)


def lose_the_answer(route: Route) -> None:
    """The code arrives at the bank, and the browser never learns where to go on."""
    route.fetch(max_redirects=0)
    route.abort()


def test_the_shop_is_killed_during_3ds(payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.pay_by_card(cards.APPROVED)
    payer.page.wait_for_url(re.compile("/3ds"))
    shop.kill()
    # What the gateway sends in the meantime arrives nowhere.
    shop.start()
    payer.confirm(cards.APPROVED.otp)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)


def test_the_shop_is_killed_and_the_payer_pays_meanwhile(
    payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox
) -> None:
    order_page = payer.order()
    payer.press("QR code")
    payer.sees("Scan to pay")
    payer.give_the_page_up()
    shop.kill()
    with kassa_sandbox.faults.add("callback-lost"):
        kassa_sandbox.approve(only_payment(kassa_sandbox).order_number)
        shop.start()
        # Nobody opened the order's page, and still it is paid.
        wait_until(lambda: "charged" in shop.log())
    payer.page.goto(order_page)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox, "39000")


def test_a_lost_answer_is_found_out(payer: Payer, kassa_sandbox: Sandbox) -> None:
    kassa_sandbox.faults.add("reply-lost", endpoint="payment", times=1)
    blind = kassa_sandbox.faults.add("unavailable", endpoint="get-status")
    payer.order()
    payer.pay_by_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees("We are finding out")
    payer.look("finding-out")
    expect(payer.page.get_by_role("button")).to_have_count(0)
    blind.remove()
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)
    assert [request.endpoint for request in kassa_sandbox.requests()].count("payment") == 1


def test_a_lost_answer_to_the_code_is_found_out(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    kassa_sandbox.faults.add("reply-lost", endpoint="mbank/confirm", times=1)
    # The watch asks by the gateway's number, the callback is checked by the shop's.
    blind = [kassa_sandbox.faults.add("unavailable", endpoint=endpoint) for endpoint in STATUS_ENDPOINTS]
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees("We are finding out")
    for fault in blind:
        fault.remove()
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)
    assert [request.endpoint for request in kassa_sandbox.requests()].count("mbank/confirm") == 1


def test_the_shop_is_killed_while_it_sends(payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order()
    payer.type_card(cards.WITHOUT_3DS_APPROVED)
    kassa_sandbox.faults.add("drip", endpoint="payment", times=1)
    payer.page.get_by_role("button", name="Pay ").click(no_wait_after=True)
    wait_until(lambda: len(kassa_sandbox.ledger()) == 1)
    shop.kill()
    # The browser is about to show a page of its own about that, which would break the next navigation off.
    payer.give_the_page_up()
    shop.start()
    payer.page.goto(order_page)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)
    # The form that was lost with the shop.
    payer.complaints.clear()


def test_a_gateway_that_cannot_be_reached_costs_nothing(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    kassa_sandbox.stop()
    payer.pay_by_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees("Nothing was charged")
    payer.look("not-made")
    kassa_sandbox.start()
    payer.pay_by_card(cards.WITHOUT_3DS_APPROVED)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)


def test_credentials_that_are_refused_for_a_moment_end_nothing(
    payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox
) -> None:
    payer.order()
    payer.pay_by_mbank(phones.MBANK_STUCK_PENDING.phone)
    payer.type_otp(phones.MBANK_STUCK_PENDING.otp)
    payer.sees("Waiting for the bank")
    kassa_sandbox.faults.add("unauthorized", endpoint="status", times=3)
    wait_until(lambda: "cannot be asked about" in shop.log())
    with kassa_sandbox.faults.add("callback-lost"):
        kassa_sandbox.approve(only_payment(kassa_sandbox).order_number)
        payer.sees("Paid")


# Buttons that are pressed twice


def test_a_button_that_is_pressed_twice_pays_once(payer: Payer, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.type_card(cards.APPROVED)
    payer.page.wait_for_load_state()
    payer.page.get_by_role("button", name="Pay ").dblclick()
    payer.confirm(cards.APPROVED.otp)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)


def test_forms_that_arrive_at_once_make_one_payment(payer: Payer, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order()
    assert post_form_at_once(6, f"{order_page}/card", **CARD_FORM) == [200] * 6
    payer.page.reload()
    payer.sees("Paid")
    assert post_form_at_once(2, f"{order_page}/qr") == [200] * 2
    assert_charged_once(kassa_sandbox)


def test_codes_that_arrive_at_once_are_sent_once(payer: Payer, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    post_form_at_once(6, f"{order_page}/otp", otp=phones.MBANK_APPROVED.otp)
    payer.sees("Paid")
    assert_charged_once(kassa_sandbox)
    assert [request.endpoint for request in kassa_sandbox.requests()].count("mbank/confirm") == 1


# What strangers send


def test_a_forged_callback_ships_nothing(payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_STUCK_PENDING.phone)
    payer.type_otp(phones.MBANK_STUCK_PENDING.otp)
    payer.sees("Waiting for the bank")
    payer.look("waiting")
    address = callback_address(kassa_sandbox)
    number = only_payment(kassa_sandbox).order_number
    assert post(address, callback(number, "MBank")) == 204
    assert post(address, callback(number, "MBank", amount="1")) == 204
    wait_until(lambda: "is not true, in amount" in shop.log())
    assert "Waiting for the bank" in get(order_page)
    assert post(address, b"{}") == 400
    assert post(f"{shop.url}/callback?payment=nobody", callback(number, "MBank")) == 404
    kassa_sandbox.approve(number)
    payer.sees("Paid")


def test_one_payment_pays_for_one_order(payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    payer.order()
    payer.open_pay_form()
    payer.choose_wallet(phones.MBANK_APPROVED)
    payer.confirm(phones.MBANK_APPROVED.otp)
    payer.sees("Paid")
    number = only_payment(kassa_sandbox).order_number

    # Another order of the same price, and somebody who says that it was this payment.
    order_page = payer.order()
    payer.open_pay_form()
    query = f"payment={shop.payment_ids()[-1]}"
    page = get(f"{shop.url}/return?{query}&OrderNumber={number}&statusCode=200")
    wait_until(lambda: "a return is not true, in orderNumber" in shop.log())
    assert post(f"{shop.url}/callback?{query}", callback(number, "MBank")) == 204
    wait_until(lambda: "a callback is not true, in orderNumber" in shop.log())
    for seen in (page, get(order_page)):
        assert "Continue on the payment page" in seen
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [1, 0]


def test_a_payer_who_comes_back_with_a_cheaper_payment_has_not_paid(
    payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox, tmp_path: Path
) -> None:
    with ShopProcess(tmp_path / "another", kassa_sandbox) as another:
        payer.shop_url = another.url
        payer.order()
        payer.open_pay_form()
        payer.choose_wallet(phones.MBANK_APPROVED)
        payer.confirm(phones.MBANK_APPROVED.otp)
        payer.sees("Paid")
        # The browser may still want this shop's icon.
        payer.give_the_page_up()
    number = only_payment(kassa_sandbox).order_number

    payer.shop_url = shop.url
    order_page = payer.order(2)
    payer.open_pay_form()
    query = f"payment={shop.payment_ids()[-1]}&OrderNumber={number}&statusCode=200"
    get(f"{shop.url}/return?{query}")
    wait_until(lambda: "a return is not true, in amount" in shop.log())
    assert "Continue on the payment page" in get(order_page)


def test_a_qr_code_of_some_tyiyn_pays_for_no_jar(payer: Payer, shop: ShopProcess, kassa_sandbox: Sandbox) -> None:
    dialect = kassa.Dialect.from_json(dialect_json())
    with kassa.Gateway(
        kassa_sandbox.base_url, kassa.Credentials(*kassa_sandbox.credentials), dialect=dialect
    ) as gateway:
        cheap = gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=390)).payment
    assert cheap.transaction_id is not None
    number = cheap.transaction_id

    # A provider knows it as a payment of 390, which is what a jar costs in som.
    order_page = payer.order()
    payer.open_pay_form()
    query = f"payment={shop.payment_ids()[-1]}"
    get(f"{shop.url}/return?{query}&OrderNumber={number}&statusCode=200")
    assert post(f"{shop.url}/callback?{query}", callback(number, "MBank")) == 204
    wait_until(lambda: "a return names a payment that is still open" in shop.log())
    wait_until(lambda: "a callback names a payment that is still open" in shop.log())
    kassa_sandbox.approve(number)
    wait_until(lambda: "a return is not true, in orderNumber" in shop.log())
    wait_until(lambda: "a callback is not true, in orderNumber" in shop.log())
    assert "Continue on the payment page" in get(order_page)
    assert [payment.times_charged for payment in kassa_sandbox.ledger() if payment.kind == "qr"] == [1]


# Starting


def test_the_shop_brings_a_sandbox_that_ends_with_it(browser: Browser, tmp_path: Path) -> None:
    shop = ShopProcess(tmp_path / "data", None).start()
    payer = Payer(browser, shop.url)
    payer.order()
    assert "Test mode" in payer.page.content()
    payer.pay_by_card(cards.APPROVED)
    payer.page.wait_for_url(re.compile("/3ds"))
    bank = payer.page.url
    payer.confirm(cards.APPROVED.otp)
    payer.sees("Paid")
    assert payer.complaints == []
    payer.context.close()
    shop.kill()
    wait_until(lambda: is_gone(bank))


def is_gone(url: str) -> bool:
    try:
        get(url)
    except urllib.error.URLError as error:
        return isinstance(error.reason, ConnectionRefusedError)
    except ConnectionError:
        # It is about to go.
        return False
    return False


def test_the_shop_stops_when_it_is_told_to(shop: ShopProcess) -> None:
    assert "Mountain honey" in get(shop.url)
    assert shop.stop() in (0, -signal.SIGTERM)
    shop.start()
