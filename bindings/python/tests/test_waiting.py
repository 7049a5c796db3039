"""What happens while a call waits: other threads run, and giving up is heard at once, but a payment is still sent once."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, CREATED, OPEN, Answer, RawGateway, after, card_payment, envelope, silence

import kassa
from kassa import _boundary, _logs


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler: a program that was started in the background begins with Ctrl-C ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_other_threads_run_while_a_call_waits(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CHARGED))
    answers: list[kassa.StatusReport] = []
    with raw.gateway() as gateway:

        def query() -> None:
            answers.append(gateway.provider_status("o-1", kassa.Provider.MBANK))

        threads = [threading.Thread(target=query) for _ in range(8)]
        for thread in threads:
            thread.start()
        # This thread gets here, and hears of every request, only if the waiting ones leave it the interpreter.
        for _ in threads:
            raw.received.acquire()
        go_on.set()
        for thread in threads:
            thread.join()
    assert len(answers) == 8


def test_program_that_waits_imports_no_more_than_it_needs(raw: RawGateway) -> None:
    """asyncio would be a third of what its start takes; dataclasses, with inspect, a fifth; logging, which nobody listens by
    here, and pathlib a sixth."""
    raw.answers(CHARGED)
    program = f"""
import sys, kassa
with kassa.Gateway({raw.url!r}, kassa.Credentials("shop", "secret")) as gateway:
    assert gateway.provider_status("o-1", kassa.Provider.MBANK).status is kassa.PaymentStatus.CHARGED
assert not {{"asyncio", "dataclasses", "inspect", "logging", "pathlib"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE)


def test_dialect_is_taken_after_a_gateway_without_one() -> None:
    """The first gateway has the core's own dialect, and the package's class is imported later."""
    program = """
import kassa
credentials = kassa.Credentials("shop", "secret")
kassa.Gateway("http://127.0.0.1:1", credentials)
kassa.Gateway("http://127.0.0.1:1", credentials, dialect=kassa.Dialect.named("finipay"))
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE)


def test_queries_and_errors_compile_nothing(raw: RawGateway) -> None:
    """The first use of Python's compiler would be a twelfth of the time until the first answer."""
    raw.answers(CHARGED)
    program = f"""
import builtins, sys
execute, compiled = builtins.exec, builtins.compile

def execute_modules(code, *names):
    assert not isinstance(code, str), code
    return execute(code, *names)

def compile_modules(source, file, *settings, **others):
    assert file != "<string>", source
    return compiled(source, file, *settings, **others)

import kassa, ctypes, datetime, decimal, enum, typing
builtins.exec, builtins.compile = execute_modules, compile_modules
with kassa.Gateway({raw.url!r}, kassa.Credentials("shop", "secret")) as gateway:
    assert gateway.provider_status("o-1", kassa.Provider.MBANK).status is kassa.PaymentStatus.CHARGED
    assert isinstance(gateway.watch(kassa.PaymentRef.mbank("o-1", 250)).outcome(), kassa.Verdict)
    try:
        kassa.PaymentRef.parse("nothing")
    except kassa.PaymentError as error:
        assert isinstance(error, kassa.Invalid)
"""
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, timeout=PATIENCE)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_ends_a_blocking_wait_at_once(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    raw.answers(OPEN)
    looks: SimpleQueue[None] = SimpleQueue()

    def interrupt() -> None:
        looks.get(timeout=PATIENCE)
        os.kill(os.getpid(), signal.SIGINT)

    policy = kassa.PollPolicy(timedelta(hours=1), timedelta(hours=2))
    with raw.gateway() as gateway, gateway.watch(kassa.PaymentRef.mbank("o-1", 250), policy) as watch:
        assert isinstance(next(watch), kassa.Pending)

        # A blocked call polls for log events, so the first poll shows that the call waits.
        def look(_: object) -> None:
            looks.put(None)

        monkeypatch.setattr(_logs, "look", look)
        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        # The next query is due in an hour.
        with pytest.raises(KeyboardInterrupt):
            next(watch)
        interrupter.join()
        # It can still be asked.
        watch.check_now()
        assert isinstance(next(watch), kassa.Pending)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_a_sent_payment_on_its_way(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED), OPEN)
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    def interrupt() -> None:
        raw.received.acquire()
        signal.pthread_kill(main_thread, signal.SIGINT)

    gateway = raw.gateway()
    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    with pytest.raises(KeyboardInterrupt):
        gateway.create_card_payment(card_payment())
    interrupter.join()
    closer = threading.Thread(target=gateway.close)
    closer.start()
    while not refuses(gateway):
        pass
    # Closing has begun. If it did not wait for the payment, it would return within this time. While it waits it cannot return,
    # so a slow machine cannot fail this.
    closer.join(0.3)
    assert closer.is_alive(), "closing waits for the payment"
    go_on.set()
    closer.join()
    assert sum(request.startswith(b"POST /api/v1.1.0/payment ") for request in raw.requests) == 1


def refuses(gateway: kassa.Gateway) -> bool:
    """Whether it was closed."""
    try:
        gateway.qr_status("1")
    except kassa.Misconfigured:
        return True
    return False


@pytest.mark.parametrize("how", ["cancel", "timeout"])
def test_cancelled_asyncio_payment_is_sent_once(raw: RawGateway, how: str) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))

    async def flow() -> float:
        gateway = raw.async_gateway(payment_deadline=2 * PATIENCE)
        task = asyncio.create_task(gateway.create_card_payment(card_payment()))
        await asyncio.to_thread(raw.received.acquire)
        started = time.monotonic()
        if how == "cancel":
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        else:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(task, 0.01)
        took = time.monotonic() - started
        go_on.set()
        await gateway.close()
        return took

    # Well before its deadline.
    assert asyncio.run(flow()) < PATIENCE
    assert len(raw.requests) == 1


def test_query_given_up_leaves_the_gateway_usable(raw: RawGateway) -> None:
    raw.answers(silence, CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            query = asyncio.create_task(gateway.provider_status("o-1", kassa.Provider.MBANK))
            await asyncio.to_thread(raw.received.acquire)
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(query, 0.05)
            report = await gateway.provider_status("o-1", kassa.Provider.MBANK)
            assert report.status == kassa.PaymentStatus.CHARGED

    asyncio.run(flow())


def test_event_loop_turns_while_a_call_waits(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CHARGED))

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            calls = [asyncio.create_task(gateway.provider_status("o-1", kassa.Provider.MBANK)) for _ in range(20)]
            for _ in calls:
                await asyncio.to_thread(raw.received.acquire)
            go_on.set()
            assert len(await asyncio.gather(*calls)) == 20

    asyncio.run(flow())


def test_event_loops_without_descriptors_work_as_well(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_boundary, "listens_to_descriptors", False)
    raw.answers(CHARGED, silence)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            assert (await gateway.provider_status("o-1", kassa.Provider.MBANK)).status.is_final
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(gateway.provider_status("o-1", kassa.Provider.MBANK), 0.05)

    asyncio.run(flow())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors cannot be counted here")
def test_event_loops_leave_no_descriptor_behind(raw: RawGateway) -> None:
    raw.answers(CHARGED, silence)
    gateway = raw.async_gateway(query_retries=0)

    async def flow() -> None:
        await gateway.provider_status("o-1", kassa.Provider.MBANK)
        await asyncio.to_thread(raw.received.acquire)
        # Still there when the loop ends, so it is cancelled.
        unfinished.append(asyncio.create_task(gateway.provider_status("o-1", kassa.Provider.MBANK)))
        await asyncio.to_thread(raw.received.acquire)

    unfinished: list[asyncio.Task[kassa.StatusReport]] = []
    counts: list[int] = []
    for _ in range(4):
        asyncio.run(flow())
        unfinished.clear()
        gc.collect()
        counts.append(len(list(Path("/proc/self/fd").iterdir())))
        raw.answers(CHARGED, silence)
    asyncio.run(gateway.close())
    assert counts[-1] - counts[0] < 3 * 2


AT_EXIT = f"""
import asyncio, atexit, sys, threading

def query_late():
    asyncio.run_coroutine_threadsafe(query(), loop).result({PATIENCE})
    print("answered", flush=True)

# Before Kassa's own, so that it runs after them.
atexit.register(query_late)
import kassa

gateway = kassa.AsyncGateway(sys.argv[1], kassa.Credentials("shop", "password"))
loop = asyncio.new_event_loop()

async def query():
    await gateway.provider_status("o-1", kassa.Provider.MBANK)

threading.Thread(target=loop.run_forever, daemon=True).start()
asyncio.run_coroutine_threadsafe(query(), loop).result({PATIENCE})
"""


def test_loop_of_a_daemon_thread_hears_until_the_very_end(raw: RawGateway) -> None:
    raw.answers(OPEN)
    ended = subprocess.run([sys.executable, "-c", AT_EXIT, raw.url], capture_output=True, text=True, timeout=PATIENCE)
    assert (ended.returncode, ended.stdout) == (0, "answered\n"), ended.stderr


def test_gateway_outlives_its_event_loop(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    gateway = raw.async_gateway()
    for _ in range(2):
        report = asyncio.run(gateway.provider_status("o-1", kassa.Provider.MBANK))
        assert report.status.is_final
    asyncio.run(gateway.close())


def test_blocking_gateway_works_where_a_loop_runs(raw: RawGateway) -> None:
    raw.answers(CHARGED)

    async def flow() -> kassa.StatusReport:
        with raw.gateway() as gateway:
            return gateway.provider_status("o-1", kassa.Provider.MBANK)

    assert asyncio.run(flow()).status.is_final


def test_watch_is_cancelled_from_another_thread(raw: RawGateway) -> None:
    raw.answers(OPEN)
    with raw.gateway() as gateway:
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250))
        reports: list[kassa.WatchReport] = []
        follower = threading.Thread(target=lambda: reports.extend(watch))
        follower.start()
        raw.received.acquire()
        watch.cancel()
        follower.join()
        assert watch.outcome() is None
        assert list(watch) == []


@pytest.mark.parametrize("order", ["report first", "cancellation first"])
def test_cancelled_task_loses_no_report(order: str, raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The task is cancelled in the same step of the loop in which its report arrives, and is not woken between the two."""
    raw.answers(CHARGED)
    tasks: list[asyncio.Task[kassa.WatchReport]] = []
    completions: Any = _boundary._Completions  # pyright: ignore[reportPrivateUsage]
    heard = completions._heard

    def cancel() -> None:
        while tasks:
            tasks.pop().cancel()

    def heard_and_cancelled(self: object) -> None:
        steps = (lambda: heard(self)), cancel
        for step in steps if order == "report first" else reversed(steps):
            step()

    monkeypatch.setattr(completions, "_heard", heard_and_cancelled)

    async def flow() -> None:
        async with raw.async_gateway() as gateway, gateway.watch(kassa.PaymentRef.mbank("o-1", 250)) as watch:
            task = asyncio.create_task(anext(watch))
            tasks.append(task)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert isinstance(await anext(watch), kassa.Charged)
            with pytest.raises(StopAsyncIteration):
                await anext(watch)

    asyncio.run(flow())
    assert len(raw.requests) == 1


def test_ctrl_c_at_the_end_of_a_call_keeps_report(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core's function returns with the report, and Python runs the signal's handler before it goes on."""
    raw.answers(CHARGED)
    boundary: Any = _boundary
    call = boundary._call

    def interrupted(*arguments: int) -> int:
        monkeypatch.setattr(_boundary, "_call", call)
        while call(*arguments) < 0:
            pass
        raise KeyboardInterrupt

    with raw.gateway() as gateway:
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250))
        monkeypatch.setattr(_boundary, "_call", interrupted)
        with pytest.raises(KeyboardInterrupt):
            next(watch)
        assert isinstance(next(watch), kassa.Charged)
        assert list(watch) == []
    assert len(raw.requests) == 1


def test_second_ctrl_c_leaves_no_call_behind(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first one ends the wait, and the second one comes before the call is given up."""
    raw.answers(CHARGED)
    boundary: Any = _boundary
    call, end = boundary._call, boundary._call_end

    def interrupted(*arguments: int) -> int:
        longest = 0
        assert call(*arguments[:4], longest, arguments[5]) < 0
        raise KeyboardInterrupt

    def interrupted_again(_: int) -> None:
        raise KeyboardInterrupt

    with raw.gateway() as gateway:
        monkeypatch.setattr(_boundary, "_call", interrupted)
        monkeypatch.setattr(_boundary, "_call_end", interrupted_again)
        with pytest.raises(KeyboardInterrupt):
            gateway.provider_status("o-1", kassa.Provider.MBANK)
        monkeypatch.setattr(_boundary, "_call", call)
        monkeypatch.setattr(_boundary, "_call_end", end)
        gateway.provider_status("o-2", kassa.Provider.MBANK)
    assert b"o-2" in raw.requests[-1]


def test_payment_result_without_receiver_is_logged(
    raw: RawGateway, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    raw.answers(CREATED)
    tasks: list[asyncio.Task[kassa.CardPaymentCreated]] = []
    completions: Any = _boundary._Completions  # pyright: ignore[reportPrivateUsage]
    heard = completions._heard

    def heard_and_cancelled(self: object) -> None:
        heard(self)
        while tasks:
            tasks.pop().cancel()

    monkeypatch.setattr(completions, "_heard", heard_and_cancelled)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            task = asyncio.create_task(gateway.create_card_payment(card_payment()))
            tasks.append(task)
            with pytest.raises(asyncio.CancelledError):
                await task

    with caplog.at_level("WARNING", "kassa"):
        asyncio.run(flow())
    assert any("its caller has stopped waiting" in record.message for record in caplog.records)
    assert len(raw.requests) == 1


def test_a_cancelled_task_loses_no_report(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CHARGED))

    async def flow() -> None:
        async with raw.async_gateway() as gateway, gateway.watch(kassa.PaymentRef.mbank("o-1", 250)) as watch:
            task = asyncio.create_task(anext(watch))
            await asyncio.to_thread(raw.received.acquire)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            go_on.set()
            assert isinstance(await watch.outcome(), kassa.Charged)

    asyncio.run(flow())
    assert len(raw.requests) == 1


def test_closed_gateway_refuses(raw: RawGateway) -> None:
    gateway = raw.gateway()
    gateway.close()
    gateway.close()
    with pytest.raises(kassa.Misconfigured, match="closed"):
        gateway.qr_status("1")


# An hour: a test that gets over a wait did not sit it out.
AN_HOUR = 3600.0


WAITS: list[Callable[[Any], object]] = [kassa.StatusWatch.outcome, list]


@pytest.mark.parametrize("answer", [OPEN, silence], ids=["between two queries", "within one"])
@pytest.mark.parametrize("wait_for", WAITS, ids=["outcome", "reports"])
def test_closing_ends_a_watch_at_once(raw: RawGateway, answer: Answer, wait_for: Callable[[Any], object]) -> None:
    raw.answers(answer)
    gateway = raw.gateway(query_deadline=AN_HOUR, query_retries=0)
    watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(AN_HOUR, 2 * AN_HOUR))
    ended: SimpleQueue[object] = SimpleQueue()

    def follow() -> None:
        try:
            ended.put(wait_for(watch))
        except kassa.Misconfigured as error:
            ended.put(error.detail)

    follower = threading.Thread(target=follow)
    follower.start()
    assert raw.received.acquire(timeout=PATIENCE)
    assert gateway.close() is True
    assert ended.get(timeout=PATIENCE) == "the gateway was closed"
    follower.join(PATIENCE)
    assert not follower.is_alive()


@pytest.mark.parametrize("answer", [OPEN, silence], ids=["between two queries", "within one"])
def test_closing_ends_a_watch_in_asyncio_at_once(raw: RawGateway, answer: Answer) -> None:
    raw.answers(answer)

    async def flow() -> None:
        gateway = raw.async_gateway(query_deadline=AN_HOUR, query_retries=0)
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(AN_HOUR, 2 * AN_HOUR))
        task = asyncio.create_task(watch.outcome())
        await asyncio.to_thread(raw.received.acquire)
        assert await gateway.close() is True
        with pytest.raises(kassa.Misconfigured, match="closed"):
            await asyncio.wait_for(task, PATIENCE)

    asyncio.run(flow())


def test_close_with_a_timeout_says_what_is_left(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))
    gateway = raw.gateway(payment_deadline=AN_HOUR)
    answers: list[kassa.CardPaymentCreated] = []
    payer = threading.Thread(target=lambda: answers.append(gateway.create_card_payment(card_payment())))
    payer.start()
    assert raw.received.acquire(timeout=PATIENCE)
    for too_short in (0, 0.01, timedelta(milliseconds=10)):
        assert gateway.close(too_short) is False
        assert refuses(gateway)
    go_on.set()
    assert gateway.close(AN_HOUR) is True
    assert gateway.close(0) is True
    payer.join(PATIENCE)
    assert len(answers) == 1, "it was not torn off"
    wrong: Any = "5"
    with pytest.raises(TypeError, match=r"timeout must be a datetime\.timedelta, a number of seconds or None"):
        gateway.close(wrong)
    with pytest.raises(ValueError, match="timeout must not be negative"):
        gateway.close(-1)


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_leaves_block_and_journal_keeps_payment(raw: RawGateway, tmp_path: Path) -> None:
    raw.answers(silence)
    main_thread = threading.main_thread().ident
    assert main_thread is not None

    def interrupt() -> None:
        raw.received.acquire()
        signal.pthread_kill(main_thread, signal.SIGINT)

    interrupter = threading.Thread(target=interrupt)
    interrupter.start()
    payment = card_payment()
    # The response never comes, so nothing but the deadline would end the wait for it.
    with (
        pytest.raises(KeyboardInterrupt) as interrupted,
        raw.gateway(payment_deadline=AN_HOUR, journal=tmp_path) as gateway,
    ):
        gateway.create_card_payment(payment)
    interrupter.join()
    if sys.version_info >= (3, 11):
        assert "Its outcome is unknown" in interrupted.value.__notes__[0]
    found_by_the_next_process(payment.order_number, tmp_path)


def test_cancelled_task_leaves_block_and_journal_keeps_payment(raw: RawGateway, tmp_path: Path) -> None:
    raw.answers(silence)
    payment = card_payment()

    async def sell() -> None:
        async with raw.async_gateway(payment_deadline=AN_HOUR, journal=tmp_path) as gateway:
            await gateway.create_card_payment(payment)

    async def flow() -> None:
        task = asyncio.create_task(sell())
        await asyncio.to_thread(raw.received.acquire)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            # Where the block waited, this would be a timeout.
            await asyncio.wait_for(asyncio.shield(task), PATIENCE)

    asyncio.run(flow())
    found_by_the_next_process(payment.order_number, tmp_path)


NEXT_PROCESS = """
import sys
import kassa

with kassa.Gateway(sys.argv[1], kassa.Credentials("a", "b"), journal=sys.argv[2]) as gateway:
    [left] = gateway.unfinished()
    print(left.payment.order_number, left.state)
    for recovered in gateway.recover():
        print(recovered.payment.order_number, recovered.state)
"""


def found_by_the_next_process(order_number: str, folder: Path) -> None:
    """The journal has the payment as one whose outcome is unknown, and asking about it finds that out."""
    charged: dict[str, object] = {"orderNumber": order_number, "amount": 100.1, "currency": "KGS", "status": "CHARGE"}
    with RawGateway() as raw:
        raw.answers(envelope(200, "200", "PAYMENT_SUCCESS", charged))
        program = [sys.executable, "-c", NEXT_PROCESS, raw.url, str(folder)]
        ended = subprocess.run(program, check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert ended.stdout.splitlines() == [f"{order_number} unknown", f"{order_number} charged"]


def test_deadline_is_kept(raw: RawGateway) -> None:
    raw.answers(silence)
    started = time.monotonic()
    with (
        raw.gateway(query_deadline=timedelta(milliseconds=200)) as gateway,
        pytest.raises(kassa.Unavailable, match="deadline"),
    ):
        gateway.provider_status("o-1", kassa.Provider.MBANK)
    # The default deadline is 30 seconds, and KASSA_PATIENCE does not multiply it.
    assert time.monotonic() - started < min(PATIENCE / 3, 29)
