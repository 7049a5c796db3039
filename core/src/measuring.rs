//! For the benchmarks of this project alone: a gateway in memory, on the real clock and Kassa's own threads. Not a part of the
//! interface.

use std::{sync::Arc, time::Duration};

use tokio::{runtime::Handle, task::AbortHandle, time::Instant};

use crate::{
    Credentials, Gateway, GatewayConfig, PaymentError,
    reply::Reply,
    secret::SecretBytes,
    transport::{Boxed, Connection, Failure, Request, Transport, runtime},
};

/// A gateway that answers every request at once with the same body, and tells `seen` the body of each request.
pub fn gateway_in_memory(
    reply: &'static str,
    seen: impl Fn(&[u8]) + Send + Sync + 'static,
) -> Result<Gateway, PaymentError> {
    let transport = Memory { runtime: runtime::handle()?, reply, seen: Box::new(seen) };
    Gateway::over(
        Arc::new(transport),
        GatewayConfig::new("https://memory.example", Credentials::basic("shop", "secret")),
    )
}

/// Told the body of each request.
type Seen = Box<dyn Fn(&[u8]) + Send + Sync>;

struct Memory {
    runtime: Handle,
    reply: &'static str,
    seen: Seen,
}

impl Transport for Memory {
    fn exchange(&self, request: Arc<Request>, connection: Arc<Connection>) -> Boxed<Result<Reply, Failure>> {
        if request.own_connection {
            connection.establish();
        }
        (self.seen)(request.body.as_deref().unwrap_or_default());
        let mut body = SecretBytes::default();
        body.append(self.reply.as_bytes());
        let reply = Reply { http_status: 200, retry_after: None, body, over_limit: false };
        Box::pin(std::future::ready(Ok(reply)))
    }

    fn check(&self) -> Result<(), PaymentError> {
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, moment: Instant) -> Boxed<()> {
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep_until(moment))
    }

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        self.runtime.spawn(task).abort_handle()
    }

    fn jitter(&self, most: Duration) -> Duration {
        most
    }
}
