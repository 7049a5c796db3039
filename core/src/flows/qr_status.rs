//! The status of a QR payment.

use crate::{
    endpoint::Endpoint,
    error::PaymentError,
    operation::{CheckSettings, Effect, Operation, RequestParts, WireSettings},
    reply::{NotAnAnswer, ReplyReader},
    rules::Checks,
    status::StatusReport,
};

pub(crate) struct QrStatusQuery {
    transaction_id: String,
}

impl QrStatusQuery {
    pub(crate) fn new(transaction_id: &str) -> Self {
        Self { transaction_id: transaction_id.to_owned() }
    }
}

impl Operation for QrStatusQuery {
    type Answer = StatusReport;

    const ENDPOINT: Endpoint = Endpoint::QrStatus;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("transaction_id", &self.transaction_id);
    }

    fn effect(&self) -> Effect {
        Effect::Asks
    }

    fn log_name(&self) -> Option<&str> {
        Some(&self.transaction_id)
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        Ok(RequestParts::query([("transaction_id", self.transaction_id.as_str())]))
    }

    fn read(&self, reply: &ReplyReader<'_>) -> Result<StatusReport, NotAnAnswer> {
        reply.status_report()
    }
}
