//! A stub whose every reply is the same: for this project's own fuzz targets and benchmarks.

use std::sync::Arc;

use tokio::runtime::Handle;

use super::memory::{Memory, Stub, config};
use crate::{
    config::dialect::Dialect,
    fake::replies::reply,
    gateway::Gateway,
    reply::Reply,
    transport::{Boxed, Failure, Request, runtime},
    values::error::PaymentError,
};

/// The password, which no output may show.
pub const PASSWORD: &str = "swordfish-5532";

/// A gateway that answers everything with this status and body, read by this dialect, for the fuzz targets. It must be
/// awaited inside a tokio runtime with a timer.
pub fn gateway_replying(http_status: u16, body: &[u8], dialect: Arc<Dialect>) -> Result<Gateway, PaymentError> {
    let mut config = config(PASSWORD);
    config.dialect = dialect;
    config.query_retries = 0;
    let stub = FixedReply { http_status, body: body.into(), seen: Box::new(|_| ()) };
    Gateway::over(Arc::new(Memory { stub: Arc::new(stub), runtime: None }), config)
}

/// A gateway that answers everything at once with this body, on the real clock and Kassa's own threads, for the
/// benchmarks. It tells `seen` the body of each request.
pub fn gateway_in_memory(
    body: &'static str,
    seen: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<Gateway, PaymentError> {
    let stub = FixedReply { http_status: 200, body: body.as_bytes().into(), seen: Box::new(seen) };
    let runtime: Option<Handle> = Some(runtime::handle()?);
    Gateway::over(Arc::new(Memory { stub: Arc::new(stub), runtime }), config(PASSWORD))
}

/// Told the body of each request.
type Seen = Box<dyn Fn(&[u8]) + Send + Sync>;

struct FixedReply {
    http_status: u16,
    body: Box<[u8]>,
    seen: Seen,
}

impl Stub for FixedReply {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Reply, Failure>> {
        (self.seen)(request.body.as_deref().unwrap_or_default());
        let reply = reply(self.http_status, &self.body);
        Box::pin(async move {
            if !request.establish() {
                return Err(Failure::NotConnected { detail: "the caller gave up".to_owned() });
            }
            Ok(reply)
        })
    }
}
