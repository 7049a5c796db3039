//! Admin routes of the ledger: list payments, requests and callbacks; approve or decline a payment; reset.

use std::time::SystemTime;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::route::{AdminError, JsonResponse, RouteRequest, read_members},
    domain::{EndpointName, Payment, PaymentKind, PaymentStatus, Provider, amount::Amount, clock},
    endpoints::status,
    faults::FaultName,
    payments::decide::{Decision, decide},
    state::State,
    store::{
        callback_queue::{self, CallbackAttempt},
        exchanges::ReceivedRequest,
        payments,
    },
};

/// A payment as the interface shows it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Payment", deny_unknown_fields)]
pub(super) struct PaymentView<'a> {
    /// By which request it was made.
    #[schemars(extend("enum" = PaymentKind::ALL.map(kind_name)))]
    kind: &'static str,
    /// The merchant's number; of a pay-form and a QR code the gateway's.
    order_number: &'a str,
    /// The number that the gateway knows it by, and the `token` of its pages.
    gateway_number: &'a str,
    /// Of a QR transaction: its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    /// Who takes the money; absent while the payer of a pay-form has not chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Provider::ALL.map(Provider::as_str)))]
    provider: Option<&'static str>,
    /// The amount, of a QR transaction in tyiyn; null while nobody named one.
    amount: Option<Amount>,
    /// Its currency.
    currency: &'a str,
    /// Where the payment stands.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
    /// The code that a status response has for this.
    code: &'static str,
    /// How often money was taken under this order number.
    times_charged: u32,
    /// When it was registered.
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// The card, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_card: Option<&'a str>,
    /// The phone, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_phone: Option<&'a str>,
    /// How many one-time passwords may still be wrong.
    otp_attempts_left: u32,
}

impl<'a> From<&'a Payment> for PaymentView<'a> {
    fn from(payment: &'a Payment) -> Self {
        Self {
            kind: kind_name(payment.kind),
            order_number: &payment.order_number,
            gateway_number: &payment.gateway_number,
            transaction_id: payment.transaction_id.as_deref(),
            provider: payment.provider.map(Provider::as_str),
            amount: payment.amount.map(Amount),
            currency: &payment.currency,
            status: payment.status.as_str(),
            code: status::code(payment),
            times_charged: payment.times_charged,
            created_at: rfc_3339(payment.created),
            masked_card: payment.masked_card.as_deref(),
            masked_phone: payment.masked_phone.as_deref(),
            otp_attempts_left: payment.otp_attempts_left,
        }
    }
}

fn kind_name(kind: PaymentKind) -> &'static str {
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
    /// The endpoint's name.
    endpoint: &'a str,
    /// The number in the request, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_number: Option<&'a str>,
    /// The HTTP status of the answer; absent where the client saw none.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    /// The fault that struck, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    /// When it was answered.
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
    /// The payment's number in the callback.
    order_number: &'a str,
    /// Where it went.
    url: &'a str,
    /// The status that it tells of.
    status: String,
    /// Which attempt of this callback it was, from 1 on.
    attempt: u32,
    /// The HTTP status that came back; absent where none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    /// Why nothing came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// The fault that struck, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    /// The body that was sent.
    body: &'a str,
    /// When it was sent.
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
    /// The payments, in the order of registration.
    payments: Vec<PaymentView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Requests<'a> {
    /// The requests, in the order they were answered.
    requests: Vec<RequestView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Callbacks<'a> {
    /// The attempts, in their order.
    callbacks: Vec<CallbackView<'a>>,
}

pub(super) fn list_payments(state: &State, request: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    let payments = state.read(|connection| payments::all(connection, request.order.as_deref()))?;
    JsonResponse::json(StatusCode::OK, &Ledger { payments: payments.iter().map(PaymentView::from).collect() })
}

pub(super) fn list_requests(state: &State, request: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    let requests = state.requests(request.order.as_deref())?;
    JsonResponse::json(StatusCode::OK, &Requests { requests: requests.iter().map(RequestView::from).collect() })
}

pub(super) fn list_callbacks(state: &State, request: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    let callbacks = state.read(|connection| callback_queue::attempts(connection, request.order.as_deref()))?;
    JsonResponse::json(StatusCode::OK, &Callbacks { callbacks: callbacks.iter().map(CallbackView::from).collect() })
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

pub(super) fn approve(state: &State, request: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    decided(state, request, Decision::Approve)
}

pub(super) fn decline(state: &State, request: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    decided(state, request, Decision::Decline)
}

fn decided(state: &State, request: &RouteRequest<'_>, decision: Decision) -> Result<JsonResponse, AdminError> {
    let number = request.parameters.first().copied().unwrap_or_default();
    let mut members = read_members(request.body)?;
    let tyiyn = if decision == Decision::Approve { members.whole("amount") } else { None };
    members.finish().map_err(AdminError::invalid)?;
    let _generation = state.generation();
    let payment = decide(state, number, decision, tyiyn)?;
    JsonResponse::json(StatusCode::OK, &PaymentView::from(&payment))
}

/// The JSON Schema of an approval.
pub(super) fn approval() -> Value {
    json!({
        "type": "object",
        "properties": {
            "amount": {
                "type": "integer", "minimum": 0, "maximum": u64::MAX,
                "description": "How many tyiyn the payer of a QR code pays that names no sum; at least 1.",
            },
        },
        "additionalProperties": false,
    })
}

pub(super) fn reset(state: &State, _: &RouteRequest<'_>) -> Result<JsonResponse, AdminError> {
    state.reset()?;
    Ok(JsonResponse::nothing())
}
