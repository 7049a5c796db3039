"""Each shop that talks to the gateway itself, as users start it, against the sandbox with lost and forged callbacks."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from kassa_sandbox import Sandbox, phones

from conftest import folder_of
from shop_process import Program, Shop

DJANGO = {"DJANGO_SETTINGS_MODULE": "django_shop.settings_direct"}
SHOPS = {
    "fastapi": Program(["uvicorn", "fastapi_shop.direct:app", "--port", "{port}"], ["python", "direct_worker.py"]),
    "django": Program(
        ["python", "-m", "django", "runserver", "--noreload", "{port}"],
        ["python", "-m", "django", "deliver_charged"],
        ["python", "-m", "django", "migrate"],
        DJANGO,
    ),
}


@pytest.fixture(scope="module", params=SHOPS)
def shop(
    request: pytest.FixtureRequest, kassa_sandbox_session: Sandbox, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    name: str = request.param
    with Shop(SHOPS[name], port, folder_of(tmp_path_factory), kassa_sandbox_session.environment()) as shop:
        yield shop


def pay(shop: Shop, sandbox: Sandbox, page_url: str) -> str:
    """Pays on the pay-form; the order's reference."""
    back = sandbox.pay_by_form(page_url)
    assert back.startswith(f"{shop.url}/orders/")
    return back.rpartition("/")[2].partition("?")[0]


def test_who_pays_gets_the_order_once(shop: Shop, kassa_sandbox: Sandbox) -> None:
    with kassa_sandbox.faults.add("callback-duplicated"):
        reference = pay(shop, kassa_sandbox, shop.buy())
        shop.wait_for_delivery(reference)
    shop.wait_until(lambda: len(kassa_sandbox.callbacks()) > 1)
    assert all(attempt.http_status == 204 for attempt in kassa_sandbox.callbacks())
    assert kassa_sandbox.ledger()[-1].times_charged == 1
    assert shop.deliveries(reference) == 1


def test_declined_payer_gets_nothing(shop: Shop, kassa_sandbox: Sandbox) -> None:
    before = shop.worker.log().count("deliver order-")
    kassa_sandbox.pay_by_form(shop.buy(), phones.MBANK_DECLINED)
    shop.wait_until(lambda: len(kassa_sandbox.callbacks()) > 0)
    # The worker polls the payments in turn. When a later one is delivered, it has seen the declined one.
    shop.wait_for_delivery(pay(shop, kassa_sandbox, shop.buy()))
    assert shop.worker.log().count("deliver order-") == before + 1


def test_forged_callback_is_refused(shop: Shop, kassa_sandbox: Sandbox) -> None:
    body = b'{"orderNumber":"1","amount":390,"currency":"KGS","status":"CHARGE","provider":"MBank"}'
    assert shop.open("/callbacks", "POST", body).status == 400
    assert shop.open("/callbacks?kassa=forged", "POST", body).status == 400
    assert kassa_sandbox.requests("1") == ()


def test_worker_that_was_killed_delivers_later(shop: Shop, kassa_sandbox: Sandbox) -> None:
    shop.worker.kill()
    reference = pay(shop, kassa_sandbox, shop.buy())
    shop.wait_until(lambda: len(kassa_sandbox.callbacks()) > 0)
    assert shop.deliveries(reference) == 0
    shop.worker.start()
    shop.wait_for_delivery(reference)


def test_callback_to_a_stopped_shop_comes_again(shop: Shop, kassa_sandbox: Sandbox) -> None:
    page_url = shop.buy()
    shop.web.end()
    reference = pay(shop, kassa_sandbox, page_url)
    shop.wait_until(lambda: len(kassa_sandbox.callbacks()) > 0)
    shop.web.start()
    kassa_sandbox.clock.forward(timedelta(hours=1))
    shop.wait_for_delivery(reference)
