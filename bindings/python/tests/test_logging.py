"""What is logged, when, and that nothing goes wrong with it."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timezone
from typing import TypeVar

import pytest
from conformance.patience import PATIENCE
from raw_gateway import CHARGED, RawGateway, after, hang_up, silence

import kassa
from kassa import _event_loop, _log_timer, _logs, _wait
from kassa._generated import native

KASSA = logging.getLogger("kassa")

T = TypeVar("T", bound=logging.Handler)


def ask(gateway: kassa.Gateway, order_number: str = "o-1") -> kassa.StatusReport:
    return gateway.provider_status(order_number, kassa.Provider.MBANK)


def run(script: str, url: str) -> tuple[str, str]:
    """A program of its own, whose logging nobody has set up yet; what it printed."""
    start = f"import logging, kassa\ngateway = kassa.Gateway({url!r}, kassa.Credentials('a', 'b'), query_retries=0)\n"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", start + script],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


ASK = "gateway.provider_status('o-1', kassa.Provider.MBANK)\n"


def test_without_a_handler_nothing_is_kept_and_nothing_printed(raw: RawGateway) -> None:
    raw.answers(hang_up)
    script = f"""
try:
    {ASK}
except kassa.Unavailable:
    pass
from kassa._generated import native
assert native.take_log_events() == []
"""
    assert run(script, raw.url) == ("", "")


def test_basic_config_is_enough_whenever_it_comes(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    script = f"""
{ASK}
logging.basicConfig(level=logging.DEBUG, format="%(levelname)s %(name)s %(message)s")
{ASK}
logging.getLogger("kassa").setLevel(logging.WARNING)
{ASK}
"""
    stdout, stderr = run(script, raw.url)
    assert stdout == ""
    assert stderr.splitlines()[0].startswith("DEBUG kassa replied endpoint=")
    assert stderr.count("\n") == 1


@pytest.fixture
def records() -> Iterator[list[logging.LogRecord]]:
    """What a handler of the logger itself gets."""
    records: list[logging.LogRecord] = []

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            records.append(record)

    handler = Handler()
    KASSA.addHandler(handler)
    KASSA.setLevel(logging.DEBUG)
    yield records
    KASSA.setLevel(logging.NOTSET)
    KASSA.removeHandler(handler)


def test_a_record_says_what_happened_and_when(raw: RawGateway, records: list[logging.LogRecord]) -> None:
    raw.answers(hang_up, CHARGED)
    before = time.time()
    with raw.gateway() as gateway:
        ask(gateway, "logged-1")
    failed, replied = records
    assert (failed.levelno, replied.levelno) == (logging.WARNING, logging.DEBUG)
    assert failed.getMessage().startswith("no reply ")
    fields: dict[str, str] = replied.__dict__["kassa"]
    assert fields["order"] == "logged-1"
    assert (fields["http_status"], fields["attempt"]) == ("200", "2")
    assert before - 0.001 <= failed.created <= replied.created <= time.time()
    assert 0 <= replied.msecs < 1000


class Releasing(logging.Handler):
    """Lets the gateway's next reply go once a line has come. Where lines came only after the call, the call would end by its
    deadline."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.texts: list[str] = []
        self.threads: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
        self.threads.add(threading.current_thread().name)
        self.go_on.set()


@contextmanager
def listening(handler: T) -> Generator[T]:
    KASSA.addHandler(handler)
    KASSA.setLevel(logging.DEBUG)
    try:
        yield handler
    finally:
        KASSA.setLevel(logging.NOTSET)
        KASSA.removeHandler(handler)


def in_main_thread(gateway: kassa.Gateway) -> None:
    ask(gateway)


def in_another_thread(gateway: kassa.Gateway) -> None:
    with ThreadPoolExecutor(1, "caller") as pool:
        pool.submit(ask, gateway).result()


def in_a_watch(gateway: kassa.Gateway) -> None:
    """Its first query fails, and the next is the one that is held back."""
    watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(interval=0.01, deadline=PATIENCE))
    assert isinstance(watch.outcome(), kassa.Charged)


@pytest.mark.parametrize("way", [in_main_thread, in_another_thread, in_a_watch])
def test_lines_come_while_a_call_waits(raw: RawGateway, way: Callable[[kassa.Gateway], None]) -> None:
    with listening(Releasing()) as heard, raw.gateway() as gateway:
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        way(gateway)
    assert [text.partition(" endpoint=")[0] for text in heard.texts] == ["no reply", "replied"]
    assert len(heard.threads) == 1
    assert heard.threads < {"MainThread", "caller_0"}, "not one of the core's"


@pytest.mark.parametrize("poll", [_event_loop.poll, _event_loop.poll_by_callback])
def test_lines_come_while_asyncio_waits(raw: RawGateway, poll: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_wait, "_poll_in_loop", poll)
    of_request: contextvars.ContextVar[str] = contextvars.ContextVar("of_request")
    contexts: list[str] = []

    async def one(gateway: kassa.AsyncGateway) -> None:
        of_request.set("this one")
        await gateway.provider_status("o-1", kassa.Provider.MBANK)

    async def flow(heard: Releasing) -> None:
        heard.addFilter(in_context)
        async with raw.async_gateway() as gateway:
            await asyncio.create_task(one(gateway))
            assert not _log_timer.timers[asyncio.get_running_loop()].waiting, "so the timer runs out"

    def in_context(_: logging.LogRecord) -> bool:
        contexts.append(of_request.get())
        return True

    with listening(Releasing()) as heard:
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        asyncio.run(flow(heard))
    assert [text.partition(" endpoint=")[0] for text in heard.texts] == ["no reply", "replied"]
    assert contexts == ["this one", "this one"]


def test_an_event_loop_that_is_not_listened_to_has_no_timer(raw: RawGateway) -> None:
    raw.answers(CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            await gateway.provider_status("o-1", kassa.Provider.MBANK)
            assert asyncio.get_running_loop() not in _log_timer.timers

    # The tests' own handlers listen otherwise.
    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(flow())
    finally:
        logging.disable(logging.NOTSET)


def test_a_handler_that_fails_while_a_call_waits_hides_no_answer(
    raw: RawGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken(Releasing):
        def handle(self, record: logging.LogRecord) -> bool:
            self.emit(record)
            raise RuntimeError(f"cannot take {record.levelname}")

    async def flow() -> kassa.StatusReport:
        async with raw.async_gateway() as gateway:
            return await gateway.provider_status("o-1", kassa.Provider.MBANK)

    with listening(Broken()) as heard, raw.gateway() as gateway:
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        assert ask(gateway).status == kassa.PaymentStatus.CHARGED
        heard.go_on.clear()
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        assert asyncio.run(flow()).status == kassa.PaymentStatus.CHARGED
    assert capsys.readouterr().err.count("cannot take WARNING") == 2


def an_event(text: str) -> object:
    """As the core keeps one."""
    event = native.LogEvent(level=native.LogLevel.DEBUG, text=text)
    return native.KeptLogEvent(event=event, at=datetime.now(timezone.utc), fields={})


def test_ctrl_c_in_a_handler_ends_the_call_and_loses_no_line(raw: RawGateway) -> None:
    class Interrupted(Releasing):
        def emit(self, record: logging.LogRecord) -> None:
            super().emit(record)
            if record.getMessage() == "interrupted here":
                raise KeyboardInterrupt

    with listening(Interrupted()) as heard, raw.gateway() as gateway:
        raw.answers(silence)
        _logs.taken.extend([an_event("interrupted here"), an_event("comes later")])
        with pytest.raises(KeyboardInterrupt):
            ask(gateway)
        raw.answers(CHARGED)
        ask(gateway)
    assert heard.texts[:2] == ["interrupted here", "comes later"]
    assert heard.texts[2].startswith("replied")


def test_a_handler_that_calls_kassa_while_a_call_waits_does_not_go_round(
    raw: RawGateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of its calls brings a line. Handed on while the first call still waits, they would bring calls without end."""
    with raw.gateway() as gateway:

        class Curious(Releasing):
            def emit(self, record: logging.LogRecord) -> None:
                self.texts.append(record.getMessage())
                # The first request has come, so the held back reply is not for this one.
                raw.received.acquire()
                ask(gateway)

        def look() -> None:
            look_at_it()
            looks.append(len(heard.texts))
            if len(looks) == 30:
                heard.go_on.set()

        looks: list[int] = []
        look_at_it = _logs.look
        monkeypatch.setattr(_logs, "look", look)
        with listening(Curious()) as heard:
            raw.answers(after(heard.go_on, CHARGED), CHARGED)
            _logs.taken.append(an_event("the first"))
            ask(gateway)
    assert looks[29] == 1


def test_a_handler_may_wait_for_a_lock_that_another_caller_holds(raw: RawGateway) -> None:
    lock = threading.RLock()

    class Locking(Releasing):
        def handle(self, record: logging.LogRecord) -> bool:
            """Without the handler's own lock, which would be the second that two threads wait for crosswise."""
            self.go_on.set()
            with lock:
                self.texts.append(record.getMessage())
            return True

    raw.answers(CHARGED)
    with listening(Locking()) as heard, raw.gateway() as gateway, ThreadPoolExecutor(1) as pool:
        with lock:
            other = pool.submit(ask, gateway)
            heard.go_on.wait()
            ask(gateway)
        other.result()
    assert len(heard.texts) == 2


def test_asyncio_logs_as_well(raw: RawGateway, records: list[logging.LogRecord]) -> None:
    raw.answers(CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            await gateway.provider_status("o-2", kassa.Provider.MBANK)
            async for _ in gateway.watch(kassa.PaymentRef.mbank("o-1", 250)):
                pass

    asyncio.run(flow())
    assert [record.__dict__["kassa"]["order"] for record in records] == ["o-2", "o-1"]


def test_what_nobody_listens_to_does_not_leave_the_core(
    raw: RawGateway, records: list[logging.LogRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    raw.answers(CHARGED, hang_up, CHARGED)
    left: list[object] = []
    monkeypatch.setattr(_logs, "_hand_on", left.append)
    KASSA.setLevel(logging.WARNING)
    with raw.gateway() as gateway:
        ask(gateway)
        assert left == []
        ask(gateway)
        assert len(left) == 1
        logging.disable(logging.CRITICAL)
        try:
            ask(gateway)
        finally:
            logging.disable(logging.NOTSET)
    assert len(left) == 1
    assert records == []


def test_a_handler_that_raises_hides_no_answer(raw: RawGateway, capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise RuntimeError(f"cannot take {record.levelname}")

    raw.answers(CHARGED)
    handler = Broken()
    KASSA.addHandler(handler)
    KASSA.setLevel(logging.DEBUG)
    try:
        with raw.gateway() as gateway:
            assert ask(gateway).status == kassa.PaymentStatus.CHARGED
    finally:
        KASSA.setLevel(logging.NOTSET)
        KASSA.removeHandler(handler)
    assert "cannot take DEBUG" in capsys.readouterr().err


def test_a_handler_may_call_kassa(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    with raw.gateway() as gateway:

        class Curious(logging.Handler):
            reports: list[kassa.StatusReport] = []  # noqa: RUF012 (one handler)

            def emit(self, record: logging.LogRecord) -> None:
                assert record.name == "kassa"
                self.reports.append(ask(gateway))

        handler = Curious()
        KASSA.addHandler(handler)
        KASSA.setLevel(logging.DEBUG)
        try:
            ask(gateway)
        finally:
            KASSA.setLevel(logging.NOTSET)
            KASSA.removeHandler(handler)
        assert len(handler.reports) == 1


def test_the_interpreter_may_end_while_calls_end(raw: RawGateway) -> None:
    """Threads of the core that ran Python then would take the process down with them."""
    raw.answers(silence)
    script = f"""
import asyncio, threading
from datetime import timedelta
logging.basicConfig(stream=open("/dev/null", "w"), level=logging.DEBUG)
settings = dict(query_deadline=timedelta(milliseconds=2), query_retries=0)
arguments = ({raw.url!r}, kassa.Credentials("a", "b"))
ended = threading.Semaphore(0)
def ask():
    gateway = kassa.Gateway(*arguments, **settings)
    while True:
        try:
            gateway.qr_status("1")
        except kassa.Unavailable:
            ended.release()
async def ask_in_loop():
    gateway = kassa.AsyncGateway(*arguments, **settings)
    while True:
        try:
            await gateway.qr_status("1")
        except kassa.Unavailable:
            ended.release()
for target in (ask, ask, ask, *[lambda: asyncio.run(ask_in_loop())] * 3):
    threading.Thread(target=target, daemon=True).start()
for _ in range(12):
    ended.acquire()
"""
    for _ in range(5):
        assert run(script, raw.url) == ("", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_child_logs_as_well(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    script = f"""
import os
logging.basicConfig(level=logging.DEBUG)
{ASK}
child = os.fork()
{ASK}
if child:
    assert os.waitpid(child, 0)[1] == 0
"""
    _, stderr = run(script, raw.url)
    assert stderr.count("replied") == 3
