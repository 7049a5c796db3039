"""What goes wrong on the way: the order's page stays true, and nobody pays twice."""

from __future__ import annotations

import re
from datetime import timedelta

import kassa
import pytest
from kassa_sandbox import Endpoint, Sandbox, cards, dialect_json, phones
from kassa_server.testing import KassaServer
from playwright.sync_api import Browser, Route, expect

from client import callback, get, post, post_at_once, wait_until
from patience import PATIENCE
from payer import Payer
from shop_process import ShopProcess
from stage import Books, Stage, wait_for

STATUS_ENDPOINTS: tuple[Endpoint, ...] = ("status", "get-status")
LONG = timedelta(seconds=2 * PATIENCE)


@pytest.fixture
def books(sandbox: Sandbox) -> Books:
    return Books(sandbox)


def reference(order_page: str) -> str:
    return order_page.rpartition("/")[2]


def is_found_out_and_paid_once(payer: Payer, order_page: str, books: Books) -> None:
    """What nobody knew of goes on with the code, and nothing was sent a second time."""
    payer.sees("Waiting for your payment")
    payer.goes_to_pay()
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    books.charged_once()
    assert len(books.asked("mbank/pay")) == 1


# Answers, callbacks and processes that are lost


def test_page_is_true_when_no_callback_comes(payer: Payer, sandbox: Sandbox, books: Books) -> None:
    with sandbox.faults.add("callback-lost") as lost:
        order_page = payer.order()
        payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
        payer.type_otp(phones.MBANK_APPROVED.otp)
        # The gateway is asked, whatever it tells by itself.
        payer.sees_screen("paid")
        payer.sees_in_the_shop(order_page, "Paid")
        wait_until(lambda: lost.struck > 0)
    books.charged_once()


def test_server_is_killed_during_3ds(payer: Payer, server: KassaServer, books: Books) -> None:
    order_page = payer.order()
    payer.open_pay_form()
    payer.type_card(cards.APPROVED)
    payer.page.wait_for_url(re.compile("/3ds"))
    server.kill()
    payer.page.locator("#otp").fill(cards.APPROVED.otp or "")
    payer.page.get_by_role("button", name="Confirm").click(no_wait_after=True)
    # Neither the payer who is sent back nor the gateway's callback finds anybody.
    wait_until(lambda: books.only().is_charged)
    payer.give_the_page_up()
    payer.complaints.clear()
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    server.restart()
    # The gateway calls again.
    payer.sees("Paid")
    books.charged_once()


def test_pay_form_is_paid_for_when_its_payer_never_comes_back(
    payer: Payer, browser: Browser, stage: Stage, books: Books
) -> None:
    order_page = payer.order()
    pay_form = payer.open_pay_form()
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    friend = Payer(browser, payer.shop_url, stage.hosts)
    friend.page.goto(pay_form)
    friend.choose_wallet(phones.MBANK_APPROVED)
    friend.page.wait_for_url(re.compile(r"/wallet\?"))
    friend.context.route("**/wallet?*", lose_the_answer)
    friend.confirm(phones.MBANK_APPROVED.otp)
    payer.sees("Paid")
    friend.context.close()
    books.charged_once()


def lose_the_answer(route: Route) -> None:
    """The code arrives at the bank, and the browser never learns where to go on."""
    route.fetch(max_redirects=0)
    route.abort()


def test_shop_is_killed_during_3ds(payer: Payer, shop: ShopProcess, books: Books) -> None:
    payer.order()
    payer.open_pay_form()
    payer.type_card(cards.APPROVED)
    payer.page.wait_for_url(re.compile("/3ds"))
    shop.kill()
    shop.start()
    payer.confirm(cards.APPROVED.otp)
    payer.sees_screen("paid")
    payer.goes_back_to_the_shop()
    payer.sees("Paid")
    books.charged_once()


def test_what_is_paid_while_the_shop_is_killed_is_told_again(
    payer: Payer, shop: ShopProcess, server: KassaServer, sandbox: Sandbox, books: Books
) -> None:
    order_page = payer.order()
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    shop.kill()
    sandbox.approve(books.only().order_number)
    server.wait_for("checkout.paid", reference=reference(order_page), timeout=LONG)
    payer.sees_screen("paid")
    shop.start()
    # Nobody opened the order's page, and still it is paid.
    wait_until(lambda: f"order {reference(order_page)}: paid: deliver" in shop.log(), shop.log)
    payer.sees_in_the_shop(order_page, "Paid")
    books.charged_once("39000")


def test_server_is_killed_while_it_sends(
    payer: Payer, server: KassaServer, shop: ShopProcess, sandbox: Sandbox, books: Books
) -> None:
    order_page = payer.order()
    payer.page.locator("#way-mbank").check()
    payer.page.locator("#phone").fill(phones.MBANK_APPROVED.phone)
    with sandbox.faults.add("drip", endpoint="mbank/pay"):
        payer.page.locator("form:has([name=method]) button").click(no_wait_after=True)
        wait_until(lambda: len(books.payments) == 1)
        server.kill()
    payer.give_the_page_up()
    # Its browser notes that nobody answered.
    payer.complaints.clear()
    blind = [sandbox.faults.add("html-502", endpoint=endpoint) for endpoint in STATUS_ENDPOINTS]
    server.restart()
    payer.sees_in_the_shop(order_page, "We are finding out")
    payer.look("finding-out")
    expect(payer.page.get_by_role("button")).to_have_count(0)
    for fault in blind:
        fault.remove()
    is_found_out_and_paid_once(payer, order_page, books)
    assert shop.checkouts(reference(order_page)) == [reference(order_page)]


def test_lost_answer_is_found_out(payer: Payer, sandbox: Sandbox, books: Books) -> None:
    order_page = payer.order()
    with sandbox.faults.add("response-lost", endpoint="mbank/pay", times=1) as lost:
        blind = [sandbox.faults.add("html-502", endpoint=endpoint) for endpoint in STATUS_ENDPOINTS]
        payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
        payer.sees_screen("unknown")
        assert lost.struck == 1
    payer.sees_in_the_shop(order_page, "We are finding out")
    # Neither another payment nor a cancellation is offered, and an old page gets neither.
    expect(payer.page.get_by_role("button")).to_have_count(0)
    for action in ("pay", "cancel"):
        assert post(f"{order_page}/{action}")[1].startswith("/orders/")
    for fault in blind:
        fault.remove()
    is_found_out_and_paid_once(payer, order_page, books)


def test_lost_answer_to_the_code_is_found_out(payer: Payer, sandbox: Sandbox, books: Books) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.sees_screen("enter-code")
    blind = [sandbox.faults.add("html-502", endpoint=endpoint) for endpoint in STATUS_ENDPOINTS]
    with sandbox.faults.add("response-lost", endpoint="mbank/confirm", times=1):
        payer.type_otp(phones.MBANK_APPROVED.otp)
        payer.sees_screen("waiting")
    payer.sees_in_the_shop(order_page, "Waiting for the bank")
    for fault in blind:
        fault.remove()
    payer.sees("Paid")
    books.charged_once()
    assert len(books.asked("mbank/confirm")) == 1


def test_server_that_cannot_be_reached_costs_nothing(
    payer: Payer, server: KassaServer, shop: ShopProcess, books: Books
) -> None:
    payer.fill_basket()
    server.kill()
    payer.press("Order and pay")
    payer.sees("Nothing was charged")
    payer.look("nothing-charged")
    order_page = payer.page.url
    payer.press("Try again")
    payer.sees("Nothing was charged")
    server.restart()
    payer.press("Try again")
    payer.sees_screen("choose")
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    books.charged_once()
    assert shop.checkouts(reference(order_page)) == [reference(order_page)]


def test_gateway_that_cannot_be_reached_costs_nothing(payer: Payer, sandbox: Sandbox, books: Books) -> None:
    order_page = payer.order()
    sandbox.stop()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    expect(payer.page.get_by_role("heading", level=1)).to_contain_text("No money was taken")
    sandbox.start()
    payer.sees_in_the_shop(order_page, "Not paid")
    payer.goes_to_pay()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    books.charged_once()


def test_credentials_that_are_refused_for_a_moment_end_nothing(payer: Payer, sandbox: Sandbox, books: Books) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_STUCK_PENDING.phone)
    payer.type_otp(phones.MBANK_STUCK_PENDING.otp)
    payer.sees_screen("waiting")
    faults = [sandbox.faults.add("unauthorized", endpoint=endpoint) for endpoint in STATUS_ENDPOINTS]
    payer.page.locator("form[action*=check] button").click()
    wait_until(lambda: any(fault.struck for fault in faults))
    payer.sees_in_the_shop(order_page, "Waiting for the bank")
    for fault in faults:
        fault.remove()
    with sandbox.faults.add("callback-lost"):
        sandbox.approve(books.only().order_number)
        payer.sees("Paid")


# Buttons that are pressed twice


def test_button_that_is_pressed_twice_orders_once(payer: Payer, shop: ShopProcess, books: Books) -> None:
    before = len(shop.orders())
    payer.fill_basket()
    payer.page.get_by_role("button", name="Order and pay").dblclick()
    payer.sees_screen("choose")
    assert len(shop.orders()) == before + 1
    assert books.payments == ()


def test_who_presses_many_times_is_sent_to_one_page(shop: ShopProcess) -> None:
    order = shop.order()
    pay = f"{shop.page_of(order)}/pay"
    assert set(post_at_once(6, pay)) == {(303, shop.page_urls(order)[0])}
    # And once more where the time is over: one more checkout, and one page.
    assert shop.tell(order, "checkout.expired", "evt_expired_1") == 204
    (again,) = set(post_at_once(6, pay))
    assert shop.checkouts(order) == [order, f"{order}.2"]
    assert again == (303, shop.page_urls(order)[1])
    assert shop.page_urls(order)[0] != shop.page_urls(order)[1]


def test_who_cancels_many_times_cancels_once(shop: ShopProcess, server: KassaServer) -> None:
    order = shop.order()
    assert {status for status, _ in post_at_once(4, f"{shop.page_of(order)}/cancel")} == {303}
    wait_for(shop.page_of(order), "Cancelled", shop)
    assert len(server.events("checkout.cancelled", reference=order)) == 1


# Money that comes late, or twice


def test_what_is_paid_late_is_delivered_and_cannot_be_paid_again(
    payer: Payer, shop: ShopProcess, server: KassaServer, sandbox: Sandbox, books: Books
) -> None:
    order_page = payer.order()
    order = reference(order_page)
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    # As the server tells it once an hour is over.
    assert shop.tell(order, "checkout.expired", "evt_expired_2") == 204
    payer.sees_in_the_shop(order_page, "The time to pay is over")
    payer.look("expired")
    payer.press("Pay 390.00 som")
    payer.sees_screen("choose")
    # The first one is paid after all: the second one must not be.
    sandbox.approve(books.only().order_number)
    payer.sees_screen("cancelled")
    payer.sees_in_the_shop(order_page, "Paid")
    assert server.checkout(f"{order}.2")["state"] == "cancelled"
    books.charged_once("39000")


def test_what_is_paid_twice_is_owed(payer: Payer, shop: ShopProcess, sandbox: Sandbox, books: Books) -> None:
    order_page = payer.order()
    pay_form = payer.open_pay_form()
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    payer.goes_to_pay()
    payer.page.locator("#others summary").click()
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    sandbox.approve(books.payments[-1].order_number)
    payer.sees_screen("paid")
    # In spite of the warning, the page that is still open somewhere.
    payer.page.goto(pay_form)
    payer.choose_wallet(phones.MBANK_APPROVED)
    payer.confirm(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    wait_for(order_page, "We owe you", shop)
    payer.sees_in_the_shop(order_page, "Paid")
    payer.look("owed")
    assert [payment.times_charged for payment in books.payments] == [1, 1]
    assert f"order {reference(order_page)}: paid too much: give 1 payment(s) back" in shop.log()
    # A person gives it back at the gateway, and notes that on the server's staff pages.
    assert shop.tell(reference(order_page), "checkout.refund_recorded", "evt_refund_1") == 204
    assert "was given back" in get(order_page)
    assert "We owe you" not in get(order_page)


def test_order_paid_after_cancellation_is_refunded(
    payer: Payer, shop: ShopProcess, sandbox: Sandbox, books: Books
) -> None:
    order_page = payer.order()
    payer.chooses("qr")
    payer.sees_screen("show-qr")
    payer.sees_in_the_shop(order_page, "Waiting for your payment")
    payer.press("Cancel the order")
    payer.sees("Cancelled")
    sandbox.approve(books.only().order_number)
    payer.sees("Paid after it was cancelled")
    payer.look("paid-too-late")
    assert "We owe you" in get(order_page)
    assert f"order {reference(order_page)}: paid: deliver" not in shop.log()
    books.charged_once("39000")


# What strangers send


def test_forged_callback_ships_nothing(
    payer: Payer, shop: ShopProcess, server: KassaServer, sandbox: Sandbox, books: Books
) -> None:
    order_page = payer.order()
    payer.pay_by_mbank(phones.MBANK_STUCK_PENDING.phone)
    payer.type_otp(phones.MBANK_STUCK_PENDING.otp)
    payer.sees_screen("waiting")
    number = books.only().order_number
    wait_until(lambda: bool(sandbox.callbacks(number)))
    address = sandbox.callbacks(number)[-1].url
    asked = len(books.asked("get-status")) + len(books.asked("status"))
    assert post(address, callback(number, "MBank"))[0] == 200
    # The server asks the gateway, which knows better.
    wait_until(lambda: len(books.asked("get-status")) + len(books.asked("status")) > asked)
    payer.sees_in_the_shop(order_page, "Waiting for the bank")
    assert not server.events("checkout.paid", reference=reference(order_page))
    sandbox.approve(number)
    payer.sees("Paid")
    assert shop.log().count(f"order {reference(order_page)}: paid: deliver") == 1


def test_one_payment_pays_for_one_order(payer: Payer, stage: Stage, books: Books) -> None:
    order_page = payer.order()
    payer.open_pay_form()
    payer.choose_wallet(phones.MBANK_APPROVED)
    payer.confirm(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    number = books.charged_once().order_number
    # Another order of the same price, and a dearer one.
    for jars in (1, 2):
        assert_pays_for_no_other_order(number, jars, payer, stage)


def test_qr_code_of_some_tyiyn_pays_for_no_jar(payer: Payer, stage: Stage) -> None:
    dialect = kassa.Dialect.from_json(dialect_json())
    sandbox = stage.sandbox
    with kassa.Gateway(sandbox.base_url, kassa.Credentials(*sandbox.credentials), dialect=dialect) as gateway:
        cheap = gateway.create_qr_data(kassa.QrPayment(sum_tyiyn=390)).payment
    assert cheap.transaction_id is not None
    sandbox.approve(cheap.transaction_id)
    # A provider knows it as a payment of 390, which is what a jar costs in som.
    assert_pays_for_no_other_order(cheap.transaction_id, 1, payer, stage)


def assert_pays_for_no_other_order(number: str, jars: int, payer: Payer, stage: Stage) -> None:
    """Somebody who knows where callbacks go says that a payment was made for this order, which was made for something else."""
    books = Books(stage.sandbox)
    order_page = payer.order(jars)
    payer.open_pay_form()
    payer.choose_wallet(phones.MBANK_DECLINED)
    payer.confirm(phones.MBANK_DECLINED.otp)
    own = books.only().order_number
    wait_until(lambda: bool(stage.sandbox.callbacks(own)))
    asked = len(stage.sandbox.requests(number))
    assert post(stage.sandbox.callbacks(own)[-1].url, callback(number, "MBank", f"{jars * 390}.00"))[0] == 200
    wait_until(lambda: len(stage.sandbox.requests(number)) > asked)
    payer.sees_in_the_shop(order_page, "We have to look at this")
    # A charge was reported that is not this order's: a person looks, and until then nobody pays again.
    found = {"outcome": "not_charged", "reason": "The charge is another order's", "by": "Aida"}
    payment = stage.server.checkout(reference(order_page))["payments"][-1]["id"]
    stage.server.request("POST", f"/v1/payments/{payment}/resolve", found)
    payer.sees_in_the_shop(order_page, "Not paid")
    # It is paid by a payment of its own, and by that alone.
    payer.goes_to_pay()
    payer.pay_by_mbank(phones.MBANK_APPROVED.phone)
    payer.type_otp(phones.MBANK_APPROVED.otp)
    payer.sees_screen("paid")
    payer.sees_in_the_shop(order_page, "Paid")
    assert not stage.server.events("checkout.overpaid", reference=reference(order_page))
