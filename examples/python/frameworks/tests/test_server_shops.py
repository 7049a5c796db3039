"""Each shop that uses kassa-server, as users start it: a payer pays, and its events come, forged and repeated ones too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kassa_sandbox import phones
from kassa_server.testing import KassaServer

from conftest import folder_of
from shop_process import OTHER_SECRET, Program, Shop

WORKER = ["python", "worker.py"]
DJANGO = {"DJANGO_SETTINGS_MODULE": "django_shop.settings"}
SHOPS = {
    "fastapi": Program(["uvicorn", "fastapi_shop.app:app", "--port", "{port}"], WORKER),
    "flask": Program(["flask", "--app", "flask_shop.app", "run", "--port", "{port}"], WORKER),
    "django": Program(
        ["python", "-m", "django", "runserver", "--noreload", "{port}"],
        ["python", "-m", "django", "deliver"],
        ["python", "-m", "django", "migrate"],
        DJANGO,
    ),
}


@pytest.fixture(scope="module", params=SHOPS)
def shop(
    request: pytest.FixtureRequest, kassa_server: KassaServer, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    name: str = request.param
    with Shop(SHOPS[name], port, folder_of(tmp_path_factory), kassa_server.environment()) as shop:
        yield shop


def test_who_pays_gets_the_order_once(shop: Shop, kassa_server: KassaServer) -> None:
    reference, page_url = shop.order()
    back = kassa_server.pay_on_page(page_url)
    assert back.startswith(f"{page_url}/back?")
    shop.wait_for_delivery(reference)
    # As after a restore of the server: the same charge, with an event of another identifier.
    assert shop.send(kassa_server, reference) == 204
    assert "delivered" in shop.open(f"/orders/{reference}").text
    assert shop.deliveries(reference) == 1
    assert kassa_server.sandbox.ledger()[-1].times_charged == 1


def test_declined_payer_gets_nothing(shop: Shop, kassa_server: KassaServer) -> None:
    reference, page_url = shop.order()
    kassa_server.pay_on_page(page_url, phones.MBANK_DECLINED)
    assert shop.send(kassa_server, reference, kind="payment.rejected") == 204
    assert shop.send(kassa_server, reference, kind="checkout.expired") == 204
    assert "is new" in shop.open(f"/orders/{reference}").text


def test_forged_event_delivers_nothing(shop: Shop, kassa_server: KassaServer) -> None:
    reference, page_url = shop.order()
    kassa_server.pay_on_page(page_url, phones.MBANK_STUCK_PENDING)
    assert shop.send(kassa_server, reference, secret=OTHER_SECRET) == 401
    assert shop.open("/events", "POST", b'{"type":"checkout.paid"}').status == 401
    assert "is new" in shop.open(f"/orders/{reference}").text


def test_unknown_order_is_not_acknowledged(shop: Shop, kassa_server: KassaServer) -> None:
    assert shop.send(kassa_server, "order-0000000000") == 404
    assert shop.open("/orders/order-0000000000").status == 404


def test_without_the_server_no_one_is_sent_to_pay(shop: Shop, kassa_server: KassaServer) -> None:
    kassa_server.kill()
    try:
        answer = shop.press()
    finally:
        kassa_server.restart()
    assert answer.status == 500
    assert kassa_server.api_key not in answer.text
    shop.buy()


def test_event_that_a_stopped_shop_missed_comes_again(shop: Shop, kassa_server: KassaServer) -> None:
    reference, page_url = shop.order()
    shop.web.end()
    kassa_server.pay_on_page(page_url)
    kassa_server.wait_for("checkout.paid", reference=reference)
    shop.web.start()
    shop.wait_for_delivery(reference)
