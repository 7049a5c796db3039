"""What is logged, when, and that nothing goes wrong with it."""

from __future__ import annotations

import asyncio
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from raw_gateway import CHARGED, RawGateway, hang_up, silence

import kassa
from kassa import _logs

KASSA = logging.getLogger("kassa")


def ask(gateway: kassa.Gateway, order_number: str = "o-1") -> kassa.StatusReport:
    return gateway.provider_status(order_number, kassa.Provider.MBANK)


def run(script: str, url: str) -> tuple[str, str]:
    """A program of its own, whose logging nobody has set up yet; what it printed."""
    start = f"import logging, kassa\ngateway = kassa.Gateway({url!r}, kassa.Credentials('a', 'b'), query_retries=0)\n"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", start + script], capture_output=True, text=True, timeout=60, check=False
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


def test_asyncio_logs_as_well(raw: RawGateway, records: list[logging.LogRecord]) -> None:
    raw.answers(CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            await gateway.provider_status("o-1", kassa.Provider.MBANK)
            async for _ in gateway.watch(kassa.PaymentRef.mbank("o-2")):
                pass

    asyncio.run(flow())
    assert [record.__dict__["kassa"]["order"] for record in records] == ["o-1", "o-2"]


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
settings = dict(deadline=timedelta(milliseconds=2), query_retries=0)
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
