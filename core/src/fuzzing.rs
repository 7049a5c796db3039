//! For the fuzz targets of this project alone: a gateway whose every reply is given. Not a part of the interface.

use std::{future::pending, sync::Arc, time::Duration};

use tokio::{task::AbortHandle, time::Instant};

use crate::{
    Credentials, Dialect, Gateway, GatewayConfig, PaymentError,
    reply::Reply,
    secret::SecretBytes,
    transport::{Boxed, Connection, Failure, Request, Transport},
};

/// What the password is that no output may show.
pub const PASSWORD: &str = "swordfish-5532";

/// A gateway that answers everything with this status and body, read by this dialect. It must be awaited inside a tokio runtime.
pub fn gateway_replying(http_status: u16, body: &[u8], dialect: Arc<Dialect>) -> Result<Gateway, PaymentError> {
    let mut config = GatewayConfig::new("https://memory.example", Credentials::basic("shop", PASSWORD));
    config.dialect = dialect;
    config.query_retries = 0;
    Gateway::over(Arc::new(Replying { http_status, body: body.to_vec() }), config)
}

struct Replying {
    http_status: u16,
    body: Vec<u8>,
}

impl Transport for Replying {
    fn exchange(&self, request: Arc<Request>, connection: Arc<Connection>) -> Boxed<Result<Reply, Failure>> {
        let mut body = SecretBytes::default();
        body.append(&self.body);
        let reply = Reply { http_status: self.http_status, retry_after: None, body, over_limit: false };
        Box::pin(async move {
            if request.own_connection && !connection.establish() {
                return Err(Failure::NotConnected { detail: "the caller gave up".to_owned() });
            }
            Ok(reply)
        })
    }

    fn check(&self) -> Result<(), PaymentError> {
        Ok(())
    }

    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep_until(&self, _moment: Instant) -> Boxed<()> {
        Box::pin(pending())
    }

    fn spawn(&self, task: Boxed<()>) -> AbortHandle {
        tokio::spawn(task).abort_handle()
    }

    fn jitter(&self, _most: Duration) -> Duration {
        Duration::ZERO
    }
}
