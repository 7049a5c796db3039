"""The journal: whatever dies, and however many programs share it, no payment is forgotten and none is sent twice."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import pickle
import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, CREATED, Answer, RawGateway, mbank_payment, silence
from web_server import gunicorn

import kassa
from kassa.testing import FakeFault, FakeGateway

WORKERS = 8
SHOP = """
import os
from urllib.parse import parse_qs

import kassa

gateway = kassa.Gateway(os.environ["GATEWAY"], kassa.Credentials("a", "b"), journal=os.environ["JOURNAL"])


def pay(order):
    payment = kassa.MbankPayment(order_number=order, phone="996555000101", amount_som=250, comment="Tea")
    try:
        gateway.with_note(f"the cart of {order}").create_mbank_payment(payment)
    except kassa.OutcomeUnknown:
        return "not sent"
    return "sent"


if "ORDER_OF_THE_MASTER" in os.environ:
    pay(os.environ["ORDER_OF_THE_MASTER"])


def app(environ, start_response):
    gateway.provider_status("o-1", kassa.Provider.MBANK)
    [order] = parse_qs(environ["QUERY_STRING"])["order"]
    start_response("200 OK", [("content-type", "text/plain")])
    return [f"{pay(order)} in {os.getpid()}".encode()]
"""


class Together:
    """Responds when every worker has asked, so that all of them go on at the same moment."""

    def __init__(self) -> None:
        self._all = threading.Barrier(WORKERS)

    def __call__(self, connection: socket.socket) -> None:
        self._all.wait(PATIENCE)
        CHARGED(connection)


@pytest.mark.parametrize("is_preloaded", [False, True], ids=["loaded by each worker", "preloaded"])
def test_workers_of_gunicorn_send_an_order_number_once(raw: RawGateway, tmp_path: Path, is_preloaded: bool) -> None:
    orders = ["order-1", "order-2", "order-3"]
    environment = {"GATEWAY": raw.url, "JOURNAL": str(tmp_path / "payments")}
    options = [f"--workers={WORKERS}"]
    together = Together()
    answers: list[Answer] = [*[together] * WORKERS, CREATED] * len(orders)
    if is_preloaded:
        options.append("--preload")
        environment["ORDER_OF_THE_MASTER"] = "order-0"
        answers = [CREATED, *answers, *[together] * WORKERS]
        orders.append("order-0")
    raw.answers(*answers)
    with gunicorn(tmp_path, SHOP, environment, *options) as server, ThreadPoolExecutor(WORKERS) as pool:
        for order in orders:
            texts = list(pool.map(server.get, [f"?order={order}"] * WORKERS))
            results, workers = zip(*(text.split(" in ") for text in texts), strict=True)
            # A worker answers one request at a time.
            assert len(set(workers)) == WORKERS
            assert results.count("sent") == (0 if order == "order-0" else 1), texts
        server.stop()
    sent = [request for request in raw.requests if request.startswith(b"POST /api/v1.1.0/mbank/pay ")]
    assert Counter(order for order in orders for request in sent if order.encode() in request) == Counter(orders)
    assert len(sent) == len(orders)
    notes = {entry.note for entry in entries(kassa.Journal(tmp_path / "payments").unfinished())}
    assert notes == {f"the cart of {order}" for order in orders}


def entries(items: Iterable[kassa.Unfinished]) -> list[kassa.JournalEntry]:
    """Those that can be read, and nothing else is there."""
    found: list[kassa.JournalEntry] = []
    for item in items:
        assert isinstance(item, kassa.JournalEntry)
        found.append(item)
    return found


PROGRAM = """
import sys
import kassa

url, folder, *new = sys.argv[1:]
gateway = kassa.Gateway(url, kassa.Credentials("a", "b"), journal=folder)
for entry in gateway.unfinished():
    print("found", entry.state, flush=True)
    if gateway.check(entry.payment).is_charged:
        print("deliver", entry.note, flush=True)
        gateway.finish(entry)
for order in new:
    payment = kassa.MbankPayment(order_number=order, phone="996555000101", amount_som=250, comment="Tea")
    gateway.with_note("cart 17").create_mbank_payment(payment)
    print("created", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("is_answered", [True, False], ids=["after the answer", "before the answer"])
def test_program_that_was_killed_delivers_once(raw: RawGateway, tmp_path: Path, is_answered: bool) -> None:
    program = [sys.executable, "-c", PROGRAM, raw.url, str(tmp_path)]

    def started_again() -> str:
        return subprocess.run(program, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout

    raw.answers(CREATED if is_answered else silence)
    with subprocess.Popen([*program, "o-1"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as killed:
        assert raw.received.acquire(timeout=PATIENCE)
        if is_answered:
            assert killed.stdout is not None
            assert killed.stdout.readline() == "created\n"
        killed.kill()
    raw.answers(CHARGED)
    assert started_again() == f"found {'pending' if is_answered else 'unknown'}\ndeliver cart 17\n"
    assert started_again() == ""
    assert len(raw.requests) == 2, "one to pay, and one to ask"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with a name here")
def test_event_loop_goes_on_while_the_disk_does_not_answer(tmp_path: Path) -> None:
    fake = FakeGateway()
    gateway, journal = fake.async_gateway.with_journal(tmp_path), kassa.Journal(tmp_path)
    orders = {f"order-{number}" for number in range(300)}
    for order in orders:
        fake.gateway.with_journal(journal).create_mbank_payment(mbank_payment(order_number=order))
    [day] = (tmp_path / "open").iterdir()
    # Whoever reads it waits until somebody writes.
    slow = day / "slow"
    os.mkfifo(slow)
    rescue = threading.Timer(PATIENCE, slow.write_bytes, [b""])
    rescue.start()

    async def listed() -> list[kassa.Unfinished]:
        return [item async for item in gateway.unfinished()]

    async def flow() -> list[kassa.Unfinished]:
        listing = asyncio.create_task(listed())
        for _ in range(1000):
            await asyncio.sleep(0)
        assert not listing.done()
        rescue.cancel()
        await asyncio.to_thread(slow.write_bytes, b"")
        return await listing

    assert {entry.payment.order_number for entry in entries(asyncio.run(flow()))} == orders


def test_fake_gateway_works_with_a_journal(tmp_path: Path) -> None:
    fake = FakeGateway()
    gateway = fake.gateway.with_journal(tmp_path)
    payment = mbank_payment(order_number="order-1")
    gateway.with_note("cart 17").create_mbank_payment(payment)
    with pytest.raises(kassa.OutcomeUnknown, match="not sent: "):
        gateway.create_mbank_payment(payment)
    assert len(fake.payments) == 1
    [entry] = entries(gateway.unfinished())
    assert (entry.state, entry.note, entry.payment) == (kassa.JournalState.PENDING, "cart 17", payment.payment_ref())
    assert timedelta() <= datetime.now(timezone.utc) - entry.begun < timedelta(days=1)
    fake.charge("order-1")
    assert gateway.check(entry.payment).is_charged
    [charged] = entries(gateway.unfinished())
    assert charged.state is kassa.JournalState.CHARGED
    gateway.finish(charged)
    assert list(gateway.unfinished()) == []
    assert gateway.journal is not None
    assert gateway.journal.entry(entry.payment) == dataclasses.replace(charged, is_finished=True)
    gateway.journal.prune(timedelta(days=90))
    assert fake.gateway.journal is None


def test_lost_answer_is_found_with_asyncio(tmp_path: Path) -> None:
    fake = FakeGateway()

    async def flow() -> None:
        gateway = fake.async_gateway.with_journal(kassa.Journal.open(tmp_path))
        fake.fail_next(FakeFault.RESPONSE_LOST)
        with pytest.raises(kassa.OutcomeUnknown):
            await gateway.create_mbank_payment(mbank_payment(order_number="order-1"))
        fake.charge("order-1")
        async for item in gateway.unfinished():
            assert isinstance(item, kassa.JournalEntry)
            assert item.state is kassa.JournalState.UNKNOWN
            assert (await gateway.check(item.payment)).is_charged
            await gateway.finish(item.id)
        assert [item async for item in gateway.unfinished()] == []

    asyncio.run(flow())


def test_what_is_wrong_with_a_journal_is_named(raw: RawGateway, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in ("", tmp_path / "file"):
        with pytest.raises(kassa.Misconfigured, match="journal"):
            raw.gateway(journal=folder)
    anything: Any = 17
    journal = kassa.Journal(tmp_path / "payments")
    wrong = (
        (lambda: raw.gateway(journal=anything), TypeError, r"journal must be a kassa\.Journal, a str or an os"),
        (lambda: kassa.Journal(anything), TypeError, "folder must be a str"),
        (
            lambda: journal.finish(anything),
            TypeError,
            r"entry must be a kassa\.JournalEntry, a kassa\.Unreadable or a str",
        ),
        (lambda: journal.finish("../payments"), kassa.Invalid, "names no entry"),
        (lambda: journal.entry(anything), TypeError, "payment must be"),
        (lambda: journal.prune(-1), ValueError, "older_than must not be negative"),
        (lambda: raw.gateway().unfinished(), kassa.Misconfigured, "no journal"),
        (lambda: raw.async_gateway().unfinished(), kassa.Misconfigured, "no journal"),
        (lambda: raw.gateway().finish("1"), kassa.Misconfigured, "no journal"),
        (lambda: raw.gateway().with_note("x" * 257), kassa.Invalid, "note"),
        (lambda: raw.gateway().with_note("cart 17"), kassa.Misconfigured, "no journal"),
        (lambda: raw.async_gateway().with_note("cart 17"), kassa.Misconfigured, "no journal"),
    )
    for call, kind, text in wrong:
        with pytest.raises(kind, match=text):
            call()
    with pytest.raises(ValueError, match="begun must have a time zone"):
        kassa.JournalEntry("1", kassa.PaymentRef.mbank("o-1", 250), datetime(2026, 11, 23), kassa.JournalState.PENDING)


def test_journal_goes_to_other_processes_as_its_folder(tmp_path: Path) -> None:
    fake = FakeGateway()
    journal = kassa.Journal(tmp_path)
    fake.gateway.with_journal(journal).create_mbank_payment(mbank_payment())
    copy = pickle.loads(pickle.dumps(journal))  # noqa: S301
    assert list(copy.unfinished()) == list(journal.unfinished()) != []
    assert repr(copy) == f"Journal({str(tmp_path)!r})"


def test_file_that_cannot_be_read_is_for_a_person(tmp_path: Path) -> None:
    journal = kassa.Journal(tmp_path)
    torn = tmp_path / "open" / "2026-11-01" / "order-1"
    torn.parent.mkdir()
    torn.write_text("{")
    [item] = journal.unfinished()
    assert isinstance(item, kassa.Unreadable)
    assert (item.id, bool(item.why)) == ("order-1", True)
    journal.finish(item)
    assert list(journal.unfinished()) == []
