"""A delivery that runs once: what is charged is delivered and marked, and what is not is left to the next run."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import RawGateway, envelope, mbank_payment, response

import kassa
from kassa.testing import FakeGateway

Delivers = Callable[..., kassa.DeliverySummary]


def on_this_thread(shop: Shop, deliver: Any, **settings: Any) -> kassa.DeliverySummary:
    return shop.fake.gateway.with_journal(shop.folder).deliver_unfinished(
        deliver, otherwise=shop.reported.append, **settings
    )


def in_a_loop(shop: Shop, deliver: Any, **settings: Any) -> kassa.DeliverySummary:
    async def delivering(entry: kassa.JournalEntry) -> None:
        await asyncio.sleep(0)
        deliver(entry)

    async def reporting(recovered: kassa.Recovered) -> None:
        shop.reported.append(recovered)

    gateway = shop.fake.async_gateway.with_journal(shop.folder)
    return asyncio.run(gateway.deliver_unfinished(delivering, otherwise=reporting, **settings))


both = pytest.mark.parametrize("delivers", [on_this_thread, in_a_loop])


class Shop:
    """A shop with a journal, and what it has done."""

    def __init__(self, folder: Path) -> None:
        self.fake, self.folder = FakeGateway(), folder
        self.gateway = self.fake.gateway.with_journal(folder)
        self.delivered: list[str | None] = []
        self.reported: list[kassa.Recovered] = []

    def sell(self, note: str, *, is_paid: bool = True) -> str:
        order = kassa.new_order_number()
        self.gateway.with_note(note).create_mbank_payment(mbank_payment(order_number=order))
        if is_paid:
            self.fake.charge(order)
        return order

    def deliver(self, entry: kassa.JournalEntry) -> None:
        self.delivered.append(entry.note)


def disk_full_once(monkeypatch: pytest.MonkeyPatch, may_fail: threading.Event | None = None) -> threading.Event:
    """The first mark fails, once it may. Returns what says that it has begun."""
    finish, has_begun = kassa.Journal.finish, threading.Event()

    def fails_once(journal: kassa.Journal, entry: Any) -> None:
        if not has_begun.is_set():
            has_begun.set()
            if may_fail is not None:
                may_fail.wait(PATIENCE)
            raise kassa.Unavailable("the disk is full")
        finish(journal, entry)

    monkeypatch.setattr(kassa.Journal, "finish", fails_once)
    return has_begun


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path)


@both
def test_what_is_charged_is_delivered_and_marked_once(shop: Shop, delivers: Delivers) -> None:
    shop.sell("cart 1")
    shop.fake.reject(shop.sell("cart 2", is_paid=False))
    shop.sell("cart 3", is_paid=False)
    summary = delivers(shop, shop.deliver, deadline=60)
    assert shop.delivered == ["cart 1"]
    assert [getattr(result, "note", None) for result in shop.reported] == ["cart 2"]
    assert str(summary) == "1 delivered; left open: 0 charged and not delivered, 1 undecided, 0 for a person"
    assert [entry.note for entry in summary.undecided] == ["cart 3"]

    assert delivers(shop, shop.deliver, deadline=60).delivered == 0
    assert shop.delivered == ["cart 1"]


@both
def test_failed_delivery_is_left_to_the_next_run(
    shop: Shop, delivers: Delivers, caplog: pytest.LogCaptureFixture
) -> None:
    for note in ("cart 1", "cart 2"):
        shop.sell(note)

    def fails(entry: kassa.JournalEntry) -> None:
        shop.deliver(entry)
        if entry.note == "cart 1":
            raise RuntimeError("the stock is locked")

    with caplog.at_level(logging.INFO, "kassa"):
        summary = delivers(shop, fails)
    assert sorted(map(str, shop.delivered)) == ["cart 1", "cart 2"]
    assert [entry.note for entry in summary.undelivered] == ["cart 1"]
    [logged] = (record.message for record in caplog.records if "was not delivered" in record.message)
    assert "(cart 1), charged was not delivered; it stays unfinished" in logged
    assert logged.endswith("RuntimeError('the stock is locked')")
    assert str(delivers(shop, shop.deliver)) == "1 delivered; left open: nothing"


@both
def test_what_is_finished_meanwhile_is_not_delivered(shop: Shop, delivers: Delivers) -> None:
    for note in ("cart 1", "cart 2"):
        shop.sell(note)
    # Recorded as charged before: a charge that is found after a person has finished the payment is delivered, and rightly.
    for sold in list(shop.gateway.unfinished()):
        assert isinstance(sold, kassa.JournalEntry)
        assert isinstance(shop.gateway.check(sold.payment), kassa.Charged)

    def finishes_all(entry: kassa.JournalEntry) -> None:
        shop.deliver(entry)
        for other in shop.gateway.unfinished():
            if other.id != entry.id:
                shop.gateway.finish(other)

    assert str(delivers(shop, finishes_all)) == "1 delivered; left open: nothing"
    assert len(shop.delivered) == 1


@both
def test_delivered_payment_is_marked_later_where_the_disk_is_full(
    shop: Shop, delivers: Delivers, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.sell("cart 1")
    disk_full_once(monkeypatch)
    assert str(delivers(shop, shop.deliver)) == "1 delivered; left open: nothing"
    assert shop.delivered == ["cart 1"]


@both
def test_interrupt_ends_it_and_delivers_again(shop: Shop, delivers: Delivers) -> None:
    shop.sell("cart 1")

    def interrupted(_: kassa.JournalEntry) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        delivers(shop, interrupted)
    assert str(delivers(shop, shop.deliver)) == "1 delivered; left open: nothing"


async def once(gateway: kassa.AsyncGateway, deliver: Any) -> None:
    await gateway.deliver_unfinished(deliver)


async def until_logged(caplog: pytest.LogCaptureFixture, text: str) -> None:
    while text not in caplog.text:
        await asyncio.sleep(0.01)


async def for_ever(gateway: kassa.AsyncGateway, deliver: Any) -> None:
    await gateway.deliver_forever(deliver)


@pytest.mark.parametrize("runs", [once, for_ever])
def test_cancellations_do_not_keep_it_from_being_marked(
    shop: Shop, runs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.sell("cart 1")
    finish = kassa.Journal.finish
    begins, may_end = threading.Event(), threading.Event()

    def slow(journal: kassa.Journal, entry: Any) -> None:
        begins.set()
        may_end.wait(PATIENCE)
        finish(journal, entry)

    monkeypatch.setattr(kassa.Journal, "finish", slow)

    async def flow() -> None:
        async def deliver(entry: kassa.JournalEntry) -> None:
            shop.deliver(entry)

        delivery = asyncio.create_task(runs(shop.fake.async_gateway.with_journal(shop.folder), deliver))
        await asyncio.to_thread(begins.wait, PATIENCE)
        for _ in range(5):
            delivery.cancel()
            await asyncio.sleep(0)
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await delivery
        assert list(shop.gateway.unfinished()) == []

    asyncio.run(flow())


@pytest.mark.parametrize("runs", [once, for_ever])
def test_cancellation_while_the_mark_fails_is_not_lost(
    shop: Shop, runs: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    shop.sell("cart 1")
    may_fail = threading.Event()
    has_begun = disk_full_once(monkeypatch, may_fail)

    async def flow() -> None:
        async def deliver(entry: kassa.JournalEntry) -> None:
            shop.deliver(entry)

        delivery = asyncio.create_task(runs(shop.fake.async_gateway.with_journal(shop.folder), deliver))
        await asyncio.to_thread(has_begun.wait, PATIENCE)
        delivery.cancel()
        await asyncio.sleep(0)
        may_fail.set()
        done, _ = await asyncio.wait({delivery}, timeout=PATIENCE)
        assert delivery in done
        assert delivery.cancelled()
        assert list(shop.gateway.unfinished()) == []

    asyncio.run(flow())


def test_cancelled_worker_marks_what_it_could_not_mark_before(
    shop: Shop, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shop.sell("cart 1")
    disk_full_once(monkeypatch)

    async def flow() -> None:
        async def deliver(entry: kassa.JournalEntry) -> None:
            shop.deliver(entry)

        worker = asyncio.create_task(for_ever(shop.fake.async_gateway.with_journal(shop.folder), deliver))
        await asyncio.wait_for(until_logged(caplog, "could not be finished"), PATIENCE)
        worker.cancel()
        with pytest.raises(asyncio.CancelledError):
            await worker
        assert list(shop.gateway.unfinished()) == []

    asyncio.run(flow())


def test_errors_of_the_recovery_reach_the_caller(raw: RawGateway, tmp_path: Path) -> None:
    raw.answers(envelope(200, "200", data={"transactionId": "7"}), *[response(401, "")] * 3)
    gateway = raw.gateway(journal=tmp_path)
    gateway.create_mbank_payment(mbank_payment())
    with pytest.raises(kassa.Unauthorized):
        gateway.deliver_unfinished(print, interval=0.01)
    assert len(list(gateway.unfinished())) == 1


def test_what_cannot_work_is_refused_at_once(tmp_path: Path) -> None:
    async def no_delivery(_: kassa.JournalEntry) -> None:
        """It would never run."""

    fake = FakeGateway()
    anything: Any = 17
    with pytest.raises(kassa.Misconfigured, match="no journal"):
        fake.gateway.deliver_unfinished(print)
    gateway = fake.gateway.with_journal(tmp_path)
    with pytest.raises(TypeError, match="deliver must be a plain function"):
        gateway.deliver_unfinished(no_delivery)
    with pytest.raises(TypeError, match="otherwise must be a function"):
        gateway.deliver_unfinished(print, otherwise=anything)
    with pytest.raises(ValueError, match="deadline must be longer than zero"):
        gateway.deliver_unfinished(print, deadline=0)
