//! Retry with exponential backoff and full jitter: carries one request to its response or its
//! failure, within one deadline.
//!
//! Only requests that are safe to repeat are retried: the policy is `outcome::again`. A payment is a detached task and not structured
//! concurrency, because it must outlive a caller that goes away; a query is one only if its caller has no runtime
//! (`docs/adr/0002-runtime-and-boundary.md`). The numbers are in `docs/outcomes.md#the-rules-of-sending`.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::Arc,
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use tokio::{task::AbortHandle, time::Instant};

use crate::{
    config::endpoint::Endpoint,
    operations::{Effect, RequestParts},
    pipeline::{
        log::{Caller, Event, EventDetails},
        outcome::{Again, ResendPolicy},
        telemetry::Recording,
    },
    response::Response,
    transport::{Failure, Progress, Request, Stage, Transport, after, runtime::without_subscriber},
};

/// Backoff: the first pause before a retry is random up to this, each further one up to twice as long as the previous
/// one. Full jitter keeps clients that failed together from retrying together
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The deadline of a call, its number of retries, and where it runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) deadline: Duration,
    pub(crate) retries: u32,
    /// Whether a query has its own task, as payments always have: for callers that send many queries at once and return the first result. A
    /// query in the caller's task would stop during that time, and its deadline would pass.
    pub(crate) detached: bool,
}

/// The handle of a request in flight: a detached task does the work, and the waiting caller holds this handle.
///
/// Cancellation safety: dropping it ends a query. A request that moves money is prevented if no connection was made
/// yet; otherwise it continues without a waiter, because a half-sent payment is worse than an unread answer.
pub(crate) struct RunningTask {
    pub(super) request: Arc<Request>,
    pub(super) task: AbortHandle,
    pub(super) moves_money: bool,
}

impl RunningTask {
    /// The task ended without an answer, which happens only by a panic inside or the end of the runtime.
    pub(crate) fn vanished(&self) -> Failure {
        Failure::interrupted(!self.request.give_up())
    }
}

impl Drop for RunningTask {
    fn drop(&mut self) {
        if !self.moves_money || self.request.give_up() {
            self.task.abort();
        }
    }
}

/// A request with everything that is needed to retry it.
pub(super) struct Attempts {
    pub(super) transport: Arc<dyn Transport>,
    pub(super) request: Arc<Request>,
    pub(super) effect: Effect,
    endpoint: &'static Endpoint,
    log_name: Option<Arc<str>>,
    deadline: Instant,
    retries: u32,
    policy: ResendPolicy,
    pub(super) recording: Option<Arc<Recording>>,
    caller: Caller,
}

impl Attempts {
    /// The deadline starts here.
    pub(super) fn new(
        transport: &Arc<dyn Transport>,
        endpoint: &'static Endpoint,
        log_name: Option<Arc<str>>,
        parts: RequestParts,
        effect: Effect,
        limits: Limits,
        policy: ResendPolicy,
    ) -> Self {
        Self {
            transport: transport.clone(),
            request: Arc::new(Request {
                method: parts.method.unwrap_or_else(|| endpoint.method.clone()),
                path: endpoint.path.into(),
                headers: http::HeaderMap::new(),
                query: parts.query,
                body: parts.body.map(Bytes::from_owner),
                own_connection: (effect != Effect::Queries).then(Arc::default),
                progress: Progress::default(),
            }),
            effect,
            endpoint,
            log_name,
            deadline: after(transport.now(), limits.deadline),
            retries: limits.retries,
            policy,
            recording: None,
            caller: Caller::here(),
        }
    }

    /// Records each attempt in `recording`.
    pub(super) fn recorded_in(self, recording: Option<Arc<Recording>>) -> Self {
        Self { recording, ..self }
    }

    /// Sends a query until there is a response, in its caller's task, whose runtime drives its connection. A separate task would need two
    /// threads that wake each other (`docs/adr/0002-runtime-and-boundary.md`).
    ///
    /// `None` if the HTTP client panicked, as it does in a runtime without I/O or without timers: this query, and later ones of that
    /// runtime, must be sent elsewhere.
    pub(super) async fn run_in_place(&self) -> Option<Result<Response, Failure>> {
        let mut running = pin!(self.run());
        let result = poll_fn(|cx| {
            let polled = AssertUnwindSafe(|| without_subscriber(|| running.as_mut().poll(cx)));
            catch_unwind(polled).map_or(Poll::Ready(None), |polled| polled.map(Some))
        })
        .await;
        if result.is_none() {
            self.transport.cannot_query_here();
        }
        result
    }

    pub(super) async fn run(&self) -> Result<Response, Failure> {
        let mut attempt = 1;
        let mut pause_limit = FIRST_PAUSE;
        loop {
            let result = self.attempt(attempt).await;
            let Some(resume_at) = self.resume_at(attempt, &result, pause_limit) else {
                return result;
            };
            self.transport.sleep_until(resume_at).await;
            attempt += 1;
            pause_limit = (pause_limit * 2).min(LONGEST_PAUSE);
        }
    }

    /// When to retry, if at all: after the backoff or `Retry-After`, whichever is longer. A pause beyond the deadline
    /// would only delay the same result.
    fn resume_at(&self, attempt: u32, result: &Result<Response, Failure>, pause_limit: Duration) -> Option<Instant> {
        let Again::After(asked_for) = (self.policy)(&self.effect, result) else { return None };
        let backoff = self.transport.jitter(pause_limit);
        let resume_at = after(self.transport.now(), asked_for.unwrap_or_default().max(backoff));
        (attempt <= self.retries && resume_at < self.deadline).then_some(resume_at)
    }

    async fn attempt(&self, attempt: u32) -> Result<Response, Failure> {
        let started = self.transport.now();
        if let Some(recording) = &self.recording {
            recording.attempt_begins(attempt, &self.request, started);
        }
        let exchange = self.transport.exchange(self.request.clone());
        let deadline = self.transport.sleep_until(self.deadline);
        let result = match futures_util::future::select(exchange, deadline).await {
            futures_util::future::Either::Left((result, _)) => result,
            futures_util::future::Either::Right(_) => Err(self.out_of_time()),
        };
        let took = self.transport.now() - started;
        if let Some(recording) = &self.recording {
            recording.attempt_ends(&result, took);
        }
        self.record(attempt, &result, took);
        result
    }

    fn out_of_time(&self) -> Failure {
        let is_prevented = self.request.give_up();
        let detail = match self.request.progress.stage() {
            Stage::LookingUp => "looking up the host name did not end before the deadline",
            Stage::Connecting => "the deadline passed before a connection was made",
            Stage::Response if is_prevented => "the deadline passed before a connection was made",
            Stage::Response => "the deadline passed before the whole response came",
        };
        let detail = detail.to_owned();
        if is_prevented { Failure::NotConnected { detail } } else { Failure::Lost { detail } }
    }

    /// A payment has its response, and its caller is gone.
    pub(super) fn record_nobody_waits(&self) {
        self.event(EventDetails::NobodyWaits).record();
    }

    fn record(&self, attempt: u32, result: &Result<Response, Failure>, took: Duration) {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let details = match result {
            Ok(response) => EventDetails::Responded { attempt, http_status: response.http_status, duration_ms },
            Err(failure) => EventDetails::NoResponse { attempt, duration_ms, failure: format!("{failure:?}") },
        };
        self.event(details).record();
    }

    fn event(&self, details: EventDetails) -> Event {
        Event { call: self.caller.number(), endpoint: self.endpoint.name, order: self.log_name.clone(), details }
    }
}

#[cfg(test)]
mod tests;
