"""After a fork everything works in the child or fails at once, whatever the parent had done; nothing ever hangs."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, CREATED, OPEN, RawGateway, after, card_payment, mbank_payment
from web_server import gunicorn

import kassa
from kassa._calls import CLOSE, QR_STATUS, wait
from kassa.testing import FakeGateway, FakePlan

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]


def in_child(work: Callable[[], object]) -> None:
    """Runs it in a forked child, which must end by itself."""
    child = os.fork()
    if child == 0:
        code = 1
        signal.alarm(int(PATIENCE))
        try:
            work()
            code = 0
        except BaseException:  # noqa: BLE001
            traceback.print_exc(file=sys.__stderr__)
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert status == 0, "the child failed" if os.WIFEXITED(status) else "the child hung"


def query(gateway: kassa.Gateway) -> None:
    assert gateway.provider_status("o-1", kassa.Provider.MBANK).status.is_final


def test_gateway_made_before_the_fork_works_in_the_child(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    with raw.gateway() as gateway:
        in_child(lambda: query(gateway))
        in_child(lambda: query(gateway.with_deadline(PATIENCE)))
        patient = gateway.with_deadline(PATIENCE)
        in_child(lambda: query(patient))
        query(gateway)


def test_gateway_used_before_the_fork_works_in_child_and_parent(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    with raw.gateway() as gateway:
        query(gateway)

        def work() -> None:
            query(gateway)
            in_child(lambda: query(gateway))
            with raw.gateway() as own:
                query(own)
            assert isinstance(gateway.watch(kassa.PaymentRef.mbank("o-1", 250)).outcome(), kassa.Charged)
            gateway.close()
            with pytest.raises(kassa.Misconfigured):
                query(gateway)

        in_child(work)
        query(gateway)


def test_fake_gateway_ends_with_its_process() -> None:
    fake = FakeGateway()

    def refuse() -> None:
        for _ in range(2):
            with pytest.raises(kassa.Misconfigured, match="fork"):
                query(fake.gateway)
        with pytest.raises(kassa.Misconfigured, match="fork"):
            fake.plan(FakePlan.charge())
        own = FakeGateway()
        own.plan(FakePlan.charge())
        created = own.gateway.create_card_payment(card_payment())
        assert own.gateway.check(created.payment).is_charged

    in_child(refuse)
    assert fake.gateway.create_card_payment(card_payment()).payment.gateway_number


def test_asyncio_works_in_the_child(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    gateway = raw.async_gateway()
    asyncio.run(gateway.provider_status("o-1", kassa.Provider.MBANK))
    in_child(lambda: asyncio.run(gateway.provider_status("o-1", kassa.Provider.MBANK)))


def test_payment_under_way_is_the_parents(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED), CHARGED)
    gateway = raw.gateway()
    answers: list[kassa.CardPaymentCreated] = []
    payer = threading.Thread(target=lambda: answers.append(gateway.create_card_payment(card_payment())))
    payer.start()
    raw.received.acquire()

    def work() -> None:
        query(gateway)
        gateway.close()

    in_child(work)
    in_child(gateway.close)
    go_on.set()
    payer.join()
    gateway.close()
    assert len(answers) == 1
    assert sum(request.startswith(b"POST /api/v1.1.0/payment ") for request in raw.requests) == 1


def test_core_itself_closes_at_once_in_a_child(raw: RawGateway) -> None:
    """The count of payments on their way comes along, and their tasks do not. Rust has no layer that keeps a child from it."""
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))
    gateway = raw.gateway()
    own: Any = gateway
    core = own._core()
    answers: list[kassa.CardPaymentCreated] = []
    payer = threading.Thread(target=lambda: answers.append(gateway.create_card_payment(card_payment())))
    payer.start()
    raw.received.acquire()

    def work() -> None:
        wait(CLOSE, core)
        with pytest.raises(kassa.Misconfigured, match="fork"):
            wait(QR_STATUS, core, "1")

    in_child(work)
    go_on.set()
    payer.join()
    gateway.close()
    assert len(answers) == 1
    assert len(raw.requests) == 1


def test_watch_from_before_the_fork_fails_at_once(raw: RawGateway) -> None:
    raw.answers(OPEN)
    with raw.gateway() as gateway:
        policy = kassa.PollPolicy(timedelta(seconds=20))
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy)
        next(watch)

        def work() -> None:
            with pytest.raises(kassa.Misconfigured, match="fork"):
                next(watch)
            with pytest.raises(kassa.Misconfigured, match="fork"):
                watch.outcome()

        in_child(work)


def test_journal_from_before_the_fork_is_opened_again(
    raw: RawGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    raw.answers(CREATED)
    tea, cake = mbank_payment(), mbank_payment()
    with raw.gateway(journal="payments") as gateway:
        gateway.with_note("tea").create_mbank_payment(tea)
        unfinished = gateway.unfinished()
        recovery = gateway.recover()

        def work() -> None:
            # The folder is the one that it was where the program began.
            os.chdir("/")
            with pytest.raises(kassa.OutcomeUnknown, match="not sent: "):
                gateway.create_mbank_payment(tea)
            gateway.with_note("cake").with_deadline(PATIENCE).create_mbank_payment(cake)
            notes = {getattr(item, "note", item): item for item in gateway.unfinished()}
            assert notes.keys() == {"tea", "cake"}
            gateway.finish(notes["tea"])
            with pytest.raises(kassa.Misconfigured, match="fork"):
                next(unfinished)
            with pytest.raises(kassa.Misconfigured, match="fork"):
                next(recovery)

        in_child(work)
        assert [getattr(item, "note", item) for item in unfinished] == ["cake"]
        assert len(raw.requests) == 2


def test_closed_gateway_stays_closed(raw: RawGateway) -> None:
    gateway = raw.gateway()
    gateway.close()

    def work() -> None:
        with pytest.raises(kassa.Misconfigured, match="closed"):
            gateway.qr_status("1")

    in_child(work)


def test_child_ends_like_any_program(raw: RawGateway) -> None:
    """Not by os._exit: the interpreter takes everything down, and must not touch what is the parent's."""
    raw.answers(CHARGED)
    script = f"""
import os, kassa
gateway = kassa.Gateway({raw.url!r}, kassa.Credentials("a", "b"))
gateway.provider_status("o-1", kassa.Provider.MBANK)
child = os.fork()
gateway.provider_status("o-1", kassa.Provider.MBANK)
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    in_child(lambda: os.execv(sys.executable, [sys.executable, "-W", "ignore", "-c", script]))


APP = """
import os
import kassa

gateway = kassa.Gateway(os.environ["GATEWAY"], kassa.Credentials("a", "b"))

def query():
    return gateway.provider_status("o-1", kassa.Provider.MBANK).status

query()

def app(environ, start_response):
    text = f"{query()} in {os.getpid()}"
    start_response("200 OK", [("content-type", "text/plain")])
    return [text.encode()]
"""


def test_workers_of_gunicorn_use_what_the_master_has_used(raw: RawGateway, tmp_path: Path) -> None:
    both_ask = threading.Barrier(2)

    def once_both_ask(connection: socket.socket) -> None:
        both_ask.wait(PATIENCE)
        CHARGED(connection)

    raw.answers(CHARGED, once_both_ask)
    options = ("--preload", "--workers=2")
    with gunicorn(tmp_path, APP, {"GATEWAY": raw.url}, *options) as server, ThreadPoolExecutor(2) as pool:
        # A worker answers one request at a time, so both have to.
        texts = list(pool.map(server.get, ["", ""]))
        assert len(raw.requests) == 3, "one of the master, and one of each worker"
        statuses, workers = zip(*(text.split(" in ") for text in texts), strict=True)
        assert statuses == ("charged", "charged")
        assert len({*workers, str(server.master.pid)}) == 3
        server.stop()
