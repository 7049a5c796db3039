//! Spans (distributed tracing), by `tracing`: requests to the server, requests to the gateway, deliveries of events, and the
//! transactions within them. Without a collector, a span costs nothing.
//!
//! A span names payments, checkouts and events by their identifiers, and contains no text of payers or shops.

#[cfg(feature = "opentelemetry")]
mod collector;
#[cfg(feature = "opentelemetry")]
mod requests;

use reqwest::header::HeaderMap;
use tracing::{Instrument, Level, Span, field::Empty, info_span, span_enabled};

use crate::values::{CheckoutId, Hidden, PaymentId};

#[cfg(feature = "opentelemetry")]
pub use collector::Collector;

/// A request to the gateway about a payment. The outcome is [recorded](came_of) when it is known.
pub(crate) fn to_gateway(name: &'static str, payment: &PaymentId) -> Span {
    info_span!(
        "gateway",
        otel.name = name,
        otel.kind = "client",
        otel.status_code = Empty,
        kassa.payment = %payment.as_str(),
        kassa.outcome = Empty,
    )
}

/// A delivery of an event to the shop.
pub(crate) fn delivery(event: &str, checkout: &CheckoutId) -> Span {
    info_span!(
        "deliver event",
        otel.kind = "client",
        otel.status_code = Empty,
        kassa.event = event,
        kassa.checkout = %checkout.as_str(),
        kassa.outcome = Empty,
    )
}

/// A transaction within another span. Transactions outside of one, such as workers looking for work, get no span.
pub(crate) fn transaction(database: &'static str, name: &'static str) -> Span {
    if !span_enabled!(Level::INFO) || Span::current().is_none() {
        return Span::none();
    }
    info_span!(
        "transaction",
        otel.name = name,
        otel.kind = "client",
        otel.status_code = Empty,
        db.system.name = database,
        db.operation.name = name,
    )
}

/// Records the outcome, in a word.
pub(crate) fn came_of(span: &Span, outcome: &str, is_failure: bool) {
    span.record("kassa.outcome", outcome);
    if is_failure {
        failed(span);
    }
}

/// Does some work within a span, and marks the span as failed after an error that is a failure.
pub(crate) async fn within<T, E>(
    span: Span,
    work: impl Future<Output = Result<T, E>>,
    is_failure: fn(&E) -> bool,
) -> Result<T, E> {
    let result = work.instrument(span.clone()).await;
    if result.as_ref().is_err_and(is_failure) {
        failed(&span);
    }
    result
}

fn failed(span: &Span) {
    span.record("otel.status_code", "ERROR");
}

/// The headers with which the callee joins the trace (W3C Trace Context).
#[cfg(feature = "opentelemetry")]
pub(crate) fn headers() -> HeaderMap {
    use opentelemetry::global::get_text_map_propagator;
    use opentelemetry_http::HeaderInjector;
    use tracing_opentelemetry::OpenTelemetrySpanExt;

    let mut headers = HeaderMap::new();
    let context = Span::current().context();
    get_text_map_propagator(|propagator| propagator.inject_context(&context, &mut HeaderInjector(&mut headers)));
    headers
}

/// No headers, in a build without tracing.
#[cfg(not(feature = "opentelemetry"))]
pub(crate) fn headers() -> HeaderMap {
    HeaderMap::new()
}

// The settings of the collector of traces.

/// The collector of traces, and its share of them.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CollectorSettings {
    /// The URL that accepts traces by OTLP over HTTP, with its whole path:
    /// `http://127.0.0.1:4318/v1/traces`. It may contain a key.
    pub url: Hidden,
    /// Headers that it requires, usually with a key.
    pub headers: Vec<(String, Hidden)>,
    /// The share of the server's own traces that is sent, from 0 to 1. For a call within a shop's
    /// trace, the shop's decision applies.
    pub sample_ratio: f64,
}

impl CollectorSettings {
    /// All traces, to this address.
    pub fn to(url: impl Into<String>) -> Self {
        Self { url: Hidden::new(url), headers: Vec::new(), sample_ratio: 1.0 }
    }
}
