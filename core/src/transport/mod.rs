//! The seam between payments and the network: exchange, clock, spawn. Flows know nothing of HTTP; this knows nothing of payments.

mod connection;
pub(crate) mod http;
pub(crate) mod per_process;
pub(crate) mod runtime;
mod tls;

use std::{future::Future, pin::Pin, sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{task::AbortHandle, time::Instant};

use crate::{reply::Reply, values::error::PaymentError};

pub(crate) use connection::{Connection, Observer};

pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request, ready to be sent as often as it may be.
pub(crate) struct Request {
    pub(crate) method: ::http::Method,
    /// Relative to the base address.
    pub(crate) path: &'static str,
    pub(crate) query: Option<String>,
    pub(crate) body: Option<Bytes>,
    /// Go over a connection of its own: a kept-alive one may have died in a way that loses the answer.
    pub(crate) own_connection: bool,
}

/// Why no reply came. The difference between the last two decides over the money.
#[derive(Debug)]
pub(crate) enum Failure {
    /// It will not work until the configuration changes; nothing was sent.
    Misconfigured { detail: String },
    /// No connection was made; nothing was sent.
    NotConnected { detail: String },
    /// A connection was there, so the gateway may have seen the request.
    Lost { detail: String },
}

/// Everything the core needs from outside. In tests an in-memory gateway on a virtual clock stands behind it.
pub(crate) trait Transport: Send + Sync + 'static {
    /// Sends a request once. Implementations ask `connection` for leave before the first byte goes out.
    fn exchange(&self, request: Arc<Request>, connection: Arc<Connection>) -> Boxed<Result<Reply, Failure>>;

    /// Whether requests can still be sent from here.
    fn check(&self) -> Result<(), PaymentError>;

    fn now(&self) -> Instant;

    fn sleep_until(&self, moment: Instant) -> Boxed<()>;

    /// Runs a task that outlives its caller.
    fn spawn(&self, task: Boxed<()>) -> AbortHandle;

    /// A random time from nothing to `most`.
    fn jitter(&self, most: Duration) -> Duration;
}

/// A moment after another. A wait that no clock can hold is as good as forever.
pub(crate) fn after(moment: Instant, wait: Duration) -> Instant {
    const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);
    moment + wait.min(FOREVER)
}
