"""What is logged, when, and that nothing goes wrong with it."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import json
import logging
import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Collection, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timezone
from typing import Any, Protocol, TypeVar

import pytest
import structlog
import trio
from conformance.patience import PATIENCE
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from raw_gateway import CHARGED, CREATED, Answer, RawGateway, after, card_payment, hang_up, mbank_payment, silence

import kassa
from kassa import _boundary, _log_timer, _logs
from kassa._core import native
from kassa.testing import FakeGateway

KASSA = logging.getLogger("kassa")

T = TypeVar("T", bound=logging.Handler)


def query(gateway: kassa.Gateway, order_number: str = "o-1") -> kassa.StatusReport:
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
from kassa._core import native
assert native.take_log_events([0, 1], []).events == ()
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
    assert stderr.splitlines()[0].startswith("DEBUG kassa responded endpoint=")
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


def test_record_says_what_happened_and_when(raw: RawGateway, records: list[logging.LogRecord]) -> None:
    raw.answers(hang_up, CHARGED)
    before = time.time()
    with raw.gateway() as gateway:
        query(gateway, "logged-1")
    failed, responded = records
    assert (failed.levelno, responded.levelno) == (logging.WARNING, logging.DEBUG)
    assert failed.getMessage().startswith("no response ")
    fields: dict[str, str | int] = responded.__dict__["kassa"]
    assert (fields["endpoint"], fields["order"]) == ("provider_status", "logged-1")
    # Numbers, so that a log store can count and compare them.
    assert (fields["http_status"], fields["attempt"]) == (200, 2)
    assert {type(fields["duration_ms"]), type(failed.__dict__["kassa"]["duration_ms"])} == {int}
    assert before - 0.001 <= failed.created <= responded.created <= time.time()
    assert 0 <= responded.msecs < 1000


class Releasing(logging.Handler):
    """Lets the gateway's next response go once a line has come. Where lines came only after the call, the call would end by its
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
    query(gateway)


def in_another_thread(gateway: kassa.Gateway) -> None:
    with ThreadPoolExecutor(1, "caller") as pool:
        pool.submit(query, gateway).result()


def in_a_watch(gateway: kassa.Gateway) -> None:
    """Its first query fails, and the next is the one that is held back."""
    watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(interval=0.01, deadline=PATIENCE))
    assert isinstance(watch.outcome(), kassa.Charged)


@pytest.mark.parametrize("way", [in_main_thread, in_another_thread, in_a_watch])
def test_lines_come_while_a_call_waits(raw: RawGateway, way: Callable[[kassa.Gateway], None]) -> None:
    with listening(Releasing()) as heard, raw.gateway() as gateway:
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        way(gateway)
    assert [text.partition(" endpoint=")[0] for text in heard.texts] == ["no response", "responded"]
    assert len(heard.threads) == 1
    assert heard.threads < {"MainThread", "caller_0"}, "not one of the core's"


@pytest.mark.parametrize("listens", {_boundary.listens_to_descriptors, False})
def test_lines_come_while_asyncio_waits(raw: RawGateway, listens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_boundary, "listens_to_descriptors", listens)
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
    assert [text.partition(" endpoint=")[0] for text in heard.texts] == ["no response", "responded"]
    assert contexts == ["this one", "this one"]


def test_event_loop_that_is_not_listened_to_has_no_timer(raw: RawGateway) -> None:
    raw.answers(CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            await gateway.provider_status("o-1", kassa.Provider.MBANK)
            assert asyncio.get_running_loop() not in _log_timer.timers
            assert _logs.begin() is None, "nor is a context copied"

    # The tests' own handlers listen otherwise.
    logging.disable(logging.CRITICAL)
    try:
        asyncio.run(flow())
    finally:
        logging.disable(logging.NOTSET)


def test_handler_that_fails_while_a_call_waits_hides_no_answer(
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
        assert query(gateway).status == kassa.PaymentStatus.CHARGED
        heard.go_on.clear()
        raw.answers(hang_up, after(heard.go_on, CHARGED))
        assert asyncio.run(flow()).status == kassa.PaymentStatus.CHARGED
    assert capsys.readouterr().err.count("cannot take WARNING") == 2


# Whose context a line comes in.

MANY = 50
ORDERS = [f"o-{number}" for number in range(MANY)]
of_request: contextvars.ContextVar[str] = contextvars.ContextVar("of_request", default="nobody's")


class Program(Protocol):
    """What a program binds to the context of a request, and finds there for each line."""

    def bound(self, order: str) -> AbstractContextManager[object]: ...

    def whose(self, record: logging.LogRecord) -> object: ...


class WithVariable:
    @contextmanager
    def bound(self, order: str) -> Generator[None]:
        of_request.set(order)
        yield

    def whose(self, record: logging.LogRecord) -> object:  # noqa: ARG002
        return of_request.get()


class WithStructlog:
    def __init__(self) -> None:
        self._formatter = structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.contextvars.merge_contextvars],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(),
            ],
        )

    @contextmanager
    def bound(self, order: str) -> Generator[None]:
        structlog.contextvars.bind_contextvars(request=order)
        yield

    def whose(self, record: logging.LogRecord) -> object:
        return json.loads(self._formatter.format(record)).get("request")


class WithOpenTelemetry(logging.Filter):
    """A filter that writes the trace's identifier into each record."""

    def __init__(self) -> None:
        super().__init__()
        self._tracer = TracerProvider(shutdown_on_exit=False).get_tracer("shop")
        self._orders: dict[int, str] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        record.__dict__["trace_id"] = trace.get_current_span().get_span_context().trace_id
        return True

    @contextmanager
    def bound(self, order: str) -> Generator[None]:
        with self._tracer.start_as_current_span(order) as span:
            self._orders[span.get_span_context().trace_id] = order
            yield

    def whose(self, record: logging.LogRecord) -> object:
        return self._orders.get(record.__dict__["trace_id"])


class ByOrder(logging.Handler):
    """The attempt and the context of each line, by the order that it tells of. The gateway responds once every request that was
    hung up on has had its line."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.lines: dict[str, list[tuple[object, object]]] = {order: [] for order in ORDERS}
        self._program = program
        self._hung_up = 0
        if isinstance(program, logging.Filter):
            self.addFilter(program)

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = record.__dict__["kassa"]
        self.lines[fields["order"]].append((fields["attempt"], self._program.whose(record)))
        self._hung_up += record.levelno == logging.WARNING
        if self._hung_up == MANY:
            self.go_on.set()


def hang_up_on_the_first(many: int, answer: Answer) -> Answer:
    left = [None] * many

    def hang_up_or_answer(connection: socket.socket) -> None:
        try:
            left.pop()
        except IndexError:
            answer(connection)
        else:
            hang_up(connection)

    return hang_up_or_answer


def patient() -> dict[str, object]:
    return {"query_retries": 2 * MANY, "query_deadline": PATIENCE}


def in_tasks(raw: RawGateway, program: Program) -> None:
    async def flow() -> None:
        async with raw.async_gateway(**patient()) as gateway:

            async def one(order: str) -> None:
                with program.bound(order):
                    await gateway.provider_status(order, kassa.Provider.MBANK)

            await asyncio.gather(*map(one, ORDERS))

    asyncio.run(flow())


def in_trio(raw: RawGateway, program: Program) -> None:
    async def flow() -> None:
        async with raw.async_gateway(**patient()) as gateway, trio.open_nursery() as nursery:

            async def one(order: str) -> None:
                with program.bound(order):
                    await gateway.provider_status(order, kassa.Provider.MBANK)

            for order in ORDERS:
                nursery.start_soon(one, order)

    trio.run(flow)


def in_threads(raw: RawGateway, program: Program) -> None:
    with raw.gateway(**patient()) as gateway:

        def one(order: str) -> None:
            with program.bound(order):
                query(gateway, order)

        threads = [threading.Thread(target=one, args=(order,)) for order in ORDERS]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("way", [in_tasks, in_threads, in_trio])
@pytest.mark.parametrize("program", [WithVariable, WithStructlog, WithOpenTelemetry])
def test_every_line_comes_in_the_context_of_its_own_call(
    raw: RawGateway, way: Callable[[RawGateway, Program], None], program: Callable[[], Program]
) -> None:
    binding = program()
    with listening(ByOrder(binding)) as heard:
        raw.answers(hang_up_on_the_first(MANY, after(heard.go_on, CHARGED)))
        way(raw, binding)
    assert sum(map(len, heard.lines.values())) == 2 * MANY
    for order, lines in heard.lines.items():
        assert lines == [(attempt, order) for attempt in range(1, len(lines) + 1)], "and in order"


class Whose(logging.Handler):
    """What each line says, and whose context it comes in."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.getMessage().partition(" endpoint=")[0], of_request.get()))


@contextmanager
def nothing_is_kept() -> Generator[None]:
    """In the end. What was given up ends on the core's threads."""
    before = set(_logs.ended)
    yield
    too_late = time.monotonic() + PATIENCE
    while _logs.ended.keys() - before:
        assert time.monotonic() < too_late, "calls that are over are kept"
        _logs.look(())


def test_abandoned_payment_logs_in_its_own_context(raw: RawGateway) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED), CHARGED)

    async def flow() -> None:
        async with raw.async_gateway(payment_deadline=2 * PATIENCE) as gateway:

            async def pay() -> None:
                of_request.set("the payment's")
                await gateway.create_card_payment(card_payment())

            paying = asyncio.create_task(pay())
            await asyncio.to_thread(raw.received.acquire)
            before = set(_logs.ended)
            paying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await paying
            assert len(_logs.ended.keys() - before) == 1, "it goes on"
            await gateway.provider_status("o-1", kassa.Provider.MBANK)
            go_on.set()

    with listening(Whose()) as heard, nothing_is_kept():
        # Closing waits for the payment, and hands on what it has logged.
        asyncio.run(flow())
    nobody_waits = "the payment has its response, but its caller has stopped waiting"
    assert heard.lines == [("responded", "nobody's"), ("responded", "the payment's"), (nobody_waits, "the payment's")]


def test_watch_logs_in_the_context_of_whoever_waits_for_it(raw: RawGateway) -> None:
    """It asks only meanwhile; also where it was made elsewhere."""
    raw.answers(hang_up, CHARGED)
    with listening(Whose()) as heard, raw.gateway() as gateway:
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(interval=0.01))
        caller = contextvars.copy_context()
        caller.run(of_request.set, "the watcher's")
        assert isinstance(caller.run(watch.outcome), kassa.Charged)
    assert heard.lines == [("no response", "the watcher's"), ("responded", "the watcher's")]


class Request:
    """What a program may bind, and must not find again."""


of_program: contextvars.ContextVar[Request] = contextvars.ContextVar("of_program")


def test_nothing_is_kept_of_calls_that_are_over() -> None:
    fake = FakeGateway()
    payment = fake.gateway.create_mbank_payment(mbank_payment()).payment
    requests: weakref.WeakSet[Request] = weakref.WeakSet()

    async def one() -> None:
        of_program.set(Request())
        requests.add(of_program.get())
        await fake.async_gateway.check(payment)

    async def flow() -> None:
        calls = [asyncio.create_task(one()) for _ in range(1000)]
        await asyncio.sleep(0)
        for call in calls[::3]:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        assert not _log_timer.timers[asyncio.get_running_loop()].waiting

    with listening(Releasing()) as heard, nothing_is_kept():
        asyncio.run(flow())
    assert len(heard.texts) >= 1000 - len(range(0, 1000, 3))
    gc.collect()
    assert len(requests) == 0


def an_event(text: str) -> object:
    """As the core keeps one."""
    event = native.LogEvent(level=native.LogLevel.DEBUG, text=text)
    return native.KeptLogEvent(event=event, call=0, at=datetime.now(timezone.utc), fields={}, numbers={})


def test_ctrl_c_in_a_handler_ends_the_call_and_loses_no_line(raw: RawGateway) -> None:
    class Interrupted(Releasing):
        def emit(self, record: logging.LogRecord) -> None:
            super().emit(record)
            if record.getMessage() == "interrupted here":
                raise KeyboardInterrupt

    with listening(Interrupted()) as heard, raw.gateway() as gateway:
        raw.answers(silence)
        _logs.no_call.taken.extend([an_event("interrupted here"), an_event("comes later")])
        with pytest.raises(KeyboardInterrupt):
            query(gateway)
        raw.answers(CHARGED)
        query(gateway)
    assert heard.texts[:2] == ["interrupted here", "comes later"]
    assert heard.texts[2].startswith("responded")


def test_log_handler_calling_kassa_does_not_recurse(raw: RawGateway, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its calls brings a line. Handed on while the first call still waits, they would bring calls without end."""
    with raw.gateway() as gateway:

        class Curious(Releasing):
            def emit(self, record: logging.LogRecord) -> None:
                self.texts.append(record.getMessage())
                # The first request has come, so the held back response is not for this one.
                raw.received.acquire()
                query(gateway)

        def look(calls: Collection[_logs.CallLog]) -> None:
            look_at_it(calls)
            looks.append(len(heard.texts))
            if len(looks) == 5:
                heard.go_on.set()

        looks: list[int] = []
        look_at_it = _logs.look
        monkeypatch.setattr(_logs, "look", look)
        with listening(Curious()) as heard:
            raw.answers(after(heard.go_on, CHARGED), CHARGED)
            _logs.no_call.taken.append(an_event("the first"))
            query(gateway)
    assert looks[4] == 1


def test_handler_may_wait_for_a_lock_that_another_caller_holds(raw: RawGateway) -> None:
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
            other = pool.submit(query, gateway)
            heard.go_on.wait()
            query(gateway)
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
        query(gateway)
        assert left == []
        query(gateway)
        assert len(left) == 1
        logging.disable(logging.CRITICAL)
        try:
            query(gateway)
        finally:
            logging.disable(logging.NOTSET)
    assert len(left) == 1
    assert records == []


def test_handler_that_raises_hides_no_answer(raw: RawGateway, capsys: pytest.CaptureFixture[str]) -> None:
    class Broken(logging.Handler):
        def handle(self, record: logging.LogRecord) -> bool:
            raise RuntimeError(f"cannot take {record.levelname}")

    raw.answers(CHARGED)
    handler = Broken()
    KASSA.addHandler(handler)
    KASSA.setLevel(logging.DEBUG)
    try:
        with raw.gateway() as gateway:
            assert query(gateway).status == kassa.PaymentStatus.CHARGED
    finally:
        KASSA.setLevel(logging.NOTSET)
        KASSA.removeHandler(handler)
    assert "cannot take DEBUG" in capsys.readouterr().err


def test_handler_may_call_kassa(raw: RawGateway) -> None:
    raw.answers(CHARGED)
    with raw.gateway() as gateway:

        class Curious(logging.Handler):
            reports: list[kassa.StatusReport] = []  # noqa: RUF012 (one handler)

            def emit(self, record: logging.LogRecord) -> None:
                assert record.name == "kassa"
                self.reports.append(query(gateway))

        handler = Curious()
        KASSA.addHandler(handler)
        KASSA.setLevel(logging.DEBUG)
        try:
            query(gateway)
        finally:
            KASSA.setLevel(logging.NOTSET)
            KASSA.removeHandler(handler)
        assert len(handler.reports) == 1


def test_interpreter_may_end_while_calls_end(raw: RawGateway) -> None:
    """Threads of the core that ran Python then would take the process down with them."""
    raw.answers(silence)
    script = f"""
import asyncio, threading
from datetime import timedelta
logging.basicConfig(stream=open("/dev/null", "w"), level=logging.DEBUG)
settings = dict(query_deadline=timedelta(milliseconds=2), query_retries=0)
arguments = ({raw.url!r}, kassa.Credentials("a", "b"))
ended = threading.Semaphore(0)
def query():
    gateway = kassa.Gateway(*arguments, **settings)
    while True:
        try:
            gateway.qr_status("1")
        except kassa.Unavailable:
            ended.release()
async def query_in_loop():
    gateway = kassa.AsyncGateway(*arguments, **settings)
    while True:
        try:
            await gateway.qr_status("1")
        except kassa.Unavailable:
            ended.release()
for target in (query, query, query, *[lambda: asyncio.run(query_in_loop())] * 3):
    threading.Thread(target=target, daemon=True).start()
for _ in range(12):
    ended.acquire()
"""
    for _ in range(5):
        assert run(script, raw.url) == ("", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_forked_child_logs_as_well(raw: RawGateway) -> None:
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
    assert stderr.count("responded") == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_what_a_fork_has_copied_is_handed_on_once(raw: RawGateway) -> None:
    """Also where a handler forks, with lines after its own."""
    raw.answers(CHARGED)
    script = f"""
import os
from datetime import datetime, timezone
from kassa import _logs
from kassa._core import native
logging.basicConfig(level=logging.DEBUG)
children = []

class Forking(logging.Handler):
    def emit(self, record):
        if record.getMessage() == "first":
            children.append(os.fork())

logging.getLogger().addHandler(Forking())
{ASK}
for text in ("first", "second"):
    event = native.LogEvent(level=native.LogLevel.DEBUG, text=text)
    now = datetime.now(timezone.utc)
    _logs.no_call.taken.append(native.KeptLogEvent(event=event, call=0, at=now, fields={{}}, numbers={{}}))
_logs.look(())
if children[0]:
    assert os.waitpid(children[0], 0)[1] == 0
{ASK}
"""
    _, stderr = run(script, raw.url)
    assert [stderr.count(text) for text in ("first", "second", "responded")] == [1, 1, 3]
