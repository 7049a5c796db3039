"""Each shop is paid as a payer pays, and told what is true, what is forged, and what it knows already."""

from __future__ import annotations

import base64
import itertools
import secrets

import pytest
from kassa_sandbox import phones
from shop_process import ShopProcess, request, wait_until

NUMBERS = itertools.count(1)
OTHER_SECRET = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"


def new_id() -> str:
    """An event's identifier that was not there before."""
    return f"evt_test_{next(NUMBERS)}"


def test_who_pays_gets_the_order(shop: ShopProcess) -> None:
    product = shop.open(f"{shop.url}/")
    assert product.status == 200
    assert 'action="/buy"' in product.text.replace("'", '"')
    reference, page = shop.buy()
    assert page.startswith(f"{shop.server.url}/pay/")
    assert "not paid yet" in shop.page_of(reference)
    back = shop.pay(reference, page, phones.MBANK_APPROVED)
    # From the gateway to the page for payers, and from there to the shop.
    assert back.startswith(f"{page}/back?")
    assert request(back).status == 303
    assert shop.way_back(page) == f"{shop.url}/orders/{reference}"
    wait_until(lambda: "delivered" in shop.page_of(reference), shop.log)
    # It shows it before its log is written.
    wait_until(lambda: shop.deliveries(reference) > 0, shop.log)
    assert shop.deliveries(reference) == 1
    assert shop.server.sandbox.ledger()[-1].times_charged == 1


def test_who_is_declined_gets_nothing(shop: ShopProcess) -> None:
    reference, page = shop.buy()
    assert shop.pay(reference, page, phones.MBANK_DECLINED) == ""
    assert shop.server.checkout(reference)["state"] == "open"
    assert "not paid yet" in shop.page_of(reference)


def test_what_is_forged_delivers_nothing(shop: ShopProcess) -> None:
    reference, _ = shop.buy()
    unsigned = '{"type":"checkout.paid","data":{"reference":"' + reference + '"}}'
    statuses = [
        shop.open(f"{shop.url}/events", "POST", unsigned).status,
        shop.tell(reference, event_id=new_id(), secret=OTHER_SECRET),
        shop.tell(reference, event_id=new_id(), secret=OTHER_SECRET, also="v1, v2,x "),
        shop.tell(reference, event_id=new_id(), age=3600),
        shop.tell(reference, event_id=new_id(), age=-3600),
    ]
    assert all(400 <= status < 500 for status in statuses), (statuses, shop.log())
    assert "not paid yet" in shop.page_of(reference)
    assert shop.deliveries(reference) == 0


def test_event_that_comes_twice_delivers_once(shop: ShopProcess) -> None:
    reference, _ = shop.buy()
    event_id = new_id()
    assert [shop.tell(reference, event_id=event_id) // 100 for _ in range(3)] == [2, 2, 2]
    assert "delivered" in shop.page_of(reference)
    wait_until(lambda: shop.deliveries(reference) > 0, shop.log)
    assert shop.deliveries(reference) == 1


def test_another_event_about_a_delivered_order_delivers_nothing(shop: ShopProcess) -> None:
    """As after a restore of the server, which finds the charge again and gives its event a new identifier."""
    reference, _ = shop.buy()
    assert [shop.tell(reference, event_id=new_id()) // 100 for _ in range(2)] == [2, 2]
    # Its answer can come before the log is written.
    wait_until(lambda: shop.deliveries(reference) > 0, shop.log)
    assert shop.deliveries(reference) == 1


def test_other_events_deliver_nothing(shop: ShopProcess) -> None:
    reference, _ = shop.buy()
    for kind in ("payment.charged", "checkout.expired", "checkout.overpaid"):
        assert shop.tell(reference, kind=kind, event_id=new_id()) // 100 == 2
    assert "not paid yet" in shop.page_of(reference)


def test_while_the_secret_is_replaced_one_right_signature_is_enough(shop: ShopProcess) -> None:
    reference, _ = shop.buy()
    assert shop.tell(reference, event_id=new_id(), also=f"v1,{base64.b64encode(bytes(32)).decode()} ") // 100 == 2
    assert "delivered" in shop.page_of(reference)


@pytest.mark.parametrize("reference", ["order-0000000000", "../order", "nobody"])
def test_event_about_an_unknown_order_is_not_taken(shop: ShopProcess, reference: str) -> None:
    assert shop.tell(reference, event_id=new_id()) == 404


def test_nothing_else_is_there(shop: ShopProcess) -> None:
    asked = [("GET", "/orders/nobody"), ("GET", "/buy"), ("POST", "/"), ("GET", "/events")]
    statuses = [shop.open(f"{shop.url}{path}", method).status for method, path in asked]
    assert all(status in (404, 405) for status in statuses), statuses


def test_shop_without_its_server_says_so_and_no_page_tells_a_secret(shop: ShopProcess) -> None:
    shop.server.kill()
    assert shop.open(f"{shop.url}/buy", "POST").status == 500
    shop.server.restart()
    shop.buy()
    for page in shop.pages:
        for secret in (shop.server.api_key[:12], shop.server.events_secret):
            assert secret not in page
