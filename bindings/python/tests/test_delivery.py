"""The worker: what is charged is delivered, marked once it was, and nothing is lost when anything fails."""

from __future__ import annotations

import asyncio
import logging
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import kassa_sandbox
import pytest
from conformance.patience import PATIENCE
from conftest import REPOSITORY
from kassa_sandbox import Sandbox
from raw_gateway import RawGateway, mbank_payment, response

import kassa
from kassa import _delivery_rules
from kassa.testing import FakeGateway

OFTEN = 0.05


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


class Shop:
    """A shop with a journal, and what its worker has done."""

    def __init__(self, sandbox: Sandbox, folder: Path) -> None:
        self.sandbox = sandbox
        self.settings: dict[str, Any] = {
            "dialect": kassa.Dialect.from_json(kassa_sandbox.dialect_json()),
            "journal": folder,
        }
        self.credentials = kassa.Credentials(sandbox.login, sandbox.password)
        self.gateway = kassa.Gateway(sandbox.base_url, self.credentials, **self.settings)
        self.delivered: SimpleQueue[str | None] = SimpleQueue()
        self.reported: SimpleQueue[kassa.Recovered] = SimpleQueue()

    def sell(self, note: str) -> str:
        """An MBank payment that nobody has confirmed; its order number."""
        order = kassa.new_order_number()
        self.gateway.with_note(note).create_mbank_payment(mbank_payment(order_number=order))
        return order

    def sell_paid(self, note: str) -> None:
        self.sandbox.approve(self.sell(note))

    def deliver(self, entry: kassa.JournalEntry) -> None:
        self.delivered.put(entry.note)


Deliver = Callable[[kassa.JournalEntry], object]
Runs = Callable[[Shop, Deliver], Any]


@contextmanager
def in_a_thread(shop: Shop, deliver: Deliver) -> Generator[SimpleQueue[kassa.DeliverySummary]]:
    """The blocking worker in a thread, until the block ends."""
    stop, ended = threading.Event(), SimpleQueue[kassa.DeliverySummary]()

    def run() -> None:
        ended.put(shop.gateway.deliver_forever(deliver, otherwise=shop.reported.put, stop=stop, interval=OFTEN))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield ended
    finally:
        stop.set()
        thread.join(PATIENCE)
        assert not thread.is_alive()


@contextmanager
def in_a_loop(shop: Shop, deliver: Deliver) -> Generator[SimpleQueue[kassa.DeliverySummary]]:
    """The async worker in a loop of its own, until the block ends."""
    ended, began = SimpleQueue[kassa.DeliverySummary](), SimpleQueue[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()

    async def run() -> None:
        stop = asyncio.Event()
        began.put((asyncio.get_running_loop(), stop))

        async def delivering(entry: kassa.JournalEntry) -> None:
            await asyncio.sleep(0)
            deliver(entry)

        async def reporting(recovered: kassa.Recovered) -> None:
            shop.reported.put(recovered)

        async with kassa.AsyncGateway(shop.sandbox.base_url, shop.credentials, **shop.settings) as gateway:
            ended.put(await gateway.deliver_forever(delivering, otherwise=reporting, stop=stop, interval=OFTEN))

    thread = threading.Thread(target=lambda: asyncio.run(run()))
    thread.start()
    loop, stop = began.get(timeout=PATIENCE)
    try:
        yield ended
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
        assert not thread.is_alive()


both = pytest.mark.parametrize("runs", [in_a_thread, in_a_loop])


def unfinished(shop: Shop) -> list[str | None]:
    return [getattr(entry, "note", None) for entry in shop.gateway.unfinished()]


@both
def test_charged_payments_are_delivered_and_marked(sandbox: Sandbox, tmp_path: Path, runs: Runs) -> None:
    shop = Shop(sandbox, tmp_path)
    shop.sell_paid("before")
    abandoned = shop.sell("abandoned")
    with runs(shop, shop.deliver) as ended:
        assert shop.delivered.get(timeout=PATIENCE) == "before"
        shop.sell_paid("meanwhile")
        assert shop.delivered.get(timeout=PATIENCE) == "meanwhile"
    summary = ended.get(timeout=PATIENCE)
    assert shop.delivered.empty()
    assert summary.delivered == 2
    [left] = summary.undecided
    assert (left.payment.order_number, summary.undelivered, summary.for_a_person) == (abandoned, (), ())
    assert str(summary).endswith("0 charged and not delivered, 1 undecided, 0 for a person")
    # It was not given up.
    sandbox.approve(abandoned)
    with runs(shop, shop.deliver) as ended:
        assert shop.delivered.get(timeout=PATIENCE) == "abandoned"
    assert ended.get(timeout=PATIENCE).left_open == ()


@both
def test_failed_delivery_is_repeated(
    sandbox: Sandbox, tmp_path: Path, runs: Runs, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop(sandbox, tmp_path)
    failures = iter([ConnectionError("no courier"), ConnectionError("no courier")])

    def deliver(entry: kassa.JournalEntry) -> None:
        if entry.note == "cake" and (failure := next(failures, None)):
            shop.sell_paid("tea")
            raise failure
        shop.deliver(entry)

    shop.sell_paid("cake")
    with runs(shop, deliver) as ended:
        notes = [shop.delivered.get(timeout=PATIENCE) for _ in range(3)]
    assert notes[0] == "tea", "others do not wait"
    assert sorted(map(str, notes)) == ["cake", "tea", "tea"]
    assert (ended.get(timeout=PATIENCE).left_open, shop.delivered.empty()) == ((), True)
    assert "was not delivered; again in 2 s: ConnectionError('no courier')" in caplog.text


class GreenletTimeout(BaseException):
    """As gevent's and eventlet's."""


@pytest.mark.parametrize(
    ("runs", "error"),
    [
        pytest.param(in_a_thread, GreenletTimeout, id="thread"),
        pytest.param(
            in_a_loop,
            asyncio.CancelledError,
            id="loop",
            marks=pytest.mark.skipif(
                sys.version_info < (3, 11), reason="before, a cancellation of the worker looks the same"
            ),
        ),
    ],
)
def test_time_limit_of_the_handler_does_not_end_the_worker(
    sandbox: Sandbox, tmp_path: Path, runs: Runs, error: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_delivery_rules, "FIRST_PAUSE", OFTEN)
    shop = Shop(sandbox, tmp_path)
    errors = [error(), error()]

    def deliver(entry: kassa.JournalEntry) -> None:
        if errors:
            raise errors.pop()
        shop.deliver(entry)

    shop.sell_paid("tea")
    with runs(shop, deliver) as ended:
        assert shop.delivered.get(timeout=PATIENCE) == "tea"
    assert ended.get(timeout=PATIENCE).delivered == 1


@both
def test_delivery_that_still_fails_is_left(sandbox: Sandbox, tmp_path: Path, runs: Runs) -> None:
    shop = Shop(sandbox, tmp_path)

    def fail(entry: kassa.JournalEntry) -> None:
        shop.deliver(entry)
        raise ZeroDivisionError

    shop.sell_paid("cake")
    with runs(shop, fail) as ended:
        assert shop.delivered.get(timeout=PATIENCE) == "cake"
    summary = ended.get(timeout=PATIENCE)
    assert (summary.delivered, [entry.note for entry in summary.undelivered]) == (0, ["cake"])
    assert unfinished(shop) == ["cake"]


@both
def test_what_is_not_paid_is_never_delivered(sandbox: Sandbox, tmp_path: Path, runs: Runs) -> None:
    shop = Shop(sandbox, tmp_path)
    payment = mbank_payment(phone=kassa_sandbox.phones.MBANK_INSUFFICIENT_FUNDS.phone)
    created = shop.gateway.create_mbank_payment(payment)
    shop.gateway.confirm_mbank_payment(created.payment, kassa_sandbox.phones.MBANK_INSUFFICIENT_FUNDS.otp)
    (tmp_path / "open" / "garbage").mkdir()
    with runs(shop, shop.deliver):
        reported = [shop.reported.get(timeout=PATIENCE), shop.reported.get(timeout=PATIENCE)]
    [unreadable] = (item for item in reported if isinstance(item, kassa.Unreadable))
    [rejected] = (item for item in reported if isinstance(item, kassa.JournalEntry))
    assert (unreadable.id, rejected.state) == ("garbage", kassa.JournalState.REJECTED)
    assert (shop.delivered.empty(), shop.reported.empty()) == (True, True)


@both
def test_journal_in_use_is_waited_for(
    sandbox: Sandbox, tmp_path: Path, runs: Runs, caplog: pytest.LogCaptureFixture
) -> None:
    shop = Shop(sandbox, tmp_path)
    shop.sell_paid("cake")
    caplog.set_level(logging.INFO, "kassa")
    with shop.gateway.recover() as recovery:
        assert getattr(next(recovery), "note", None) == "cake"
        with runs(shop, shop.deliver):
            until(lambda: "another process recovers this journal" in caplog.text)
            assert shop.delivered.empty()
            recovery.cancel()
            assert shop.delivered.get(timeout=PATIENCE) == "cake"


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_recovery_that_fails_begins_again(raw: RawGateway, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    gateway = raw.gateway(journal=tmp_path)
    charged = response(200, '{"code":"200","data":{"status":"CHARGE","amount":250,"currency":"KGS"}}')
    raw.answers(response(200, "{}"))
    gateway.with_note("cake").create_mbank_payment(mbank_payment(order_number="o-1"))
    raw.answers(*[response(401, "")] * 3, charged)
    stop = threading.Event()

    def deliver(_: kassa.JournalEntry) -> None:
        stop.set()

    assert gateway.deliver_forever(deliver, stop=stop, interval=OFTEN).delivered == 1
    assert "the recovery ended, and begins again in 1 s" in caplog.text


@both
def test_what_was_delivered_is_finished_before_others_may_deliver(
    sandbox: Sandbox, tmp_path: Path, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = Shop(sandbox, tmp_path)
    order = shop.sell("cake")
    sandbox.approve(order)
    cake = kassa.PaymentRef.mbank(order, 250)
    assert shop.gateway.check(cake).is_charged
    shop.sell("tea")
    # A wrong password ends the recovery, long before the entry would be finished again.
    monkeypatch.setattr(_delivery_rules, "FIRST_PAUSE", 10 * PATIENCE)
    shop.credentials = kassa.Credentials(sandbox.login, "a-wrong-password")
    shop.gateway = kassa.Gateway(sandbox.base_url, shop.credentials, **shop.settings)
    finish, problems = kassa.Journal.finish, [OSError("the disk is full")]

    def finish_later(journal: kassa.Journal, entry: kassa.JournalEntry) -> None:
        if problems:
            raise problems.pop()
        finish(journal, entry)

    monkeypatch.setattr(kassa.Journal, "finish", finish_later)
    journal = shop.gateway.journal
    assert journal is not None
    with runs(shop, shop.deliver) as ended:
        until(lambda: getattr(journal.entry(cake), "is_finished", False))
    assert (ended.get(timeout=PATIENCE).delivered, shop.delivered.qsize()) == (1, 1)


@both
def test_what_a_person_finished_is_not_delivered(
    sandbox: Sandbox, tmp_path: Path, runs: Runs, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "kassa")
    shop = Shop(sandbox, tmp_path)
    attempts: SimpleQueue[str] = SimpleQueue()

    def fail_once(entry: kassa.JournalEntry) -> None:
        attempts.put(entry.id)
        assert shop.gateway.journal is not None
        shop.gateway.journal.finish(entry)
        raise ZeroDivisionError

    shop.sell_paid("cake")
    with runs(shop, fail_once):
        attempts.get(timeout=PATIENCE)
        until(lambda: "it was finished elsewhere" in caplog.text)
    assert attempts.empty()


DIES_WHILE_IT_DELIVERS = """
import os
import kassa

def deliver(entry):
    print("delivered", entry.note, flush=True)
    os.kill(os.getpid(), 9)

with kassa.Gateway.from_environment(journal="payments") as gateway:
    gateway.deliver_forever(deliver, interval=0.05)
"""


@contextmanager
def program(shop: Shop, folder: Path, source: str) -> Generator[subprocess.Popen[str]]:
    (folder / "dialect.json").write_text(kassa_sandbox.dialect_json())
    environment = {
        "KASSA_URL": shop.sandbox.base_url,
        "KASSA_LOGIN": shop.sandbox.login,
        "KASSA_PASSWORD": shop.sandbox.password,
        "KASSA_DIALECT": "dialect.json",
    }
    with subprocess.Popen(
        [sys.executable, "-u", "-c", source],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as running:
        try:
            yield running
        finally:
            running.kill()


DOCUMENTED = re.findall(r"```python\n(.*?)```", (REPOSITORY / "docs/journal.md").read_text(), re.DOTALL)


def test_killed_worker_is_followed_by_the_documents_one(sandbox: Sandbox, tmp_path: Path) -> None:
    shop = Shop(sandbox, tmp_path / "payments")
    shop.sell_paid("cake")
    with program(shop, tmp_path, DIES_WHILE_IT_DELIVERS) as dying:
        assert dying.communicate(timeout=PATIENCE)[0] == "delivered cake\n"
    with program(shop, tmp_path, DOCUMENTED[0]) as living:
        assert living.stdout is not None
        assert living.stdout.readline() == "paid: ship cake\n"
        # Its mark comes after that line.
        until(lambda: unfinished(shop) == [])
        living.send_signal(signal.SIGTERM)
        out, _ = living.communicate(timeout=PATIENCE)
        assert (out, living.returncode) == ("1 delivered; left open: nothing\n", 0)


def test_documents_script_delivers_once(sandbox: Sandbox, tmp_path: Path) -> None:
    shop = Shop(sandbox, tmp_path / "payments")
    shop.sell_paid("cake")
    for printed in ("paid: ship cake\n1 delivered; left open: nothing\n", "0 delivered; left open: nothing\n"):
        with program(shop, tmp_path, DOCUMENTED[1]) as script:
            assert script.communicate(timeout=PATIENCE)[0] == printed


def test_cancelled_worker_lets_others_deliver(sandbox: Sandbox, tmp_path: Path) -> None:
    shop = Shop(sandbox, tmp_path)
    shop.sell_paid("cake")

    async def flow() -> None:
        is_delivering = asyncio.Event()

        async def deliver(_: kassa.JournalEntry) -> None:
            is_delivering.set()
            await asyncio.Event().wait()

        async with kassa.AsyncGateway(sandbox.base_url, shop.credentials, **shop.settings) as gateway:
            worker = asyncio.create_task(gateway.deliver_forever(deliver, interval=OFTEN))
            await is_delivering.wait()
            worker.cancel()
            with pytest.raises(asyncio.CancelledError):
                await worker

    asyncio.run(flow())
    with in_a_thread(shop, shop.deliver):
        assert shop.delivered.get(timeout=PATIENCE) == "cake"


class Slow:
    """A handler that runs until it may return."""

    def __init__(self) -> None:
        self.began, self.may_return = threading.Event(), threading.Event()

    def deliver(self, _: kassa.JournalEntry) -> None:
        self.began.set()
        assert self.may_return.wait(PATIENCE)


@contextmanager
def nobody_else_delivers(other: Shop, caplog: pytest.LogCaptureFixture) -> Generator[None]:
    """Another worker waits until the block ends, and has nothing to deliver then."""
    caplog.set_level(logging.INFO, "kassa")
    caplog.clear()
    with in_a_thread(other, other.deliver) as ended:
        until(lambda: "another process recovers this journal" in caplog.text)
        yield
    assert ended.get(timeout=PATIENCE).delivered == 0


def test_closing_during_a_delivery_releases_nothing(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop, other, slow = Shop(sandbox, tmp_path), Shop(sandbox, tmp_path), Slow()
    shop.sell_paid("cake")
    with in_a_thread(shop, slow.deliver) as ended:
        assert slow.began.wait(PATIENCE)
        shop.gateway.close()
        with nobody_else_delivers(other, caplog):
            slow.may_return.set()
            assert ended.get(timeout=PATIENCE).delivered == 1


def test_closing_during_a_delivery_in_a_loop_releases_nothing(
    sandbox: Sandbox, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shop, other, slow = Shop(sandbox, tmp_path), Shop(sandbox, tmp_path), Slow()
    shop.sell_paid("cake")

    async def flow() -> None:
        async def deliver(entry: kassa.JournalEntry) -> None:
            await asyncio.to_thread(slow.deliver, entry)

        async with kassa.AsyncGateway(sandbox.base_url, shop.credentials, **shop.settings) as gateway:
            worker = asyncio.create_task(gateway.deliver_forever(deliver, interval=OFTEN))
            assert await asyncio.to_thread(slow.began.wait, PATIENCE)
            await gateway.close()
            with nobody_else_delivers(other, caplog):
                slow.may_return.set()
                assert (await asyncio.wait_for(worker, PATIENCE)).delivered == 1

    asyncio.run(flow())


def test_nothing_is_delivered_between_recoveries(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process may deliver then."""
    monkeypatch.setattr(_delivery_rules, "FIRST_PAUSE", 0.0)
    shop = Shop(sandbox, tmp_path)
    shop.sell_paid("cake")
    with shop.gateway.recover() as recovery:
        entry = next(recovery)
    worker = _delivery_rules.Worker(shop.gateway, kassa.RecoveryPolicy(), print, None)
    worker.add(entry)
    [task] = worker.due()
    worker.failed(task, ZeroDivisionError())
    assert worker.due() == [task]
    worker.recovery_ended()
    assert (worker.due(), worker.until_next(7.0)) == ([], 7.0)
    worker.add(entry)
    assert (worker.due(), task.attempts) == ([task], 1)


@both
def test_closing_the_gateway_ends_the_worker(sandbox: Sandbox, tmp_path: Path, runs: Runs) -> None:
    shop = Shop(sandbox, tmp_path)

    async def close_in_loop() -> None:
        async with kassa.AsyncGateway(sandbox.base_url, shop.credentials, **shop.settings) as gateway:
            worker = asyncio.create_task(gateway.with_note("x").deliver_forever(no_delivery))
            await asyncio.sleep(0)
            await gateway.close()
            assert (await asyncio.wait_for(worker, PATIENCE)).left_open == ()

    if runs is in_a_loop:
        asyncio.run(close_in_loop())
        return
    threading.Timer(0.1, shop.gateway.close).start()
    assert shop.gateway.with_note("x").deliver_forever(print, stop=threading.Event()).left_open == ()


async def no_delivery(_: kassa.JournalEntry) -> None:
    raise AssertionError("nothing is charged")


def test_wrong_use_of_a_worker_is_refused_at_once(tmp_path: Path) -> None:
    fake = FakeGateway()
    anything: Any = 17
    with pytest.raises(kassa.Misconfigured, match="no journal"):
        fake.gateway.deliver_forever(print)
    gateway = fake.gateway.with_journal(tmp_path)
    with pytest.raises(TypeError, match="deliver must be a plain function"):
        gateway.deliver_forever(no_delivery)
    with pytest.raises(TypeError, match="deliver must be a function"):
        gateway.deliver_forever(anything)
    with pytest.raises(TypeError, match=r"stop must be a threading\.Event or None"):
        gateway.deliver_forever(print, stop=anything)
    with pytest.raises(kassa.Invalid, match="at_once must be at least 1"):
        gateway.deliver_forever(print, at_once=0)
    with pytest.raises(ValueError, match="interval must be longer than zero"):
        gateway.deliver_forever(print, interval=0)


def test_awaitable_that_nobody_awaits_marks_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    shop = Shop(sandbox, tmp_path)
    shop.sell_paid("cake")
    stop = threading.Event()

    def deliver(entry: kassa.JournalEntry) -> Awaitable[None]:
        stop.set()
        return no_delivery(entry)

    summary = shop.gateway.deliver_forever(deliver, stop=stop, interval=OFTEN)
    assert [entry.note for entry in summary.undelivered] == ["cake"]
