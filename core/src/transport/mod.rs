//! Transport, the seam between payments and the network: exchange, clock, spawn, jitter. Operations do not depend on
//! HTTP; this module does not depend on payments.

pub(crate) mod calling_thread;
mod clients;
mod connection;
pub(crate) mod http;
mod http_error;
pub(crate) mod runtime;

use std::{borrow::Cow, future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{task::AbortHandle, time::Instant};

use crate::{error::PaymentError, response::Response};

pub(crate) use connection::{Connection, Observer, Progress, Stage};
pub(crate) use http_error::NOT_VALID_YET;

pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request. The retry policy decides whether it may be sent again.
pub(crate) struct Request {
    pub(crate) method: ::http::Method,
    /// Relative to the base address.
    pub(crate) path: Cow<'static, str>,
    /// Headers in addition to those of every request.
    pub(crate) headers: ::http::HeaderMap,
    pub(crate) query: Option<String>,
    pub(crate) body: Option<Bytes>,
    /// Use a fresh connection, not the pool: a kept-alive one may have died in a way that loses the answer.
    pub(crate) own_connection: Option<Arc<Connection>>,
    /// The step that it waits for.
    pub(crate) progress: Progress,
}

impl Request {
    /// Called when there is a connection, before anything is written to it. False: nothing may be sent. Over HTTP the
    /// connection itself calls it ([`Observer`]).
    #[cfg(any(test, feature = "fake", feature = "_internals"))]
    pub(crate) fn establish(&self) -> bool {
        self.own_connection.as_ref().is_none_or(|connection| connection.establish())
    }

    /// Called by the side that stops waiting. True: nothing was sent and nothing will be. A pooled connection does not report it, so it is
    /// assumed that the request was sent.
    pub(crate) fn give_up(&self) -> bool {
        self.own_connection.as_ref().is_some_and(|connection| connection.give_up())
    }
}

/// Why no response arrived. The difference between the last two is whether money may have moved.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It will not work until the configuration changes; nothing was sent.
    Misconfigured { detail: String },
    /// No connection was made; nothing was sent.
    NotConnected { detail: String },
    /// There was a connection, so the gateway may have seen the request.
    Lost { detail: String },
}

impl Failure {
    /// The kind in one word, for telemetry.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Misconfigured { .. } => "misconfigured",
            Self::NotConnected { .. } => "not_connected",
            Self::Lost { .. } => "lost",
        }
    }

    /// The failure for a panic inside, or the end of the runtime.
    pub(crate) fn interrupted(may_be_sent: bool) -> Self {
        let detail = "the request was interrupted inside the SDK".to_owned();
        if may_be_sent { Self::Lost { detail } } else { Self::NotConnected { detail } }
    }
}

/// Everything the core needs from outside. Tests replace it with a stub, an in-memory gateway on a virtual clock, which
/// makes them deterministic.
pub(crate) trait Transport: Send + Sync + 'static {
    /// Sends a request once. Implementations need the request's permission (`establish`) before they send the first byte.
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>>;

    /// Whether requests can be sent from this process (fork safety).
    fn check(&self) -> Result<(), PaymentError>;

    fn now(&self) -> Instant;

    fn sleep_until(&self, moment: Instant) -> Boxed<()>;

    /// Whether a query can be awaited in the calling task: its runtime must drive the connection.
    fn can_query_here(&self) -> bool;

    /// Records that the calling task's runtime cannot drive connections after all.
    fn cannot_query_here(&self);

    /// Runs a detached task, which outlives its caller.
    fn spawn(&self, task: Boxed<()>) -> AbortHandle;

    /// Runs work that blocks its thread (the disk), outside the network's threads.
    fn block(&self, work: Box<dyn FnOnce() + Send>) -> Boxed<()>;

    /// Runs blocking work of a `spawn` task on the task's own thread: other tasks continue elsewhere, and no other thread has to wake up.
    fn block_in_task(&self, work: &mut dyn FnMut());

    /// Jitter: a random time from zero to `most`.
    fn jitter(&self, most: Duration) -> Duration;
}

/// The moment after a wait. A wait that is too long for the clock is cut to 30 years.
pub(crate) fn after(moment: Instant, wait: Duration) -> Instant {
    const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    moment + wait.min(FOREVER)
}
