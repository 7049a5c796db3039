"""Under gevent, eventlet and trio a call that waits leaves the thread to others, and giving up loses no payment."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import pytest
import trio
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, CREATED, Answer, RawGateway, after, closed_port, hang_up, mbank_payment, response
from test_fork import APP
from test_logging import Releasing, listening
from web_server import gunicorn

import kassa
from kassa import _boundary
from kassa.checkout import AsyncCheckout

needs_descriptors = pytest.mark.skipif(
    not _boundary.listens_to_descriptors, reason="there are no descriptors to wait at here"
)

# Greenlets. Each program patches itself, so it runs in its own process, driven through stdin and stdout.

GEVENT = "from gevent import monkey; monkey.patch_all(); from gevent import spawn, sleep"
EVENTLET = "import eventlet; eventlet.monkey_patch(); from eventlet import spawn, sleep"
BY_CALLBACK = "from kassa import _boundary; _boundary.listens_to_descriptors = False"
WAYS = {
    "gevent": GEVENT,
    "gevent, patched after the import": f"import kassa; {GEVENT}",
    "gevent, without descriptors": f"{GEVENT}; {BY_CALLBACK}",
    "eventlet": EVENTLET,
    "eventlet, patched after the import": f"import kassa; {EVENTLET}",
}

START = f"""
import os, sys, threading
import kassa

url, folder = sys.argv[1:]
gateway = kassa.Gateway(url, kassa.Credentials("a", "b"), journal=folder, payment_deadline={PATIENCE}, query_retries=0)
payment = kassa.PaymentRef.mbank("o-1", 250)

def say(text):
    print(text, flush=True)

def heard():
    # A byte, read in a thread that was not patched.
    return gevent.get_hub().threadpool.apply(os.read, (0, 1))

def pay(number=None):
    number = number or kassa.new_order_number()
    return gateway.create_mbank_payment(
        kassa.MbankPayment(order_number=number, phone="996555000101", amount_som=250, comment="Two"))
"""


class Program:
    def __init__(self, running: subprocess.Popen[str]) -> None:
        self._running = running

    def says(self) -> str:
        assert self._running.stdout is not None
        return self._running.stdout.readline().strip()

    def go_on(self) -> None:
        assert self._running.stdin is not None
        self._running.stdin.write(".")
        self._running.stdin.flush()

    def ends(self) -> None:
        assert self._running.wait(PATIENCE) == 0


@contextmanager
def program(way: str, script: str, raw: RawGateway, folder: Path) -> Generator[Program]:
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", "\n".join((way, START, script)), raw.url, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as running:

        def end() -> None:
            # With what it has forked.
            with suppress(ProcessLookupError):
                os.killpg(running.pid, signal.SIGKILL)

        too_late = threading.Timer(PATIENCE, end)
        too_late.start()
        try:
            yield Program(running)
        finally:
            too_late.cancel()
            end()


def once_five_are_there(answer: Answer) -> Answer:
    there = threading.Barrier(5)

    def wait_and_answer(connection: socket.socket) -> None:
        there.wait(PATIENCE)
        answer(connection)

    return wait_and_answer


FIVE = """
jobs = [spawn(call) for call in calls]
while len(waiting) < 5:
    sleep(0)
say("others run")
results = [job.get() if hasattr(job, "get") else job.wait() for job in jobs]
assert not any(result in (None, False) for result in results), results
gateway.close()
say("done")
"""
PAYMENTS = """
waiting = []
def one():
    waiting.append(None)
    return pay()

calls = [one] * 5
"""
QUESTIONS = """
waiting = []
def begins(call):
    def begin():
        waiting.append(None)
        return call()
    return begin

watch = gateway.watch(payment)
calls = [begins(call) for call in (
    lambda: gateway.provider_status("o-1", kassa.Provider.MBANK).status.is_final,
    lambda: gateway.check(payment).is_charged,
    lambda: next(gateway.watch(payment)).is_charged,
    lambda: watch.outcome().is_charged,
    lambda: [gateway.finish(recovered) or recovered for recovered in gateway.recover()],
)]
"""


@needs_descriptors
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    ("calls", "answer"), [(PAYMENTS, CREATED), (QUESTIONS, CHARGED)], ids=["payments", "questions"]
)
def test_greenlets_run_while_others_wait_for_calls(
    way: str, calls: str, answer: Answer, raw: RawGateway, tmp_path: Path
) -> None:
    if calls is QUESTIONS:
        raw.answers(CREATED)
        with raw.gateway(journal=tmp_path) as before:
            before.create_mbank_payment(mbank_payment(order_number="o-1"))
    raw.requests.clear()
    go_on = threading.Event()
    # The gateway responds when all five requests have arrived and another greenlet has run.
    raw.answers(once_five_are_there(after(go_on, answer)))
    with program(way, calls + FIVE, raw, tmp_path) as running:
        assert running.says() == "others run"
        go_on.set()
        assert running.says() == "done"
        running.ends()
    assert len(raw.requests) == 5


GIVES_UP = {
    "killed": """
job = spawn(pay, "o-1")
heard()
job.kill()
""",
    "timeout": """
main = gevent.getcurrent()
spawn(lambda: (heard(), gevent.get_hub().loop.run_callback(main.throw, gevent.Timeout())))
try:
    pay("o-1")
except gevent.Timeout:
    pass
""",
    "Ctrl-C": """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
spawn(lambda: (heard(), os.kill(os.getpid(), signal.SIGINT)))
try:
    pay("o-1")
except KeyboardInterrupt:
    pass
""",
}


@pytest.mark.parametrize("gives_up", GIVES_UP.values(), ids=GIVES_UP)
def test_payment_of_a_killed_greenlet_is_in_the_journal(raw: RawGateway, tmp_path: Path, gives_up: str) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))
    script = f"""
{gives_up}
say([each.state.value for each in gateway.unfinished()])
gateway.close()
[entry] = gateway.journal.unfinished()
say(f"{{entry.payment.order_number}} is {{entry.state.value}}")
gateway = kassa.Gateway(url, kassa.Credentials("a", "b"), journal=folder)
try:
    pay("o-1")
except kassa.OutcomeUnknown:
    say("not sent again")
"""
    with program(f"import gevent; {GEVENT}", script, raw, tmp_path) as running:
        assert raw.received.acquire(timeout=PATIENCE)
        running.go_on()
        # At once: no response has come yet.
        assert running.says() == "['unknown']"
        go_on.set()
        # The response was noted all the same.
        assert running.says() == "o-1 is pending"
        assert running.says() == "not sent again"
        running.ends()
    assert len(raw.requests) == 1


@needs_descriptors
def test_hub_is_left_as_it_was(raw: RawGateway, tmp_path: Path) -> None:
    """``gevent.wait()`` ends once nothing waits. Nor does the disk hold it up; and threads and the hub itself may call, too."""
    raw.answers(CREATED)
    script = """
from kassa import _schedulers
spawn(pay).get()
say(f"ends {gevent.wait()}")
caught, threads, ident = _schedulers._caught, set(), monkey.get_original("threading", "get_ident")
_schedulers._caught = lambda *call: (threads.add(ident()), caught(*call))[1]
gateway.journal.prune(1)
say(f"the disk {threads and ident() not in threads}")
say(f"in a thread {gevent.get_hub().threadpool.apply(pay).payment is not None}")
in_hub = gevent.event.AsyncResult()
gevent.get_hub().loop.run_callback(lambda: in_hub.set(pay().payment is not None))
say(f"in the hub {in_hub.get()}")
"""
    with program(f"import gevent.event; {GEVENT}", script, raw, tmp_path) as running:
        said = [running.says() for _ in range(4)]
        assert said == ["ends True", "the disk True", "in a thread True", "in the hub True"]
        running.ends()


@needs_descriptors
@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_copy_of_a_waiting_greenlet_takes_nothing_from_it(raw: RawGateway, tmp_path: Path) -> None:
    go_on, go_on_in_child = threading.Event(), threading.Event()
    raw.answers(after(go_on, CREATED), after(go_on_in_child, CREATED))
    script = """
import gevent, signal
job = spawn(pay)
heard()
child = os.fork()
if child == 0:
    sleep(0)
    other = spawn(pay)
    other.join()
    say("the child's own call works" if other.value is not None else "no")
    while True:
        sleep(0.001)
# Its hub stands still: only the child could hear of the response.
os.read(0, 1)
say("open" if job.get().payment else "no")
os.kill(child, signal.SIGKILL)
"""
    with program(f"import gevent; {GEVENT}", script, raw, tmp_path) as running:
        assert raw.received.acquire(timeout=PATIENCE)
        running.go_on()
        assert raw.received.acquire(timeout=PATIENCE)
        go_on.set()
        go_on_in_child.set()
        assert running.says() == "the child's own call works"
        running.go_on()
        assert running.says() == "open"
        running.ends()
    assert len(raw.requests) == 2


@needs_descriptors
@pytest.mark.parametrize("way", ["gevent, patched after the import", "eventlet"])
def test_lines_come_while_greenlets_wait(raw: RawGateway, tmp_path: Path, way: str) -> None:
    go_on = threading.Event()
    raw.answers(hang_up, after(go_on, CHARGED))
    script = """
import logging
logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format="%(message)s")
gateway.watch(payment, kassa.PollPolicy(interval=0.01)).outcome()
"""
    with program(WAYS[way], script, raw, tmp_path) as running:
        # It comes before the response that it lets go.
        assert running.says().startswith("no response")
        go_on.set()
        assert running.says().startswith("responded")
        running.ends()


@needs_descriptors
@pytest.mark.parametrize("way", ["gevent, patched after the import", "eventlet"])
def test_every_line_comes_in_the_context_of_its_own_greenlet(raw: RawGateway, tmp_path: Path, way: str) -> None:
    raw.answers(once_five_are_there(CHARGED))
    script = """
import contextvars, logging
of_request = contextvars.ContextVar("of_request", default="nobody's")
lines = []

class Whose(logging.Handler):
    def emit(self, record):
        # Other greenlets run meanwhile.
        sleep(0)
        lines.append((record.kassa["order"], of_request.get()))

logging.getLogger("kassa").addHandler(Whose())
logging.getLogger("kassa").setLevel(logging.DEBUG)

def one(order):
    of_request.set(order)
    gateway.provider_status(order, kassa.Provider.MBANK)

jobs = [spawn(one, f"o-{number}") for number in range(5)]
for job in jobs:
    job.get() if hasattr(job, "get") else job.wait()
# The timer may be handing on the lines of a call that has ended meanwhile.
for _ in range(3000):
    if len(lines) == 5:
        break
    sleep(0.01)
say(sorted(lines) == [(f"o-{number}", f"o-{number}") for number in range(5)] or lines)
"""
    with program(WAYS[way], script, raw, tmp_path) as running:
        assert running.says() == "True"
        running.ends()


@needs_descriptors
@pytest.mark.parametrize("options", [(), ("--preload",)], ids=["loaded by the worker", "loaded by the master"])
def test_one_worker_of_gunicorn_answers_several_at_once(
    raw: RawGateway, tmp_path: Path, options: tuple[str, ...]
) -> None:
    raw.answers(CHARGED, once_five_are_there(CHARGED))
    options = ("--worker-class=gevent", "--workers=1", *options)
    with gunicorn(tmp_path, APP, {"GATEWAY": raw.url}, *options) as server:
        texts: list[str] = []
        payers = [threading.Thread(target=lambda: texts.append(server.get())) for _ in range(5)]
        for payer in payers:
            payer.start()
        for payer in payers:
            payer.join(PATIENCE)
        assert len(texts) == 5
        assert len(set(texts)) == 1, "one worker"
        assert texts[0].startswith("charged in ")
        server.stop()


# trio, by itself and under anyio.


@pytest.fixture(params=[_boundary.listens_to_descriptors, False])
def _either_way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_boundary, "listens_to_descriptors", request.param)


@pytest.mark.usefixtures("_either_way")
@pytest.mark.parametrize("backend", ["trio", "asyncio"])
def test_calls_overlap_and_are_given_up_under_anyio(backend: str, raw: RawGateway, tmp_path: Path) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))

    async def flow() -> None:
        gateway = raw.async_gateway(journal=tmp_path, payment_deadline=2 * PATIENCE)

        async def pay() -> None:
            await gateway.create_mbank_payment(mbank_payment())

        async with anyio.create_task_group() as tasks:
            for _ in range(20):
                tasks.start_soon(pay)
            given_up = anyio.CancelScope()
            async with anyio.create_task_group() as another:

                async def pay_and_give_up() -> None:
                    with given_up:
                        await pay()

                another.start_soon(pay_and_give_up)
                for _ in range(21):
                    await anyio.to_thread.run_sync(raw.received.acquire)
                given_up.cancel()
            assert given_up.cancelled_caught
            go_on.set()
        await gateway.close()
        assert [getattr(entry, "state", None) async for entry in gateway.unfinished()] == [
            kassa.JournalState.PENDING
        ] * 21

    anyio.run(flow, backend=backend)
    assert len(raw.requests) == 21


def test_watches_recovery_and_logging_work_under_trio(raw: RawGateway, tmp_path: Path) -> None:
    async def flow(heard: Releasing) -> list[str]:
        async with raw.async_gateway(journal=tmp_path) as gateway:
            await gateway.create_mbank_payment(mbank_payment(order_number="o-1"))
            heard.go_on.clear()
            watch = gateway.watch(
                kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(interval=0.01, deadline=PATIENCE)
            )
            assert isinstance(await watch.outcome(), kassa.Charged)
            return [str(getattr(recovered, "state", recovered)) async for recovered in gateway.recover()]

    with listening(Releasing()) as heard:
        # Where lines came after the call only, the last response would never come.
        raw.answers(CREATED, hang_up, hang_up, hang_up, after(heard.go_on, CHARGED), CHARGED)
        assert trio.run(flow, heard) == ["charged"]


@pytest.mark.parametrize("ends", ["closed", "let go of", "with the run"])
def test_trio_token_renewal_is_cancelled_with_checkout(raw: RawGateway, ends: str) -> None:
    raw.answers(response(401, '{"type": "urn:kassa:problem:unauthorized", "title": "Unauthorized"}'))
    cancelled: list[bool] = []

    async def app() -> None:
        called = trio.Event()

        async def renew_token() -> str:
            called.set()
            try:
                await trio.sleep_forever()
            finally:
                cancelled.append(True)
            return ""

        held = [AsyncCheckout(raw.url, "ct_none", renew_token=renew_token)]
        with trio.fail_after(PATIENCE):
            await called.wait()
            if ends == "with the run":
                return
            if ends == "closed":
                held[0].close()
            held.clear()
            gc.collect()
            while not cancelled:
                await trio.sleep(0)

    trio.run(app)
    assert cancelled == [True]


def test_trio_and_asyncio_may_run_in_one_thread(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    gateway = raw.async_gateway()

    async def query() -> bool:
        return (await gateway.provider_status("o-1", kassa.Provider.MBANK)).status.is_final

    async def host() -> tuple[bool, Any]:
        loop = asyncio.get_running_loop()
        ended: asyncio.Future[Any] = loop.create_future()
        trio.lowlevel.start_guest_run(
            query, run_sync_soon_threadsafe=loop.call_soon_threadsafe, done_callback=ended.set_result
        )
        return await query(), (await ended).unwrap()

    async def trio_with_a_loop_inside() -> bool:
        return asyncio.run(query())

    assert asyncio.run(host()) == (True, True)
    assert trio.run(trio_with_a_loop_inside)


def test_blocking_call_in_a_thread_of_trios(raw: RawGateway) -> None:
    raw.answers(CHARGED)

    async def flow() -> kassa.StatusReport:
        with raw.gateway() as gateway:
            return await trio.to_thread.run_sync(gateway.provider_status, "o-1", kassa.Provider.MBANK)

    assert trio.run(flow).status.is_final


def test_without_an_event_loop_nothing_is_sent(raw: RawGateway) -> None:
    raw.answers(CREATED)
    gateway = raw.async_gateway()
    for call in (
        lambda: gateway.create_mbank_payment(mbank_payment()),
        gateway.watch(kassa.PaymentRef.mbank("o-1", 250)).outcome,
        gateway.close,
    ):
        with pytest.raises(
            RuntimeError, match=r"no event loop of asyncio or trio is running.*blocking Gateway in a thread"
        ):
            call().send(None)

    async def renew_token() -> str:
        return ""

    with pytest.raises(RuntimeError, match="no event loop"):
        AsyncCheckout(closed_port(), "ct_none", renew_token=renew_token)
    assert raw.requests == []
