"""The shops under each kind of gunicorn's workers."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from contextlib import closing, suppress

import pytest
from kassa_sandbox import Sandbox
from kassa_server.testing import KassaServer

from conftest import folder_of
from shop_process import Program, Shop

WORKER = ["python", "worker.py"]
FLASK, FASTAPI = "flask_shop.app:create_app()", "fastapi_shop.app:app"


def gunicorn(app: str, workers: str, *, preload: bool = False, options: tuple[str, ...] = ()) -> Program:
    """A shop under gunicorn."""
    settings = {"SHOP_WORKERS": workers, "SHOP_PRELOAD": "yes" if preload else "no"}
    command = [
        "gunicorn",
        "--no-control-socket",
        "--config",
        "gunicorn_shop/gunicorn.conf.py",
        "--bind",
        "127.0.0.1:{port}",
        *options,
        app,
    ]
    return Program(command, WORKER, settings=settings)


def django(workers: str) -> Program:
    """The shop that talks to the gateway itself, and its worker. With gevent, nothing is loaded before the fork."""
    shop = gunicorn("django.core.wsgi:get_wsgi_application()", workers, preload=workers == "sync")
    worker, before = ["python", "-m", "django", "deliver_charged"], ["python", "-m", "django", "migrate"]
    settings = {**shop.settings, "DJANGO_SETTINGS_MODULE": "django_shop.settings_direct"}
    return Program(shop.web, worker, before, settings)


SHOPS = {
    "sync": gunicorn(FLASK, "sync"),
    "gthread, preloaded": gunicorn(FLASK, "gthread", preload=True),
    "gevent": gunicorn(FLASK, "gevent"),
    "asgi": gunicorn(FASTAPI, "asgi"),
    "uvicorn, preloaded": gunicorn(FASTAPI, "uvicorn_worker.UvicornWorker", preload=True),
}


@pytest.fixture(params=SHOPS)
def shop(
    request: pytest.FixtureRequest, kassa_server: KassaServer, port: int, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Shop]:
    name: str = request.param
    with Shop(SHOPS[name], port, folder_of(tmp_path_factory), kassa_server.environment()) as shop:
        yield shop


def test_who_pays_gets_the_order_once(shop: Shop, kassa_server: KassaServer) -> None:
    orders = [shop.order() for _ in range(4)]
    for _, page_url in orders:
        kassa_server.pay_on_page(page_url)
    for reference, _ in orders:
        shop.wait_for_delivery(reference)


@pytest.mark.parametrize("workers", ["sync", "gevent"])
def test_forked_workers_share_a_journal(
    workers: str, kassa_sandbox: Sandbox, port: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each worker has connections of its own, and a process beside them delivers for all."""
    with Shop(django(workers), port, folder_of(tmp_path_factory), kassa_sandbox.environment()) as shop:
        for _ in range(4):
            back = kassa_sandbox.pay_by_form(shop.buy())
            shop.wait_for_delivery(back.rpartition("/")[2].partition("?")[0])
    assert [payment.times_charged for payment in kassa_sandbox.ledger()] == [1] * 4


@pytest.mark.parametrize(("options", "is_killed"), [((), False), (("--timeout", "3"), True)])
def test_sync_worker_outlives_a_server_that_hangs(
    options: tuple[str, ...],
    is_killed: bool,
    kassa_server: KassaServer,
    port: int,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    """With the settings of the page. With a timeout below that of Kassa's call, gunicorn kills the worker."""
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:  # it accepts, and never answers
        variables = kassa_server.environment() | {"KASSA_SERVER_URL": f"http://127.0.0.1:{silent.getsockname()[1]}"}
        program = gunicorn(FLASK, "sync", options=options)
        with Shop(program, port, folder_of(tmp_path_factory), variables) as shop:
            with suppress(OSError):  # of a worker that is killed, there may be no answer
                assert shop.press().status == 500
            assert ("WORKER TIMEOUT" in shop.web.log()) is is_killed
            assert shop.open("/").status == 200


def test_restart_lets_a_request_end(
    kassa_server: KassaServer, port: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with Shop(gunicorn(FLASK, "gthread"), port, folder_of(tmp_path_factory), kassa_server.environment()) as shop:
        reference, page_url = shop.order()
        os.kill(shop.web.pid, signal.SIGHUP)  # new workers, which read the code and the settings anew
        kassa_server.pay_on_page(page_url)
        shop.wait_for_delivery(reference)
        assert shop.web.log().count("Booting worker") == 4
