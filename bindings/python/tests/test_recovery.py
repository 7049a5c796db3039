"""Recovery: what is unfinished comes to its end, and whoever leaves it early lets other programs recover."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import mbank_payment

import kassa
from kassa.testing import FakeGateway, FakePlan

ANOTHER_PROGRAM = """
import sys
from kassa.testing import FakeGateway

# Its clock runs by itself: where somebody else recovers, the wait for that ends at once.
for entry in FakeGateway().gateway.with_journal(sys.argv[1]).recover():
    print(entry.note, entry.state)
"""


def recovered_by_another(folder: Path) -> list[str]:
    """What another program recovers in the folder."""
    program = [sys.executable, "-c", ANOTHER_PROGRAM, str(folder)]
    return subprocess.run(program, check=True, capture_output=True, text=True, timeout=PATIENCE).stdout.splitlines()


def a_shop(folder: Path) -> FakeGateway:
    """The cake is charged and was not delivered. The tea is open, and the clock stands still."""
    fake = FakeGateway()
    gateway = fake.gateway.with_journal(folder)
    for order in ("cake", "tea"):
        gateway.with_note(order).create_mbank_payment(mbank_payment(order_number=order))
    fake.charge("cake")
    assert gateway.check(kassa.PaymentRef.mbank("cake", 250)).is_charged
    fake.stop_clock()
    return fake


def test_everything_comes_to_its_end(tmp_path: Path) -> None:
    fake = a_shop(tmp_path)
    gateway = fake.gateway.with_journal(tmp_path)
    fake.plan(FakePlan.charge(after=45))
    form = kassa.PayForm(
        amount=5,
        service_name="Milk",
        callback_url="https://shop.example.kg/callback",
        return_url="https://shop.example.kg",
        entry_id="cart-1",
    )
    assert gateway.create_pay_form(form).payment == form.payment_ref()
    assert form.payment_ref() == kassa.PaymentRef.pay_form(5).with_entry_id("cart-1")
    for order in ("honey", "bread"):
        code = gateway.with_note(order).create_qr_data(kassa.QrPayment(sum_tyiyn=25_000, entry_id=order))
        assert code.payment.entry_id == order
        if order == "bread":
            assert code.payment.transaction_id is not None
            fake.reject(code.payment.transaction_id)
    fake.start_clock()
    ends: list[tuple[str | None, kassa.JournalState]] = []
    # One after the other, so that the clock waits for the disk.
    for recovered in gateway.recover(kassa.RecoveryPolicy(at_once=1)):
        assert isinstance(recovered, kassa.JournalEntry)
        ends.append((recovered.note, recovered.state))
        if recovered.note == "honey":
            fake.charge("tea")
        if recovered.state is kassa.JournalState.CHARGED:
            gateway.finish(recovered)
    charged, rejected = kassa.JournalState.CHARGED, kassa.JournalState.REJECTED
    assert ends == [("cake", charged), ("bread", rejected), ("honey", charged), ("tea", charged)]
    [left] = gateway.unfinished()
    assert isinstance(left, kassa.JournalEntry)
    assert left.payment.entry_id == "cart-1", "the payer has not told its number yet"


def test_worker_follows_what_is_begun_while_it_works(tmp_path: Path) -> None:
    fake = a_shop(tmp_path)
    gateway = fake.gateway.with_journal(tmp_path)
    fake.reject("tea")
    policy = kassa.RecoveryPolicy(follow_new=True)
    with gateway.recover(policy) as recovery:
        ends = [next(recovery), next(recovery)]
        # Nothing else is left. A handler sells, the payer pays, and the gateway tells it more than once.
        gateway.with_note("milk").create_mbank_payment(mbank_payment(order_number="milk"))
        callback = kassa.Callback.parse(fake.charge("milk").callback)
        assert not delivered_before(gateway, callback)
        fake.advance(policy.interval)
        ends.append(next(recovery))
        gateway.finish(ends[-1])
        assert delivered_before(gateway, callback)
        fake.advance(policy.deadline)
        assert list(recovery) == []
    charged, rejected = kassa.JournalState.CHARGED, kassa.JournalState.REJECTED
    told = [(end.note, end.state, end.reason) for end in ends if isinstance(end, kassa.JournalEntry)]
    assert told == [("cake", charged, "STATUS"), ("tea", rejected, "STATUS"), ("milk", charged, "STATUS")]


def delivered_before(gateway: kassa.Gateway, callback: kassa.Callback) -> bool:
    """What a handler of callbacks looks at."""
    verdict = gateway.verify_callback(callback, kassa.PaymentRef.mbank("milk", 250))
    assert isinstance(verdict, kassa.Charged)
    entry = gateway.journal.entry(verdict.payment) if gateway.journal else None
    assert entry is not None
    return entry.is_finished


def break_off(gateway: kassa.Gateway) -> None:
    for recovered in gateway.recover():
        assert isinstance(recovered, kassa.JournalEntry)
        break


def fail(gateway: kassa.Gateway) -> None:
    with suppress(ZeroDivisionError):
        for _ in gateway.recover():
            raise ZeroDivisionError


def leave_the_block(gateway: kassa.Gateway) -> kassa.Recovery:
    with gateway.recover() as recovery:
        next(recovery)
    assert list(recovery) == []
    return recovery


def cancel_from_elsewhere(gateway: kassa.Gateway) -> object:
    recovery = gateway.recover()
    next(recovery)
    ends: list[kassa.Recovered] = []
    waiting = threading.Thread(target=lambda: ends.extend(recovery))
    waiting.start()
    recovery.cancel()
    waiting.join(PATIENCE)
    assert not waiting.is_alive()
    assert ends == []
    return recovery


@pytest.mark.parametrize("leave", [break_off, fail, leave_the_block, cancel_from_elsewhere])
def test_leaving_early_lets_others_recover(tmp_path: Path, leave: Callable[[kassa.Gateway], object]) -> None:
    gateway = a_shop(tmp_path).gateway.with_journal(tmp_path)
    kept = leave(gateway)
    assert recovered_by_another(tmp_path) == ["cake charged"]
    del kept


@pytest.mark.parametrize("follow_new", [False, True])
def test_gateway_close_ends_recovery_and_releases_entries(tmp_path: Path, follow_new: bool) -> None:
    # The clock stands still, so neither the next question nor the deadline ever comes.
    gateway = a_shop(tmp_path).gateway.with_journal(tmp_path)
    recovery = gateway.recover(kassa.RecoveryPolicy(follow_new=follow_new))
    ended: SimpleQueue[object] = SimpleQueue()

    def recover() -> None:
        try:
            for recovered in recovery:
                ended.put(getattr(recovered, "note", None))
        except kassa.Misconfigured as error:
            ended.put(error.detail)

    worker = threading.Thread(target=recover)
    worker.start()
    assert ended.get(timeout=PATIENCE) == "cake"
    gateway.close()
    assert ended.get(timeout=PATIENCE) == "the gateway was closed"
    worker.join(PATIENCE)
    assert not worker.is_alive()
    assert list(recovery) == [], "it is said once"
    assert recovered_by_another(tmp_path) == ["cake charged"]


def test_gateway_close_releases_no_entry_that_may_be_delivered(tmp_path: Path) -> None:
    gateway = a_shop(tmp_path).gateway.with_journal(tmp_path)
    recovery = gateway.recover()
    assert getattr(next(recovery), "note", None) == "cake"
    gateway.close()
    assert recovered_by_another(tmp_path) == []
    with pytest.raises(kassa.Misconfigured, match="closed"):
        next(recovery)
    assert recovered_by_another(tmp_path) == ["cake charged"]


def test_closing_the_gateway_ends_a_recovery_in_asyncio_at_once(tmp_path: Path) -> None:
    gateway = a_shop(tmp_path).async_gateway.with_journal(tmp_path)

    async def flow() -> None:
        is_recovery = asyncio.Event()

        async def recover() -> None:
            async for _ in gateway.recover():
                is_recovery.set()

        task = asyncio.create_task(recover())
        await is_recovery.wait()
        assert await gateway.close() is True
        with pytest.raises(kassa.Misconfigured, match="closed"):
            await asyncio.wait_for(task, PATIENCE)
        assert await asyncio.to_thread(recovered_by_another, tmp_path) == ["cake charged"]

    asyncio.run(flow())


def test_cancelled_task_lets_others_recover(tmp_path: Path) -> None:
    gateway = a_shop(tmp_path).async_gateway.with_journal(tmp_path)

    async def flow() -> None:
        is_recovery = asyncio.Event()

        async def recover() -> None:
            async for _ in gateway.recover():
                is_recovery.set()

        task = asyncio.create_task(recover())
        await is_recovery.wait()
        assert await asyncio.to_thread(recovered_by_another, tmp_path) == [], "one recovers at a time"
        task.cancel()
        with pytest.raises(asyncio.CancelledError) as cancelled:
            await task
        assert await asyncio.to_thread(recovered_by_another, tmp_path) == ["cake charged"]
        # Whoever keeps them keeps nothing else.
        del task, cancelled

    asyncio.run(flow())


def test_wait_that_is_given_up_loses_no_end(tmp_path: Path) -> None:
    fake = a_shop(tmp_path)
    gateway = fake.async_gateway.with_journal(tmp_path)

    async def flow() -> list[str | None]:
        async with gateway.recover() as recovery:
            notes = [getattr(await anext(recovery), "note", None)]
            # The virtual clock is stopped, so nothing is recovered. A slow machine cannot fail this.
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(anext(recovery), 0.01)
            fake.charge("tea")
            fake.start_clock()
            notes += [getattr(recovered, "note", None) async for recovered in recovery]
        recovery.cancel()
        return notes

    assert asyncio.run(flow()) == ["cake", "tea"]


def test_what_is_wrong_with_a_recovery_is_named(tmp_path: Path) -> None:
    fake = FakeGateway()
    anything: Any = 17
    for gateway in (fake.gateway, fake.async_gateway):
        with pytest.raises(kassa.Misconfigured, match="no journal"):
            gateway.recover()
        with pytest.raises(kassa.Invalid, match="at_once must be at least 1"):
            gateway.with_journal(tmp_path).recover(kassa.RecoveryPolicy(at_once=0))
        with pytest.raises(TypeError, match=r"policy must be a kassa\.RecoveryPolicy"):
            gateway.recover(anything)
    with pytest.raises(ValueError, match="deadline must be longer than zero"):
        kassa.RecoveryPolicy(deadline=-1)
    with pytest.raises(TypeError, match="at_once must be an int"):
        kassa.RecoveryPolicy(at_once=anything / 2)
    with pytest.raises(TypeError, match="follow_new must be a bool"):
        kassa.RecoveryPolicy(follow_new=anything)
    with pytest.raises(TypeError, match="cannot be pickled or copied"):
        fake.gateway.with_journal(tmp_path).recover().__reduce_ex__(2)
