"""The receiver: what is true is taken once, and what is forged, old or about something else is not."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from client import get, wait_until
from shop.standing import Event
from shop_process import ShopProcess
from stage import wait_for

OTHER_SECRET = f"whsec_{base64.b64encode(secrets.token_bytes(32)).decode()}"
OPEN = "Waiting for your payment"


@pytest.fixture
def order(shop: ShopProcess) -> str:
    return shop.order()


def new_id() -> str:
    """An event's identifier that was not there before."""
    return f"evt_{secrets.token_hex(8)}"


def deliveries(shop: ShopProcess, order: str) -> int:
    """How often the shop's people were told to deliver it."""
    return shop.log().count(f"order {order}: paid: deliver")


FORGERIES: dict[str, Callable[[ShopProcess, str], int]] = {
    "by another secret": lambda shop, order: shop.tell(order, "checkout.paid", new_id(), secret=OTHER_SECRET),
    "with more signatures": lambda shop, order: shop.tell(
        order, "checkout.paid", new_id(), secret=OTHER_SECRET, also="v1, v2,x "
    ),
    "an hour old": lambda shop, order: shop.tell(order, "checkout.paid", new_id(), age=timedelta(hours=1)),
    "of tomorrow": lambda shop, order: shop.tell(order, "checkout.paid", new_id(), age=-timedelta(days=1)),
    "unsigned": lambda shop, order: shop.deliver(
        json.dumps({"id": "evt_1", "type": "checkout.paid", "data": {"reference": order}}).encode(), {}
    ),
    "no text": lambda shop, _: shop.deliver(
        b"\xff\xfe", {"webhook-id": "evt_1", "webhook-timestamp": "1", "webhook-signature": "v1,eA=="}
    ),
}


@pytest.mark.parametrize("forgery", FORGERIES.values(), ids=FORGERIES)
def test_what_is_forged_or_old_is_refused(
    shop: ShopProcess, order: str, forgery: Callable[[ShopProcess, str], int]
) -> None:
    assert forgery(shop, order) == 401
    assert OPEN in get(shop.page_of(order))
    assert deliveries(shop, order) == 0


def test_more_than_any_event_has_is_not_read(shop: ShopProcess) -> None:
    assert shop.deliver(b"{" * 65_537, {}) == 413


def test_event_that_comes_twice_is_taken_once(shop: ShopProcess, order: str) -> None:
    event_id = new_id()
    assert [shop.tell(order, "checkout.paid", event_id) for _ in range(3)] == [204] * 3
    wait_for(shop.page_of(order), "your honey is on its way", shop)
    wait_until(lambda: deliveries(shop, order) == 1, shop.log)
    # A second one with another identifier would be a second payment.
    assert "We owe you" not in get(shop.page_of(order))


def test_shop_delivers_after_crash_on_repeated_event(shop: ShopProcess, order: str) -> None:
    event_id = new_id()
    shop.keep(Event(event_id, order, 2, "checkout.paid"))
    assert deliveries(shop, order) == 0
    # It was not answered, so it comes again.
    assert [shop.tell(order, "checkout.paid", event_id) for _ in range(2)] == [204] * 2
    wait_until(lambda: deliveries(shop, order) == 1, shop.log)


def test_only_paid_makes_an_order_paid(shop: ShopProcess, order: str) -> None:
    for kind in (
        "payment.charged",
        "checkout.overpaid",
        "checkout.refund_recorded",
        "checkout.expired",
        "something.new",
    ):
        assert shop.tell(order, kind, new_id()) == 204
    assert "your honey is on its way" not in get(shop.page_of(order))
    assert deliveries(shop, order) == 0


def test_while_the_secret_is_replaced_one_right_signature_is_enough(shop: ShopProcess, order: str) -> None:
    wrong = f"v1,{base64.b64encode(bytes(32)).decode()} "
    assert shop.tell(order, "checkout.paid", new_id(), also=wrong) == 204
    assert "your honey is on its way" in get(shop.page_of(order))


@pytest.mark.parametrize("about", ["nobody", "../order", ""])
def test_event_about_an_unknown_order_is_not_taken(shop: ShopProcess, about: str) -> None:
    # It comes again, and the server's staff sees it in the end.
    assert shop.tell(about, "checkout.paid", new_id()) == 404


@pytest.mark.parametrize("other", [{"amount": "39.00"}, {"currency": "USD"}])
def test_event_about_another_amount_is_not_taken(shop: ShopProcess, order: str, other: dict[str, Any]) -> None:
    event_id = new_id()
    assert shop.tell(order, "checkout.paid", event_id, **other) == 422
    assert OPEN in get(shop.page_of(order))
    wait_until(lambda: f"order {order}: event {event_id} is about another amount" in shop.log(), shop.log)


def test_payment_that_does_not_fit_is_for_a_person(shop: ShopProcess, order: str) -> None:
    payment = {"id": "pay_1", "method": "qr", "state": "mismatch"}
    assert shop.tell(order, "payment.mismatch", new_id(), payment=payment) == 204
    page = get(shop.page_of(order))
    assert "We have to look at this" in page
    assert "<button" not in page
    payment["state"] = "rejected"
    assert shop.tell(order, "payment.resolved", new_id(), version=1001, payment=payment) == 204
    assert "Not paid" in get(shop.page_of(order))


def test_what_a_browser_asks_for_and_is_not_there(shop: ShopProcess) -> None:
    assert shop.deliver(b"{}", {}) == 401
    for path in ("/orders/nobody", "/events", "/return", "/callback"):
        with pytest.raises(OSError, match=r"HTTP Error 40[45]"):
            get(f"{shop.url}{path}")
