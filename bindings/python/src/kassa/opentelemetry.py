"""Spans and metrics of OpenTelemetry for each request to the gateway. It needs ``opentelemetry-api`` (``pip install
kassa[opentelemetry]``), and does nothing before `instrument` is called.

    from kassa import opentelemetry

    opentelemetry.instrument()

A request is a span, a child of the span in which its call was made; each HTTP request of it is a child of that span. The
names, attributes and metrics are listed in ``docs/telemetry.md``.

Spans are made when a request has ended, with the times at which it began and ended: no exporter runs on a payment's way.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import NamedTuple

from opentelemetry import metrics, trace
from opentelemetry.trace import SpanKind, Status, StatusCode
from opentelemetry.util.types import AttributeValue

from . import telemetry

_NAME = "kassa"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)

# What OpenTelemetry's conventions advise for http.client.request.duration.
_BOUNDARIES = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10)


class _Running(NamedTuple):
    stop: Callable[[], None]


_running: list[_Running] = []


def instrument(
    tracer_provider: trace.TracerProvider | None = None, meter_provider: metrics.MeterProvider | None = None
) -> None:
    """Makes spans and metrics from now on; by default with the program's global providers. Calling it again replaces the
    providers."""
    from . import __version__

    tracer = trace.get_tracer(_NAME, __version__, tracer_provider)
    meter = metrics.get_meter(_NAME, __version__, meter_provider)
    # First the new one: requests under way are recorded for as long as somebody observes.
    before = _running[:]
    _running.append(_Running(telemetry.on_call(_Instruments(tracer, meter).observe)))
    for running in before:
        running.stop()
        _running.remove(running)


def uninstrument() -> None:
    """Ends what `instrument` began. Without it, this does nothing."""
    while _running:
        _running.pop().stop()


class _Instruments:
    def __init__(self, tracer: trace.Tracer, meter: metrics.Meter) -> None:
        self._tracer = tracer
        self._attempts = meter.create_histogram(
            "http.client.request.duration",
            unit="s",
            description="Duration of HTTP client requests.",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )
        self._operations = meter.create_histogram(
            "kassa.client.operation.duration",
            unit="s",
            description="Duration of requests to the payment gateway, with their retries.",
            explicit_bucket_boundaries_advisory=_BOUNDARIES,
        )

    def observe(self, call: telemetry.CompletedCall) -> None:
        # Measured in the context of the span, so that exemplars lead to it.
        with trace.use_span(self._span(call)):
            self._operations.record(call.duration.total_seconds(), _operation_attributes(call))
        for number, attempt in enumerate(call.attempts):
            self._attempts.record(
                attempt.duration.total_seconds(), _request_attributes(call, attempt, number, is_metric=True)
            )

    def _span(self, call: telemetry.CompletedCall) -> trace.Span:
        attributes = _operation_attributes(call)
        if call.order_number is not None:
            attributes["kassa.order"] = call.order_number
        span = self._tracer.start_span(
            call.operation, kind=SpanKind.INTERNAL, attributes=attributes, start_time=_nanoseconds(call.started_at)
        )
        context = trace.set_span_in_context(span)
        for number, attempt in enumerate(call.attempts):
            request = self._tracer.start_span(
                f"{call.method} {call.path}",
                context,
                kind=SpanKind.CLIENT,
                attributes=_request_attributes(call, attempt, number, is_metric=False),
                start_time=_nanoseconds(attempt.started_at),
            )
            _end(request, attempt.error_type, attempt.started_at + attempt.duration)
        _end(span, call.error_type, call.started_at + call.duration)
        return span


def _operation_attributes(call: telemetry.CompletedCall) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {"kassa.operation": call.operation, "kassa.outcome": call.outcome}
    if call.error_type is not None:
        attributes["error.type"] = call.error_type
    return attributes


def _request_attributes(
    call: telemetry.CompletedCall, attempt: telemetry.CallAttempt, number: int, *, is_metric: bool
) -> dict[str, AttributeValue]:
    attributes: dict[str, AttributeValue] = {
        "http.request.method": call.method,
        "server.address": call.server_address,
        "server.port": call.server_port,
    }
    if attempt.http_status is not None:
        attributes["http.response.status_code"] = attempt.http_status
    if attempt.error_type is not None:
        attributes["error.type"] = attempt.error_type
    if not is_metric:
        attributes["url.template"] = call.path
        if number:
            attributes["http.request.resend_count"] = number
    return attributes


def _end(span: trace.Span, error_type: str | None, ended_at: datetime) -> None:
    if error_type is not None:
        span.set_status(Status(StatusCode.ERROR))
    span.end(_nanoseconds(ended_at))


def _nanoseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MICROSECOND * 1000
