//! Spans of `tracing`: one for each call, and a child for each HTTP request of it. Their names and fields are those of OpenTelemetry's
//! conventions for HTTP clients, and are listed in `docs/telemetry.md`.
//!
//! A subscriber is the host's code, so spans are made, changed and closed on a thread of their own. The begin and the end of a span are
//! passed on when they happen, so a span's times are right except for that thread's delay.
//!
//! Numbers are `i64`: `tracing-opentelemetry` makes texts of unsigned ones.

use std::{
    cell::RefCell,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, OnceLock},
    time::Duration,
};

use http::Method;
use tracing::{
    Dispatch, Level, Span, debug_span, dispatcher, event, field, level_filters::LevelFilter, subscriber::NoSubscriber,
};

use crate::pipeline::log::TELEMETRY;

/// The target of the events with the metrics. Its own, so that they can be sent elsewhere than the log.
const METRICS: &str = "kassa::metrics";

/// The destination of requests.
#[derive(Clone)]
pub(crate) struct Server {
    pub(crate) address: Arc<str>,
    pub(crate) port: u16,
}

/// How a call ended: the outcome, and the type of the error if it is one. Both have few values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallEnd {
    pub(crate) outcome: &'static str,
    pub(crate) error_type: Option<&'static str>,
}

/// The caller's span, and the subscriber that knows it.
pub(crate) struct Parent(Option<(Dispatch, Span)>);

thread_local! {
    /// The parent of what another thread begins for a caller, such as the later queries of a watch.
    static PARENT: RefCell<Option<Arc<Parent>>> = const { RefCell::new(None) };
}

impl Parent {
    /// The caller's current span. `None` if no subscriber wants the spans, or if its thread is too far behind: what is created here is
    /// dropped on that thread, and must not wait for it without limit.
    ///
    /// The subscriber is called for it on the caller's thread, before the request is checked.
    pub(crate) fn here() -> Option<Arc<Self>> {
        if LevelFilter::current() < LevelFilter::DEBUG {
            return None;
        }
        if let Some(parent) = PARENT.with_borrow(Clone::clone) {
            return Some(parent);
        }
        let dispatch = dispatcher::get_default(Clone::clone);
        if dispatch.is::<NoSubscriber>() || !TELEMETRY.has_room() {
            return None;
        }
        let span = catch_unwind(Span::current).ok()?;
        Some(Arc::new(Self(Some((dispatch, span)))))
    }

    /// Runs something for this caller on another thread.
    pub(crate) fn run<T>(parent: Option<Arc<Self>>, work: impl FnOnce() -> T) -> T {
        let _before = Before(PARENT.replace(parent));
        work()
    }
}

/// Cleanup (RAII guard), also if the work panics.
struct Before(Option<Arc<Parent>>);

impl Drop for Before {
    fn drop(&mut self) {
        PARENT.set(self.0.take());
    }
}

/// Dropping a span calls its subscriber.
impl Drop for Parent {
    fn drop(&mut self) {
        if let Some(parent) = self.0.take() {
            TELEMETRY.run_for_certain(move || drop(parent));
        }
    }
}

/// A span of the telemetry thread: empty before it is created there, or if the subscriber panicked.
type Slot = Arc<OnceLock<Span>>;

/// The spans of one call.
pub(crate) struct CallSpans {
    operation: &'static str,
    parent: Option<Arc<Parent>>,
    call: Slot,
    /// The last attempt that has begun, and its metric's attributes.
    attempt: Option<(Slot, Method, Server)>,
}

impl CallSpans {
    /// `None` if too many jobs wait for the subscriber: the end of a begun span is always passed on.
    pub(crate) fn begin(operation: &'static str) -> Option<Self> {
        let spans = Self { operation, parent: Some(Parent::here()?), call: Slot::default(), attempt: None };
        let call = spans.call.clone();
        let is_begun = spans.later(false, move |parent| {
            let made = debug_span!(
                target: "kassa",
                parent: parent,
                "call",
                otel.name = operation,
                otel.kind = "internal",
                otel.status_code = field::Empty,
                kassa.operation = operation,
                kassa.order = field::Empty,
                kassa.outcome = field::Empty,
                error.type = field::Empty,
            );
            let _ = call.set(made);
        });
        is_begun.then_some(spans)
    }

    pub(crate) fn is_about(&self, order: Arc<str>) {
        let call = self.call.clone();
        self.later(true, move |_| {
            changed(call.get(), |span| {
                span.record("kassa.order", &*order);
            });
        });
    }

    pub(crate) fn attempt_begins(&mut self, attempt: u32, method: Method, path: &'static str, server: Server) {
        let slot = Slot::default();
        self.attempt = Some((slot.clone(), method.clone(), server.clone()));
        let call = self.call.clone();
        self.later(true, move |_| {
            let Some(parent) = call.get() else { return };
            let made = debug_span!(
                target: "kassa",
                parent: parent,
                "http_request",
                otel.name = format_args!("{method} /{path}"),
                otel.kind = "client",
                otel.status_code = field::Empty,
                http.request.method = method.as_str(),
                http.request.resend_count = (attempt > 1).then(|| i64::from(attempt) - 1),
                http.response.status_code = field::Empty,
                url.template = format_args!("/{path}"),
                server.address = &*server.address,
                server.port = i64::from(server.port),
                error.type = field::Empty,
            );
            let _ = slot.set(made);
        });
    }

    pub(crate) fn attempt_ends(&mut self, http_status: Option<u16>, error_type: Option<String>, took: Duration) {
        let Some((slot, method, server)) = self.attempt.take() else { return };
        self.later(true, move |_| {
            changed(slot.get(), |span| {
                if let Some(http_status) = http_status {
                    span.record("http.response.status_code", i64::from(http_status));
                }
                if let Some(error_type) = &error_type {
                    span.record("error.type", error_type.as_str()).record("otel.status_code", "ERROR");
                }
            });
            drop(slot);
            event!(target: METRICS, parent: None, Level::TRACE, {
                histogram.http.client.request.duration = took.as_secs_f64(),
                http.request.method = method.as_str(),
                http.response.status_code = http_status.map(i64::from),
                server.address = &*server.address,
                server.port = i64::from(server.port),
                error.type = error_type,
            });
        });
    }

    /// Ends the spans. An attempt that was cancelled has taken some time, too.
    pub(crate) fn end(mut self, end: CallEnd, took: Duration, cancelled_after: Option<Duration>) {
        if let Some(took) = cancelled_after {
            self.attempt_ends(None, Some(CallEnd::CANCELLED.outcome.to_owned()), took);
        }
        let (slot, operation) = (std::mem::take(&mut self.call), self.operation);
        self.later(true, move |_| {
            changed(slot.get(), |span| {
                span.record("kassa.outcome", end.outcome);
                if let Some(error_type) = end.error_type {
                    span.record("error.type", error_type).record("otel.status_code", "ERROR");
                }
            });
            drop(slot);
            event!(target: METRICS, parent: None, Level::TRACE, {
                histogram.kassa.client.operation.duration = took.as_secs_f64(),
                kassa.operation = operation,
                kassa.outcome = end.outcome,
                error.type = end.error_type,
            });
        });
    }

    /// Runs something on the telemetry thread, with the caller's subscriber and the id of its span. False if the queue has no room.
    fn later(&self, for_certain: bool, job: impl FnOnce(Option<tracing::Id>) + Send + 'static) -> bool {
        let parent = self.parent.clone();
        let job = move || match parent.as_deref() {
            Some(Parent(Some((dispatch, span)))) => dispatcher::with_default(dispatch, || job(span.id())),
            _ => job(None),
        };
        if for_certain {
            TELEMETRY.run_for_certain(job);
            return true;
        }
        TELEMETRY.run(move |_| job())
    }
}

/// A panic in a subscriber must not happen while the span is dropped, which calls it once more.
fn changed(span: Option<&Span>, change: impl FnOnce(&Span)) {
    if let Some(span) = span {
        let _ = catch_unwind(AssertUnwindSafe(|| change(span)));
    }
}
