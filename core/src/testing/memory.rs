//! The in-memory transport: the one test double behind the transport's seam, in tests and fuzz targets. A [`Stub`]
//! answers; the clock is tokio's, which is virtual if a test paused it.

use std::{sync::Arc, time::Duration};

use tokio::{
    runtime::Handle,
    task::AbortHandle,
    time::{Instant, sleep_until},
};

use crate::{
    config::{
        dialect::Dialect,
        gateway_config::{Credentials, GatewayConfig},
    },
    error::PaymentError,
    response::Response,
    transport::{Boxed, Failure, Request, Transport},
};

/// Simulates the gateway.
pub(super) trait Stub: Send + Sync + 'static {
    /// The response. The stub needs the request's permission (`establish`), as the network does.
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>>;

    /// The longest unless a simulation draws it, so that tests know when a retry comes.
    fn jitter(&self, most: Duration) -> Duration {
        most
    }

    /// Starts a task of the SDK's by `spawn`; a simulation also keeps hold of it.
    fn spawn(&self, task: Boxed<()>, spawn: &dyn Fn(Boxed<()>) -> AbortHandle) -> AbortHandle {
        spawn(task)
    }
}

/// A stub behind the seam. Tasks and timers are those of the runtime in which they are made.
pub(super) struct Memory<S> {
    pub(super) stub: Arc<S>,
}

/// A configuration that the stub's gateways have, with every operation offered. Nothing goes to the address.
pub(super) fn config(password: &str) -> GatewayConfig {
    let mut config = GatewayConfig::new("https://memory.example", Credentials::basic("shop", password));
    config.dialect = Dialect::from_json(r#"{"megapay": {"check_method": "POST"}}"#).expect("a dialect").into();
    config
}

impl<S: Stub> Transport for Memory<S> {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        self.stub.exchange(request)
    }

    fn check(&self) -> Result<(), PaymentError> {
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        Box::pin(sleep_until(moment))
    }

    fn can_query_here(&self) -> bool {
        Handle::try_current().is_ok()
    }

    fn cannot_query_here(&self) {}

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        self.stub.spawn(task, &|task| tokio::spawn(task).abort_handle())
    }

    fn block(&self, work: Box<dyn FnOnce() + Send>) -> Boxed<()> {
        work();
        Box::pin(std::future::ready(()))
    }

    fn block_in_task(&self, work: &mut dyn FnMut()) {
        work();
    }

    fn jitter(&self, most: Duration) -> Duration {
        self.stub.jitter(most)
    }
}
