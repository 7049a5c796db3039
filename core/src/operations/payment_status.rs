//! Status query by the gateway's own order number.

use std::sync::Arc;

use http::Method;
use serde::Serialize;

use crate::{
    config::{
        endpoint::{Endpoint, STATUS_FIELDS},
        gateway_config::StatusQueryForm,
    },
    error::PaymentError,
    operations::operation::{CheckSettings, Kind, Operation, RequestParts, WireSettings},
    response::reader::{NotAnAnswer, ParsedStatus, ResponseReader},
    validation::Checks,
};

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
struct Body<'a> {
    order_number: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    language: Option<&'a str>,
}

pub(crate) static ENDPOINT: Endpoint = Endpoint {
    name: "payment_status",
    method: Method::GET,
    path: "api/v1.1.0/status",
    response_fields: STATUS_FIELDS,
    success_codes: &[],
};

impl Operation for PaymentStatusQuery {
    type Answer = ParsedStatus;

    const ENDPOINT: &'static Endpoint = &ENDPOINT;

    const KIND: Kind<Self> = Kind::Asks;

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
            StatusQueryForm::JsonBody => RequestParts::json(&Body { order_number, language }),
            StatusQueryForm::QueryString => {
                let language = language.map(|language| ("language", language));
                Ok(RequestParts::query([("orderNumber", order_number)].into_iter().chain(language)))
            }
        }
    }

    fn read(&self, response: &ResponseReader<'_>) -> Result<ParsedStatus, NotAnAnswer> {
        response.status_report()
    }
}
