"""Observers of calls, and the spans and metrics that OpenTelemetry's SDK gets."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import os
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from datetime import timedelta, timezone
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from raw_gateway import CHARGED, CREATED, OPEN, RawGateway, after, card_payment, hang_up, mbank_payment, response

import kassa
from kassa import _logs, opentelemetry
from kassa._core import native
from kassa.testing import FakeFault, FakeGateway


def query(gateway: kassa.Gateway, order_number: str = "o-1") -> kassa.StatusReport:
    return gateway.provider_status(order_number, kassa.Provider.MBANK)


@pytest.fixture(autouse=True)
def _no_logging() -> Iterator[None]:
    """Pytest's own handlers listen otherwise: observers need no log."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@contextmanager
def observing(observer: Callable[[kassa.CompletedCall], object]) -> Generator[None]:
    stop = kassa.on_call(observer)
    try:
        yield
    finally:
        stop()


@pytest.fixture
def calls() -> Iterator[list[kassa.CompletedCall]]:
    calls = list[kassa.CompletedCall]()
    with observing(calls.append):
        yield calls


def test_call_is_recorded_with_its_attempts(raw: RawGateway, calls: list[kassa.CompletedCall]) -> None:
    raw.answers(hang_up, response(503, "{}"), CHARGED)
    with raw.gateway() as gateway:
        query(gateway)
    (call,) = calls
    assert (call.operation, call.order_number, call.outcome, call.error_type) == (
        "provider_status",
        "o-1",
        "charged",
        None,
    )
    assert (call.method, call.path) == ("POST", "/api/v1.1.0/get-status")
    assert f"http://{call.server_address}:{call.server_port}" == raw.url
    assert [(attempt.http_status, attempt.error_type) for attempt in call.attempts] == [
        (None, "lost"),
        (503, "503"),
        (200, None),
    ]
    assert call.started_at.tzinfo is timezone.utc
    ends = [attempt.started_at + attempt.duration for attempt in call.attempts]
    assert call.started_at <= call.attempts[0].started_at <= ends[0] <= call.attempts[1].started_at
    assert ends[-1] <= call.started_at + call.duration + timedelta(microseconds=3)


def test_refused_and_an_invalid_call_are_recorded(calls: list[kassa.CompletedCall]) -> None:
    fake = FakeGateway()
    fake.fail_next(FakeFault.refused("51", "no money"))
    with pytest.raises(kassa.Refused):
        fake.gateway.create_mbank_payment(mbank_payment())
    with pytest.raises(kassa.Invalid):
        fake.gateway.create_mbank_payment(mbank_payment(phone="4111111111111111"))
    assert [(call.outcome, call.error_type, len(call.attempts)) for call in calls] == [
        ("refused", None, 1),
        ("invalid", "Invalid", 0),
    ]


def test_without_an_observer_nothing_is_recorded(raw: RawGateway, calls: list[kassa.CompletedCall]) -> None:
    raw.answers(CHARGED)
    del calls[:]
    for observer in _logs.Observers.all:
        _logs.stop_observing(observer)
    assert _logs.begin() is None, "nor is a context copied"
    with raw.gateway() as gateway:
        query(gateway)
    assert native.take_log_events([0], []).completed == ()
    assert calls == []


def test_observers_of_two_threads_replace_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last observer ends, and in the middle of that another thread begins one."""
    is_ending, other_waits = threading.Event(), threading.Event()
    keep = native.keep_completed_calls

    def slowly(is_kept: bool) -> None:
        keep(is_kept)
        if not is_kept:
            is_ending.set()
            other_waits.wait(1)

    monkeypatch.setattr(native, "keep_completed_calls", slowly)
    stop = kassa.on_call(lambda _: None)
    ending = threading.Thread(target=stop)
    ending.start()
    is_ending.wait()
    began = list[Callable[[], None]]()
    other = threading.Thread(target=lambda: began.append(kassa.on_call(lambda _: None)))
    other.start()
    other.join(0.1)
    other_waits.set()
    ending.join()
    other.join()
    try:
        assert len(_logs.Observers.all) == 1
    finally:
        began[0]()


def test_observer_comes_while_a_watch_waits(raw: RawGateway) -> None:
    """The gateway's second response is held back until the first query was observed."""
    observed = threading.Event()
    raw.answers(OPEN, after(observed, CHARGED))
    with observing(lambda _: observed.set()), raw.gateway() as gateway:
        watch = gateway.watch(kassa.PaymentRef.mbank("o-1", 250), kassa.PollPolicy(interval=0.01))
        assert isinstance(watch.outcome(), kassa.Charged)


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_observer_that_raises_harms_nothing(
    error: type[BaseException], raw: RawGateway, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(call: kassa.CompletedCall) -> None:
        raise error(f"cannot take {call.operation}")

    raw.answers(CHARGED)
    calls = list[kassa.CompletedCall]()
    with observing(broken), observing(calls.append), raw.gateway() as gateway:
        assert query(gateway).status == kassa.PaymentStatus.CHARGED
    assert capsys.readouterr().err.count("cannot take provider_status") == 1
    assert len(calls) == 1, "the next observer gets it all the same"


def test_each_call_is_observed_in_its_own_context(raw: RawGateway) -> None:
    of_request: contextvars.ContextVar[str] = contextvars.ContextVar("of_request")
    seen = dict[str | None, str]()

    def observer(call: kassa.CompletedCall) -> None:
        seen[call.order_number] = of_request.get("nobody's")

    async def one(gateway: kassa.AsyncGateway, order: str) -> None:
        of_request.set(f"request of {order}")
        await gateway.provider_status(order, kassa.Provider.MBANK)

    async def all_at_once() -> None:
        async with raw.async_gateway() as gateway:
            await asyncio.gather(*(one(gateway, f"o-{number}") for number in range(20)))

    raw.answers(CHARGED)
    with observing(observer):
        asyncio.run(all_at_once())
    assert seen == {f"o-{number}": f"request of o-{number}" for number in range(20)}


def test_payment_that_lost_its_caller_is_observed(raw: RawGateway, calls: list[kassa.CompletedCall]) -> None:
    go_on = threading.Event()
    raw.answers(after(go_on, CREATED))

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            paying = asyncio.create_task(gateway.create_mbank_payment(mbank_payment()))
            await asyncio.to_thread(raw.received.acquire)
            paying.cancel()
            with pytest.raises(asyncio.CancelledError):
                await paying
            assert calls == []
            go_on.set()

    asyncio.run(flow())
    assert [(call.operation, call.outcome) for call in calls] == [("mbank_payment", "accepted")]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_forked_child_observes_its_own_calls(raw: RawGateway, calls: list[kassa.CompletedCall]) -> None:
    raw.answers(CHARGED)
    with raw.gateway() as gateway:
        query(gateway, "of the parent")
        child = os.fork()
        if child == 0:
            query(gateway, "of the child")
            os._exit(0 if [call.order_number for call in calls] == ["of the parent", "of the child"] else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(calls) == 1


def test_what_is_no_function_is_refused() -> None:
    nothing: Any = None
    with pytest.raises(TypeError, match="observer"):
        kassa.on_call(nothing)


# docs: begin hook
def report_unknown_outcomes(report: Callable[[str], None]) -> Callable[[], None]:
    """Reports each payment whose outcome is unknown. Call the result to stop."""

    def observe(call: kassa.CompletedCall) -> None:
        if call.outcome == "unknown":
            report(f"{call.operation} of {call.order_number}: unknown after {call.duration.total_seconds():.1f} s")

    return kassa.on_call(observe)


# docs: end hook


def test_documented_hook_reports_unknown_outcomes() -> None:
    fake = FakeGateway()
    reports = list[str]()
    stop = report_unknown_outcomes(reports.append)
    fake.gateway.create_mbank_payment(mbank_payment())
    fake.fail_next(FakeFault.RESPONSE_LOST)
    with pytest.raises(kassa.OutcomeUnknown):
        fake.gateway.create_mbank_payment(mbank_payment(order_number="order-1"))
    stop()
    assert reports == ["mbank_payment of order-1: unknown after 0.0 s"]


# OpenTelemetry.


# docs: begin setup
def set_up(traces: TracerProvider, meters: MeterProvider) -> None:
    """Once, when the program starts. Without arguments, the program's global providers are used."""
    opentelemetry.instrument(traces, meters)


# docs: end setup


class Recorded:
    def __init__(self) -> None:
        self._spans = InMemorySpanExporter()
        self._metrics = InMemoryMetricReader()
        self.traces = TracerProvider()
        self.traces.add_span_processor(SimpleSpanProcessor(self._spans))
        self.meters = MeterProvider([self._metrics])

    def spans(self) -> dict[str, ReadableSpan]:
        return {span.name: span for span in self._spans.get_finished_spans()}

    def all_spans(self) -> tuple[ReadableSpan, ...]:
        return self._spans.get_finished_spans()

    def measured(self) -> list[tuple[str, int, dict[str, Any]]]:
        """How often each metric was measured, by its attributes."""
        data: Any = self._metrics.get_metrics_data()
        return [
            (metric.name, point.count, dict(point.attributes))
            for of_resource in data.resource_metrics
            for of_scope in of_resource.scope_metrics
            for metric in of_scope.metrics
            for point in metric.data.data_points
        ]


@pytest.fixture
def recorded() -> Iterator[Recorded]:
    recorded = Recorded()
    set_up(recorded.traces, recorded.meters)
    yield recorded
    opentelemetry.uninstrument()


def test_charged_payment_is_in_its_callers_trace(recorded: Recorded) -> None:
    fake = FakeGateway()
    gateway = fake.gateway
    with recorded.traces.get_tracer("shop").start_as_current_span("checkout") as caller:
        created = gateway.create_mbank_payment(mbank_payment(order_number="order-1"))
        gateway.confirm_mbank_payment(created.payment, fake.otp)
        assert isinstance(gateway.check(created.payment), kassa.Charged)
        assert trace.get_current_span() is caller
    spans = recorded.spans()
    for operation, outcome in (
        ("mbank_payment", "accepted"),
        ("mbank_confirm", "accepted"),
        ("provider_status", "charged"),
    ):
        span: Any = spans[operation]
        assert span.parent.span_id == caller.get_span_context().span_id
        assert (span.kind, span.status.status_code) == (SpanKind.INTERNAL, StatusCode.UNSET)
        assert dict(span.attributes) == {
            "kassa.operation": operation,
            "kassa.outcome": outcome,
            "kassa.order": "order-1",
        }
    request: Any = spans["POST /api/v1.1.0/get-status"]
    call: Any = spans["provider_status"]
    assert request.parent.span_id == call.get_span_context().span_id
    assert request.kind == SpanKind.CLIENT
    assert dict(request.attributes) == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "server.address": "fake.example",
        "server.port": 443,
        "url.template": "/api/v1.1.0/get-status",
    }
    assert call.start_time <= request.start_time <= request.end_time <= call.end_time
    shown = "".join(span.to_json() for span in recorded.all_spans())
    for secret in ("996555000101", fake.otp):
        assert secret not in shown


def test_metrics_have_outcomes_and_no_orders(recorded: Recorded) -> None:
    fake = FakeGateway()

    def pay(number: int) -> None:
        fake.gateway.create_mbank_payment(mbank_payment(order_number=f"order-{number}"))

    for number in (1, 2):
        pay(number)
    fake.fail_next(FakeFault.refused("51", "no money"))
    with pytest.raises(kassa.Refused):
        pay(3)
    fake.fail_next(FakeFault.RESPONSE_LOST)
    with pytest.raises(kassa.OutcomeUnknown):
        pay(4)
    request = {"http.request.method": "POST", "server.address": "fake.example", "server.port": 443}
    operation = {"kassa.operation": "mbank_payment"}
    name, http = "kassa.client.operation.duration", "http.client.request.duration"
    expected: list[tuple[str, int, dict[str, Any]]] = [
        (name, 2, {**operation, "kassa.outcome": "accepted"}),
        (name, 1, {**operation, "kassa.outcome": "refused"}),
        (name, 1, {**operation, "kassa.outcome": "unknown", "error.type": "OutcomeUnknown"}),
        (http, 2, {**request, "http.response.status_code": 200}),
        (http, 1, {**request, "http.response.status_code": 400, "error.type": "400"}),
        (http, 1, {**request, "error.type": "lost"}),
    ]
    measured = recorded.measured()
    assert sorted(measured, key=repr) == sorted(expected, key=repr)
    calls: list[Any] = [span for span in recorded.all_spans() if span.name == "mbank_payment"]
    by_order = {call.attributes["kassa.order"]: call.status.status_code for call in calls}
    assert by_order["order-3"] == StatusCode.UNSET, "a refusal is an answer"
    assert by_order["order-4"] == StatusCode.ERROR


def test_every_retry_is_a_span_of_an_awaited_call(raw: RawGateway, recorded: Recorded) -> None:
    raw.answers(hang_up, hang_up, CHARGED)

    async def flow() -> None:
        async with raw.async_gateway() as gateway:
            with recorded.traces.get_tracer("shop").start_as_current_span("status page"):
                await gateway.provider_status("o-1", kassa.Provider.MBANK)

    asyncio.run(flow())
    *requests, call, caller = recorded.all_spans()
    parent: Any = call.parent
    assert parent == caller.get_span_context()
    attributes: list[Any] = [request.attributes for request in requests]
    assert [each.get("http.request.resend_count") for each in attributes] == [None, 1, 2]
    assert [each.get("error.type") for each in attributes] == ["lost", "lost", None]
    assert [request.status.status_code for request in requests] == [
        StatusCode.ERROR,
        StatusCode.ERROR,
        StatusCode.UNSET,
    ]


def test_instrument_again_replaces_the_providers(raw: RawGateway, recorded: Recorded) -> None:
    other = Recorded()
    opentelemetry.instrument(other.traces, other.meters)
    raw.answers(CHARGED)
    with raw.gateway() as gateway:
        query(gateway)
        opentelemetry.uninstrument()
        query(gateway)
        opentelemetry.uninstrument()
    assert (len(recorded.all_spans()), len(other.all_spans())) == (0, 2)
    assert _logs.Observers.all == ()


def test_card_leaves_no_trace(recorded: Recorded) -> None:
    fake = FakeGateway()
    fake.fail_next(FakeFault.RESPONSE_LOST)
    with pytest.raises(kassa.OutcomeUnknown):
        fake.gateway.create_card_payment(card_payment())
    shown = "".join(span.to_json() for span in recorded.all_spans()) + repr(recorded.measured())
    assert "card_payment" in shown
    for secret in ("4111111111111111", "1111", "Aibek"):
        assert secret not in shown
