//! Status query by the merchant's order number and the provider.

use std::sync::Arc;

use http::Method;
use serde::Serialize;

use crate::{
    config::endpoint::{Endpoint, STATUS_FIELDS},
    error::PaymentError,
    operations::operation::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_ref::report::Provider,
    response::reader::{NotAnAnswer, ParsedStatus, ResponseReader},
    validation::Checks,
    violation::Rule,
};

pub(crate) struct ProviderStatusQuery {
    order_number: Arc<str>,
    provider: Provider,
}

impl ProviderStatusQuery {
    pub(crate) fn new(order_number: &str, provider: Provider) -> Self {
        Self { order_number: order_number.into(), provider }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Body<'a> {
    order_number: &'a str,
    provider: &'a str,
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "provider_status",
    method: Method::POST,
    path: "api/v1.1.0/get-status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for ProviderStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Asks;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("orderNumber", &self.order_number);
        if let Provider::Other(_) = self.provider {
            let known = "Cards, MegaPay, MBank";
            checks.break_rule("provider", Rule::OneOf, Some(known));
        }
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.order_number.clone())
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        RequestParts::json(&Body { order_number: &self.order_number, provider: self.provider.name() })
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}
