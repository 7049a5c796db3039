//! What happened: payments, requests, callbacks.

use std::time::SystemTime;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::{
    admin::{
        Call,
        answer::{Answer, Failure},
    },
    amount::Amount,
    clock,
    endpoint_name::EndpointName,
    faults::FaultName,
    flows::status_reply,
    gateway::Gateway,
    payment::{Payment, PaymentKind, Provider},
    state::PaymentStatus,
    store::{
        callbacks::{self, CallbackAttempt},
        exchanges::{self, ReceivedRequest},
        payments,
    },
};

/// A payment as the interface shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Payment", deny_unknown_fields)]
pub(super) struct PaymentView<'a> {
    #[schemars(extend("enum" = PaymentKind::ALL.map(kind)))]
    kind: &'static str,
    order_number: &'a str,
    gateway_number: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Provider::ALL.map(Provider::as_str)))]
    provider: Option<&'static str>,
    amount: Option<Amount>,
    currency: &'a str,
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
    code: &'static str,
    times_charged: u32,
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_card: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_phone: Option<&'a str>,
    otp_attempts_left: u32,
}

impl<'a> From<&'a Payment> for PaymentView<'a> {
    fn from(payment: &'a Payment) -> Self {
        Self {
            kind: kind(payment.kind),
            order_number: &payment.order_number,
            gateway_number: &payment.gateway_number,
            transaction_id: payment.transaction_id.as_deref(),
            provider: payment.provider.map(Provider::as_str),
            amount: payment.amount.map(Amount),
            currency: &payment.currency,
            status: payment.status.as_str(),
            code: status_reply::code(payment),
            times_charged: payment.times_charged,
            created_at: rfc_3339(payment.created),
            masked_card: payment.masked_card.as_deref(),
            masked_phone: payment.masked_phone.as_deref(),
            otp_attempts_left: payment.otp_attempts_left,
        }
    }
}

fn kind(kind: PaymentKind) -> &'static str {
    match kind {
        PaymentKind::PayForm => "pay_form",
        other => other.as_str(),
    }
}

fn rfc_3339(time: SystemTime) -> String {
    clock::rfc_3339(time).unwrap_or_default()
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Request", deny_unknown_fields)]
struct RequestView<'a> {
    endpoint: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    order_number: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    #[schemars(extend("format" = "date-time"))]
    at: String,
}

impl<'a> From<&'a ReceivedRequest> for RequestView<'a> {
    fn from(request: &'a ReceivedRequest) -> Self {
        Self {
            endpoint: match EndpointName::of_path(&request.endpoint) {
                Some(endpoint) => endpoint.as_str(),
                None => &request.endpoint,
            },
            order_number: request.order_number.as_deref(),
            http_status: request.http_status,
            fault: request.fault.map(FaultName::as_str),
            at: rfc_3339(request.at),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CallbackAttempt", deny_unknown_fields)]
struct CallbackView<'a> {
    order_number: &'a str,
    url: &'a str,
    status: String,
    attempt: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    body: &'a str,
    #[schemars(extend("format" = "date-time"))]
    at: String,
}

impl<'a> From<&'a CallbackAttempt> for CallbackView<'a> {
    fn from(attempt: &'a CallbackAttempt) -> Self {
        let body: Value = serde_json::from_str(&attempt.body).unwrap_or_default();
        Self {
            order_number: &attempt.order_number,
            url: &attempt.target,
            status: body["status"].as_str().unwrap_or_default().to_owned(),
            attempt: attempt.attempt,
            http_status: attempt.http_status,
            error: attempt.error.as_deref(),
            fault: attempt.fault.map(FaultName::as_str),
            body: &attempt.body,
            at: rfc_3339(attempt.at),
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Ledger<'a> {
    payments: Vec<PaymentView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Requests<'a> {
    requests: Vec<RequestView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Callbacks<'a> {
    callbacks: Vec<CallbackView<'a>>,
}

pub(super) fn ledger(gateway: &Gateway, call: &Call<'_>) -> Result<Answer, Failure> {
    let payments = gateway.read(|connection| payments::all(connection, call.order.as_deref()))?;
    Answer::json(StatusCode::OK, &Ledger { payments: payments.iter().map(PaymentView::from).collect() })
}

pub(super) fn requests(gateway: &Gateway, call: &Call<'_>) -> Result<Answer, Failure> {
    let requests = gateway.read(|connection| exchanges::all(connection, call.order.as_deref()))?;
    Answer::json(StatusCode::OK, &Requests { requests: requests.iter().map(RequestView::from).collect() })
}

pub(super) fn callbacks(gateway: &Gateway, call: &Call<'_>) -> Result<Answer, Failure> {
    let callbacks = gateway.read(|connection| callbacks::attempts(connection, call.order.as_deref()))?;
    Answer::json(StatusCode::OK, &Callbacks { callbacks: callbacks.iter().map(CallbackView::from).collect() })
}

pub(super) fn ledger_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Ledger<'_>>()
}

pub(super) fn requests_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Requests<'_>>()
}

pub(super) fn callbacks_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Callbacks<'_>>()
}

pub(super) fn payment_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<PaymentView<'_>>()
}
