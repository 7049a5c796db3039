"""The shop whose orders Celery delivers: a lost event, a killed worker and a lost queue lose no order."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kassa_server.testing import KassaServer

from conftest import folder_of
from shop_process import Program, Shop, free_port

WORKER = ["celery", "-A", "celery_shop.tasks", "worker", "--beat", "--schedule", "{folder}/beat", "--loglevel", "INFO"]
PROGRAM = Program(
    ["flask", "--app", "celery_shop.web", "run", "--port", "{port}"],
    WORKER,
    settings={"SHOP_BROKER": "sqla+sqlite:///{folder}/broker.db"},
)


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folder_of(tmp_path_factory)


@pytest.fixture
def shop(folder: Path, kassa_server: KassaServer, port: int) -> Iterator[Shop]:
    with Shop(PROGRAM, port, folder, kassa_server.environment()) as shop:
        yield shop


def test_who_pays_gets_the_order_once(shop: Shop, kassa_server: KassaServer) -> None:
    reference, page_url = shop.order()
    kassa_server.pay_on_page(page_url)
    shop.wait_for_delivery(reference)
    assert shop.send(kassa_server, reference) == 204  # has Celery deliver it again
    other, page_url = shop.order()
    kassa_server.pay_on_page(page_url)
    shop.wait_for_delivery(other)
    assert shop.deliveries(reference) == 1


def test_killed_worker_and_a_lost_queue_lose_nothing(shop: Shop, folder: Path, kassa_server: KassaServer) -> None:
    shop.worker.kill()
    reference, _ = shop.order()
    # Signed by the test: the server would send it again, which is another way out.
    assert shop.send(kassa_server, reference) == 204
    shop.web.end()
    (folder / "broker.db").unlink()
    shop.web.start()
    shop.worker.start()
    shop.wait_for_delivery(reference)


def test_lost_event_loses_nothing(folder: Path, kassa_server: KassaServer, port: int) -> None:
    """The server sends its events to another port than that of this shop. The tasks look at its checkouts."""
    with Shop(PROGRAM, free_port(after=port), folder, kassa_server.environment()) as shop:
        reference, page_url = shop.order()
        kassa_server.pay_on_page(page_url)
        shop.wait_for_delivery(reference)
