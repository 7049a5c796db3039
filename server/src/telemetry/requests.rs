//! A span for each request to the server, by its route: the path itself may hold a secret.

use axum::{
    Router,
    extract::{MatchedPath, Request},
    http::{HeaderMap, Method, header::AUTHORIZATION},
    middleware::{Next, from_fn},
    response::Response,
};
use opentelemetry::{
    Context,
    global::get_text_map_propagator,
    trace::{SpanContext, TraceContextExt, TraceState},
};
use opentelemetry_http::HeaderExtractor;
use tracing::{Instrument, Span, field::Empty, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{Collector, failed};
use crate::tokens::KeyRole;

impl Collector {
    /// Adds a span to each request of these routes, within the shop's trace if it called in one.
    pub fn over(&self, routes: Router) -> Router {
        routes.layer(from_fn(answer))
    }
}

async fn answer(request: Request, next: Next) -> Response {
    let span = span_of(&request);
    let response = next.run(request).instrument(span.clone()).await;
    let status = response.status();
    span.record("http.response.status_code", status.as_u16());
    if status.is_server_error() {
        failed(&span);
    }
    response
}

fn span_of(request: &Request) -> Span {
    // A span contains no text of a caller.
    let method = match *request.method() {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::DELETE => "DELETE",
        _ => "_OTHER",
    };
    let route = request.extensions().get::<MatchedPath>().map_or("(no route)", MatchedPath::as_str);
    let span = info_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    if let Some(parent) = parent_of(request.headers()) {
        // It was not entered yet, so it accepts a parent.
        let _ = span.set_parent(parent);
    }
    span
}

/// The shop's span of the call (W3C Trace Context). It is ignored from payers, who could otherwise force the collection of all
/// their requests. Only its two numbers and one bit are used.
fn parent_of(headers: &HeaderMap) -> Option<Context> {
    let credential = headers.get(AUTHORIZATION)?.to_str().ok()?;
    credential.strip_prefix("Bearer ")?.starts_with(KeyRole::Shop.prefix()).then_some(())?;
    let context = get_text_map_propagator(|propagator| propagator.extract(&HeaderExtractor(headers)));
    let found = context.span().span_context().clone();
    let (trace, span, flags) = (found.trace_id(), found.span_id(), found.trace_flags());
    let plain = SpanContext::new(trace, span, flags, true, TraceState::NONE);
    plain.is_valid().then(|| Context::new().with_remote_span_context(plain))
}
