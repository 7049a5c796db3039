//! Status queries: by the gateway's own order number, by the merchant's order number and the provider, and by the
//! transaction id of a QR payment.

use std::sync::Arc;

use http::Method;
use serde::Serialize;

use crate::{
    config::{
        endpoint::{Endpoint, STATUS_FIELDS},
        gateway_config::StatusQueryForm,
    },
    error::PaymentError,
    operations::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    payment_ref::report::{PaymentStatus, Provider},
    response::reader::{NotAnAnswer, ParsedStatus, ResponseReader},
    validation::Checks,
    violation::Rule,
};

/// The status of a report, for telemetry. Unlike a verdict, it is not compared with the payment.
fn reported(status: &PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Charged => "charged",
        PaymentStatus::Rejected => "rejected",
        PaymentStatus::Other(_) => "pending",
    }
}

/// A query by the gateway's own order number.
pub(crate) struct PaymentStatusQuery {
    /// The gateway's own number, although the field on the wire is called `orderNumber`.
    gateway_number: Arc<str>,
    language: Option<String>,
}

impl PaymentStatusQuery {
    pub(crate) fn new(gateway_number: &str, language: Option<&str>) -> Self {
        Self { gateway_number: gateway_number.into(), language: language.map(str::to_owned) }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PaymentStatusBody<'a> {
    order_number: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

pub(crate) static PAYMENT_STATUS: Endpoint = Endpoint {
    name: "payment_status",
    method: Method::GET,
    path: "api/v1.1.0/status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for PaymentStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &PAYMENT_STATUS;

    const KIND: Kind<Self> = Kind::Queries;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("orderNumber", &self.gateway_number);
        if let Some(language) = &self.language {
            checks.exact_length("language", language, 2);
        }
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.gateway_number.clone())
    }

    fn parts(&self, settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        let (order_number, language) = (&*self.gateway_number, self.language.as_deref());
        match settings.status_query {
            StatusQueryForm::JsonBody => RequestParts::json(&PaymentStatusBody { order_number, language }),
            StatusQueryForm::QueryString => {
                let language = language.map(|language| ("language", language));
                Ok(RequestParts::query([("orderNumber", order_number)].into_iter().chain(language)))
            }
        }
    }

    fn outcome(answer: &ParsedStatus) -> &'static str {
        reported(&answer.report.status)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}

/// A query by the merchant's order number and the provider.
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
struct ProviderStatusBody<'a> {
    order_number: &'a str,
    provider: &'a str,
}

pub(crate) static PROVIDER_STATUS: Endpoint = Endpoint {
    name: "provider_status",
    method: Method::POST,
    path: "api/v1.1.0/get-status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for ProviderStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &PROVIDER_STATUS;

    const KIND: Kind<Self> = Kind::Queries;

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
        RequestParts::json(&ProviderStatusBody { order_number: &self.order_number, provider: self.provider.name() })
    }

    fn outcome(answer: &ParsedStatus) -> &'static str {
        reported(&answer.report.status)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}

/// A query for a QR payment, by its transaction id.
pub(crate) struct QrStatusQuery {
    transaction_id: Arc<str>,
}

impl QrStatusQuery {
    pub(crate) fn new(transaction_id: &str) -> Self {
        Self { transaction_id: transaction_id.into() }
    }
}

pub(crate) static QR_STATUS: Endpoint = Endpoint {
    name: "qr_status",
    method: Method::GET,
    path: "gen/qr/transaction/status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for QrStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &QR_STATUS;

    const KIND: Kind<Self> = Kind::Queries;

    fn check(&self, checks: &mut Checks, _settings: &CheckSettings) {
        checks.required("transaction_id", &self.transaction_id);
    }

    fn log_name(&self) -> Option<Arc<str>> {
        Some(self.transaction_id.clone())
    }

    fn parts(&self, _settings: &WireSettings<'_>) -> Result<RequestParts, PaymentError> {
        Ok(RequestParts::query([("transaction_id", &*self.transaction_id)]))
    }

    fn outcome(answer: &ParsedStatus) -> &'static str {
        reported(&answer.report.status)
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}
