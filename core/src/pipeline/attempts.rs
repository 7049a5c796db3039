//! Retry with exponential backoff and full jitter: carries one request through to a response, within one deadline.
//!
//! Only what is safe to repeat is repeated: the policy is `outcome::again`. A payment is a detached task and not structured
//! concurrency, because it has to outlive a caller that goes away; a query is one only where its caller has no runtime
//! (`docs/adr/0002-a-runtime-of-its-own.md`). The numbers are in `docs/outcomes.md#the-rules-of-sending`.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{task::AbortHandle, time::Instant};

use crate::{
    config::endpoint::Endpoint,
    journal::BeginError,
    operations::operation::{Effect, RequestParts},
    pipeline::{
        caller::Caller,
        in_flight::Counted,
        journaling::{Journaling, UnlessSent, in_task},
        log::{Event, What},
        outcome::{Again, ResendPolicy},
    },
    response::Response,
    transport::{Failure, Progress, Request, Stage, Transport, after},
};

/// Backoff: the first pause before a retry is random up to this, each further one up to twice as much as the one
/// before. Full jitter keeps clients that failed together from coming back together
/// (<https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/>).
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// The deadline of a call, how many retries it may have, and where it is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) deadline: Duration,
    pub(crate) retries: u32,
    /// Whether a query has a task of its own, as payments always have: for callers that ask much at once and hand on what
    /// came first. A query in the caller's task would stand still meanwhile, and its deadline pass.
    pub(crate) detached: bool,
}

/// What came back of a request; or why the journal kept it from being sent.
pub(crate) type AttemptResult = Result<Result<Response, Failure>, BeginError>;

/// What becomes of what came back, as the task's last act; false where nobody waits for it.
pub(crate) type OnComplete = Box<dyn FnOnce(AttemptResult) -> bool + Send>;

/// The handle of a request on its way: the work is done by a detached task, and this is held by who waits for it.
///
/// Cancellation safety: dropping it ends a query. A request that moves money is prevented where no connection was made
/// yet; otherwise it goes on without a waiter, because a half-sent payment is worse than an answer that nobody reads.
pub(crate) struct RunningCall {
    request: Arc<Request>,
    task: AbortHandle,
    moves_money: bool,
}

impl RunningCall {
    /// The task ended without an answer, which only a panic inside or a runtime that goes down can do.
    pub(crate) fn vanished(&self) -> Failure {
        Failure::interrupted(!self.request.give_up())
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.moves_money || self.request.give_up() {
            self.task.abort();
        }
    }
}

/// One request and how it may be sent.
pub(crate) struct Call {
    pub(crate) endpoint: &'static Endpoint,
    pub(crate) log_name: Option<Arc<str>>,
    pub(crate) parts: RequestParts,
    pub(crate) effect: Effect,
    pub(crate) limits: Limits,
    pub(crate) policy: ResendPolicy,
    pub(crate) journaling: Option<Arc<Journaling>>,
}

impl Call {
    /// From now on its deadline runs.
    pub(super) fn attempts(self, transport: &Arc<dyn Transport>) -> Attempts {
        Attempts {
            transport: transport.clone(),
            endpoint: self.endpoint,
            log_name: self.log_name,
            request: Arc::new(Request {
                method: self.endpoint.method.clone(),
                path: self.endpoint.path.into(),
                headers: http::HeaderMap::new(),
                query: self.parts.query,
                body: self.parts.body.map(Bytes::from_owner),
                own_connection: (self.effect != Effect::Asks).then(Arc::default),
                progress: Progress::default(),
            }),
            effect: self.effect,
            deadline: after(transport.now(), self.limits.deadline),
            retries: self.limits.retries,
            policy: self.policy,
            journaling: self.journaling,
            caller: Caller::here(),
        }
    }
}

/// A request with all that sends it again and again.
pub(super) struct Attempts {
    pub(super) transport: Arc<dyn Transport>,
    endpoint: &'static Endpoint,
    log_name: Option<Arc<str>>,
    request: Arc<Request>,
    effect: Effect,
    deadline: Instant,
    retries: u32,
    policy: ResendPolicy,
    journaling: Option<Arc<Journaling>>,
    caller: Caller,
}

impl Attempts {
    pub(super) fn journaling(&self) -> Option<Arc<Journaling>> {
        self.journaling.clone()
    }

    /// Spawns a detached task, which ends with `finish`. A payment stays counted as in flight until then, waited for or
    /// not.
    pub(super) fn start(self, counted: Option<Counted>, finish: OnComplete) -> RunningCall {
        let moves_money = matches!(self.effect, Effect::MovesMoney(_));
        let request = self.request.clone();
        let transport = self.transport.clone();
        let (call, endpoint, order) = (self.caller.number(), self.endpoint.name, self.log_name.clone());
        let disk = transport.clone();
        let work = async move {
            let is_heard = match self.journaling() {
                None => finish(Ok(self.run().await)),
                Some(journaling) => {
                    let result = self.run_journaled(&journaling).await;
                    // What is noted is written to the disk.
                    in_task(&*disk, || finish(result))
                }
            };
            if !is_heard && moves_money {
                Event { call, endpoint, order, what: What::NobodyWaits }.record();
            }
            // Who waits for payments in flight may ask afterwards which calls can still log.
            drop(self);
            drop(counted);
        };
        let task = transport.spawn(Box::pin(work));
        RunningCall { request, task, moves_money }
    }

    /// Write-ahead: first the journal, then the network. It is a part of the detached task, so that what surely was not
    /// sent is noted also where the caller has gone.
    async fn run_journaled(&self, journaling: &Journaling) -> AttemptResult {
        let request = self.request.clone();
        let _cleanup = UnlessSent(journaling, &request);
        in_task(&*self.transport, || journaling.begin())?;
        Ok(self.run().await)
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

    /// When to retry, if at all: after the backoff or `Retry-After`, whichever is longer. A pause that reaches past the
    /// deadline would only delay the same answer.
    fn resume_at(&self, attempt: u32, result: &Result<Response, Failure>, pause_limit: Duration) -> Option<Instant> {
        let Again::After(asked_for) = (self.policy)(&self.effect, result) else { return None };
        let backoff = self.transport.jitter(pause_limit);
        let resume_at = after(self.transport.now(), asked_for.unwrap_or_default().max(backoff));
        (attempt <= self.retries && resume_at < self.deadline).then_some(resume_at)
    }

    async fn attempt(&self, attempt: u32) -> Result<Response, Failure> {
        let started = self.transport.now();
        let exchange = self.transport.exchange(self.request.clone());
        let deadline = self.transport.sleep_until(self.deadline);
        let result = match futures_util::future::select(exchange, deadline).await {
            futures_util::future::Either::Left((result, _)) => result,
            futures_util::future::Either::Right(_) => Err(self.out_of_time()),
        };
        self.record(attempt, &result, self.transport.now() - started);
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

    fn record(&self, attempt: u32, result: &Result<Response, Failure>, took: Duration) {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let what = match result {
            Ok(response) => What::Responded { attempt, http_status: response.http_status, duration_ms },
            Err(failure) => What::NoResponse { attempt, duration_ms, failure: format!("{failure:?}") },
        };
        let (call, endpoint, order) = (self.caller.number(), self.endpoint.name, self.log_name.clone());
        Event { call, endpoint, order, what }.record();
    }
}

#[cfg(test)]
mod dropped;
#[cfg(test)]
mod tests;
