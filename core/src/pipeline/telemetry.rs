//! Telemetry: records each call with its attempts, for observers in other languages and for subscribers of `tracing`.
//!
//! No code of the host runs during a call: a record is passed on when its call has ended, and spans live on their own thread
//! (`pipeline::spans`). Without observers, a call only reads two static values (`docs/telemetry.md`).

use std::{
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, SystemTime},
};

use http::Method;
use tokio::time::Instant;
use tracing::level_filters::LevelFilter;

use crate::{
    config::endpoint::Endpoint,
    error::PaymentError,
    pipeline::{
        log::{Caller, as_call, running_call},
        spans::{CallEnd, CallSpans, Parent, Server},
    },
    response::Response,
    transport::{Failure, Request, Transport},
};

/// A call that has ended, with all its attempts. It contains neither secrets nor bodies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub struct CompletedCall {
    /// The operation, as in the log: the name of the gateway's endpoint.
    pub operation: String,
    /// The order number, if the log has one.
    pub order_number: Option<String>,
    /// The outcome: one word of the table in `docs/telemetry.md`.
    pub outcome: String,
    /// The kind of the error; absent if the gateway answered, also with a refusal.
    pub error_type: Option<String>,
    /// The HTTP method of its requests.
    pub method: String,
    /// The path of its requests below the gateway's base address, without a query.
    pub path: String,
    /// The host of the gateway.
    pub server_address: String,
    /// The port of the gateway.
    pub server_port: u16,
    /// When it began.
    pub started_at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// Each request that was sent or attempted for it.
    pub attempts: Vec<CallAttempt>,
}

/// One HTTP request of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
pub struct CallAttempt {
    /// When it began.
    pub started_at: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// The HTTP status of its response, if any.
    pub http_status: Option<u16>,
    /// Why it failed: an HTTP status from 400 on, or why no response arrived.
    pub error_type: Option<String>,
}

/// Takes a call that has ended. It must return at once.
pub(crate) type OnCompleted = Box<dyn FnOnce(CompletedCall) + Send + Sync>;

/// Finds the observer of a call by the call's number. There is only one such function; the first one stays.
static FIND_OBSERVER: OnceLock<fn(call: u64) -> Option<OnCompleted>> = OnceLock::new();

/// Sets the function that finds the observer of a call.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub(crate) fn observe_by(find: fn(call: u64) -> Option<OnCompleted>) {
    FIND_OBSERVER.get_or_init(|| find);
}

/// The context of a call for work on another thread: its number, and its caller's span.
#[derive(Clone)]
pub(crate) struct CallContext {
    number: u64,
    parent: Option<Arc<Parent>>,
}

impl CallContext {
    pub(crate) fn here() -> Self {
        Self { number: running_call(), parent: Parent::here() }
    }

    pub(crate) fn run<T>(self, work: impl FnOnce() -> T) -> T {
        as_call(self.number, || Parent::run(self.parent, work))
    }
}

impl CallEnd {
    pub(crate) const CANCELLED: Self = Self { outcome: CANCELLED, error_type: None };

    pub(crate) fn answered(outcome: &'static str) -> Self {
        Self { outcome, error_type: None }
    }

    /// A refusal is an answer of the gateway, and not an error of the call.
    pub(crate) fn failed(error: &PaymentError) -> Self {
        let outcome = match error {
            PaymentError::Invalid { .. } => "invalid",
            PaymentError::Misconfigured { .. } => "misconfigured",
            PaymentError::Unauthorized { .. } => "unauthorized",
            PaymentError::Unavailable { .. } => "unavailable",
            PaymentError::Refused { .. } => return Self::answered("refused"),
            PaymentError::OutcomeUnknown { .. } => "unknown",
            PaymentError::Unexpected { .. } => "unexpected",
            PaymentError::DeadlineExpired { .. } => "pending",
        };
        Self { outcome, error_type: Some(error.kind()) }
    }
}

const CANCELLED: &str = "cancelled";

/// The record of one call, from its begin to its end. A call that is dropped before its end was cancelled.
pub(crate) struct Recording {
    endpoint: &'static Endpoint,
    server: Server,
    started_at: SystemTime,
    started: Instant,
    transport: Arc<dyn Transport>,
    state: Mutex<State>,
    // The last field: the call is in flight until its record was passed on.
    _caller: Caller,
}

struct State {
    order: Option<Arc<str>>,
    method: Method,
    attempts: Vec<Attempt>,
    observer: Option<OnCompleted>,
    spans: Option<CallSpans>,
}

struct Attempt {
    started: Instant,
    duration: Option<Duration>,
    http_status: Option<u16>,
    error_type: Option<String>,
}

impl Recording {
    /// Begins the record of a call; `None` if there is neither an observer nor a subscriber at DEBUG.
    pub(crate) fn begin(
        endpoint: &'static Endpoint,
        server: &Server,
        transport: &Arc<dyn Transport>,
    ) -> Option<Arc<Self>> {
        let observer = FIND_OBSERVER.get().and_then(|find| find(running_call()));
        let is_traced = LevelFilter::current() >= LevelFilter::DEBUG;
        if observer.is_none() && !is_traced {
            return None;
        }
        let spans = is_traced.then(|| CallSpans::begin(endpoint.name)).flatten();
        let method = endpoint.method.clone();
        Some(Arc::new(Self {
            endpoint,
            server: server.clone(),
            started_at: SystemTime::now(),
            started: transport.now(),
            transport: transport.clone(),
            state: Mutex::new(State { order: None, method, attempts: Vec::new(), observer, spans }),
            _caller: Caller::here(),
        }))
    }

    /// Sets the number of the payment in logs, once it was checked.
    pub(crate) fn is_about(&self, order: &Arc<str>) {
        let mut state = self.state();
        state.order = Some(order.clone());
        if let Some(spans) = &state.spans {
            spans.is_about(order.clone());
        }
    }

    pub(crate) fn attempt_begins(&self, attempt: u32, request: &Request, now: Instant) {
        let mut state = self.state();
        state.method = request.method.clone();
        state.attempts.push(Attempt { started: now, duration: None, http_status: None, error_type: None });
        let method = state.method.clone();
        if let Some(spans) = &mut state.spans {
            spans.attempt_begins(attempt, method, self.endpoint.path, self.server.clone());
        }
    }

    pub(crate) fn attempt_ends(&self, result: &Result<Response, Failure>, took: Duration) {
        let (http_status, error_type) = match result {
            Ok(response) => {
                let status = response.http_status;
                (Some(status), (status >= 400).then(|| status.to_string()))
            }
            Err(failure) => (None, Some(failure.kind().to_owned())),
        };
        let mut state = self.state();
        let State { attempts, spans, .. } = &mut *state;
        let Some(attempt) = attempts.last_mut() else { return };
        if let Some(spans) = spans {
            spans.attempt_ends(http_status, error_type.clone(), took);
        }
        *attempt = Attempt { duration: Some(took), http_status, error_type, ..*attempt };
    }

    /// The first end counts.
    pub(crate) fn end(&self, end: CallEnd) {
        let now = self.transport.now();
        let mut state = self.state();
        let (observer, spans) = (state.observer.take(), state.spans.take());
        if let Some(spans) = spans {
            let under_way = state.attempts.last().filter(|attempt| attempt.duration.is_none());
            spans.end(end, now - self.started, under_way.map(|attempt| now - attempt.started));
        }
        if let Some(observer) = observer {
            let call = self.completed(&mut state, end, now);
            drop(state);
            observer(call);
        }
    }

    fn completed(&self, state: &mut State, end: CallEnd, now: Instant) -> CompletedCall {
        let attempts = state.attempts.drain(..).map(|attempt| CallAttempt {
            started_at: self.started_at + (attempt.started - self.started),
            duration: attempt.duration.unwrap_or_else(|| now - attempt.started),
            http_status: attempt.http_status,
            // An attempt without an end was dropped with its call.
            error_type: attempt.error_type.or_else(|| attempt.duration.is_none().then(|| CANCELLED.to_owned())),
        });
        CompletedCall {
            operation: self.endpoint.name.to_owned(),
            order_number: state.order.as_deref().map(str::to_owned),
            outcome: end.outcome.to_owned(),
            error_type: end.error_type.map(str::to_owned),
            method: state.method.to_string(),
            path: format!("/{}", self.endpoint.path),
            server_address: self.server.address.as_ref().to_owned(),
            server_port: self.server.port,
            started_at: self.started_at,
            duration: now - self.started,
            attempts: attempts.collect(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        self.end(CallEnd::CANCELLED);
    }
}
