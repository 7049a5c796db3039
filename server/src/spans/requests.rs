//! A span for each request to the server, by its route: the path itself may hold a secret.

use axum::{
    Router,
    extract::{MatchedPath, Request},
    middleware::{Next, from_fn},
    response::Response,
};
use opentelemetry::{global::get_text_map_propagator, trace::TraceContextExt};
use opentelemetry_http::HeaderExtractor;
use tracing::{Instrument, Span, field::Empty, info_span};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{Collector, failed};

impl Collector {
    /// The same routes; each request to them has a span, within the trace of its caller where that has one.
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
    let route = request.extensions().get::<MatchedPath>().map_or("(no route)", MatchedPath::as_str);
    let method = request.method().as_str();
    let span = info_span!(
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
    );
    let headers = HeaderExtractor(request.headers());
    let caller = get_text_map_propagator(|propagator| propagator.extract(&headers));
    if caller.span().span_context().is_valid() {
        // It was not entered yet, so it takes a parent.
        let _ = span.set_parent(caller);
    }
    span
}
