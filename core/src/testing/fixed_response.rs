//! A stub that always returns the same response: for this project's own fuzz targets.

use std::sync::Arc;

use super::memory::{Memory, Stub, config};
use crate::{
    config::dialect::Dialect,
    error::PaymentError,
    fake::responses::response,
    gateway::Gateway,
    response::Response,
    transport::{Boxed, Failure, Request},
};

/// The password, which no output may show.
pub const PASSWORD: &str = "swordfish-5532";

/// A gateway that answers everything with this status and body, read by this dialect, for the fuzz targets. It must be
/// awaited inside a tokio runtime with a timer.
pub fn gateway_responding(http_status: u16, body: &[u8], dialect: Arc<Dialect>) -> Result<Gateway, PaymentError> {
    let mut config = config(PASSWORD);
    config.dialect = dialect;
    config.query_retries = 0;
    let stub = FixedResponse { http_status, body: body.into() };
    Gateway::over(Arc::new(Memory { stub: Arc::new(stub) }), config)
}

struct FixedResponse {
    http_status: u16,
    body: Box<[u8]>,
}

impl Stub for FixedResponse {
    fn exchange(&self, request: Arc<Request>) -> Boxed<Result<Response, Failure>> {
        let response = response(self.http_status, &self.body);
        Box::pin(async move {
            if !request.establish() {
                return Err(Failure::NotConnected { detail: "the caller gave up".to_owned() });
            }
            Ok(response)
        })
    }
}
