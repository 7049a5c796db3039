//! The server's runtime (dependency injection): a monotonic clock, tasks and random bits. **No calendar**: the database's clock
//! decides what is due, so that servers with different clocks agree.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant},
};

use ::ring::rand::{SecureRandom, SystemRandom};
use reqwest::{Client, Url, redirect};
use rustls::{ClientConfig, RootCertStore, crypto::ring};
use tokio::runtime::Handle;

use crate::values::error::ServerError;

/// A boxed future.
pub type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Monotonic time, waiting, tasks and randomness. Tests replace it with a simulation.
pub trait Runtime: Send + Sync + 'static {
    /// Monotonic time since any fixed moment. It only measures deadlines.
    fn monotonic(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration) -> Boxed<'static, ()>;

    /// Runs a task that outlives its caller.
    fn spawn(&self, task: Boxed<'static, ()>);

    /// Fills bytes with random bits that nobody can guess.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`] if the system has none.
    fn fill(&self, bytes: &mut [u8]) -> Result<(), ServerError>;
}

/// The real runtime: tokio, and the system's randomness.
pub struct TokioRuntime {
    runtime: Handle,
    start: Instant,
    random: SystemRandom,
}

impl TokioRuntime {
    /// A runtime with tasks on this handle.
    pub fn on(runtime: Handle) -> Self {
        Self { runtime, start: Instant::now(), random: SystemRandom::new() }
    }
}

impl Runtime for TokioRuntime {
    fn monotonic(&self) -> Duration {
        self.start.elapsed()
    }

    fn sleep(&self, time: Duration) -> Boxed<'static, ()> {
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep(time))
    }

    fn spawn(&self, task: Boxed<'static, ()>) {
        self.runtime.spawn(task);
    }

    fn fill(&self, bytes: &mut [u8]) -> Result<(), ServerError> {
        self.random.fill(bytes).map_err(|_| ServerError::unavailable("the system gave no random bits"))
    }
}

// The HTTP client for calls other than to the gateway.

/// Whether a URL is on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether the host of a URL is one of these, each in the form of a URL's host.
pub(crate) fn is_one_of(url: &Url, hosts: &[String]) -> bool {
    url.host_str().is_some_and(|host| hosts.iter().any(|named| named == host))
}

/// Without redirects and proxies: requests go only to the configured address.
pub(crate) fn http_client(deadline: Duration) -> Result<Client, ServerError> {
    let broken = |problem: &dyn std::fmt::Display| ServerError::unavailable(format!("the HTTP client: {problem}"));
    let roots = RootCertStore::from_iter(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    let tls = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|problem| broken(&problem))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .timeout(deadline)
        .redirect(redirect::Policy::none())
        .no_proxy()
        .user_agent(concat!("kassa-server/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|problem| broken(&problem))
}
