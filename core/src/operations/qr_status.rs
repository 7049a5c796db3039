//! Status query of a QR payment, by its transaction id.

use std::sync::Arc;

use http::Method;

use crate::{
    config::endpoint::{Endpoint, STATUS_FIELDS},
    error::PaymentError,
    operations::operation::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    response::reader::{NotAnAnswer, ParsedStatus, ResponseReader},
    validation::Checks,
};

pub(crate) struct QrStatusQuery {
    transaction_id: Arc<str>,
}

impl QrStatusQuery {
    pub(crate) fn new(transaction_id: &str) -> Self {
        Self { transaction_id: transaction_id.into() }
    }
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "qr_status",
    method: Method::GET,
    path: "gen/qr/transaction/status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for QrStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Asks;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("transaction_id", &self.transaction_id);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.transaction_id.clone())
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        Ok(RequestParts::query([("transaction_id", &*self.transaction_id)]))
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}
