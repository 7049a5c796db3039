//! Admin routes of the ledger: list payments, requests and callbacks; approve or decline a payment; reset.

use std::time::SystemTime;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    admin::route::{AdminError, JsonResponse, OrderQuery, PathParameter},
    domain::{EndpointName, Payment, PaymentKind, PaymentStatus, Provider, amount::Amount, clock},
    endpoints::status,
    faults::FaultName,
    payments::decide::{Decision, decide},
    rules::Members,
    state::State,
    store::{
        callback_queue::{self, CallbackAttempt},
        exchanges::ReceivedRequest,
        payments,
    },
};

/// A payment, as the admin interface returns it.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Payment", deny_unknown_fields)]
pub(super) struct PaymentView<'a> {
    /// Kind of request that created the payment.
    #[schemars(extend("enum" = PaymentKind::ALL.map(kind_name)))]
    kind: &'static str,
    /// The merchant's order number. For pay-forms and QR payments, the gateway's number.
    order_number: &'a str,
    /// The gateway's number of the payment, which is also the `token` of its pages.
    gateway_number: &'a str,
    /// Transaction id. Present only for QR payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    /// Provider of the payment. Absent until the payer of a pay-form has chosen one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Provider::ALL.map(Provider::as_str)))]
    provider: Option<&'static str>,
    /// Amount, in tyiyn for QR payments. Null until an amount has been named.
    amount: Option<Amount>,
    /// Currency code.
    currency: &'a str,
    /// The payment's state.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
    /// Code that a status response returns for this state.
    code: &'static str,
    /// Number of charges under this order number.
    times_charged: u32,
    /// Time of registration.
    #[schemars(extend("format" = "date-time"))]
    created_at: String,
    /// Masked card number. Absent if the payment has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_card: Option<&'a str>,
    /// Masked phone number. Absent if the payment has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    masked_phone: Option<&'a str>,
    /// Remaining one-time password attempts.
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
    /// Name of the endpoint.
    endpoint: &'a str,
    /// Order number in the request. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    order_number: Option<&'a str>,
    /// HTTP status of the response. Absent if the client received none.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    /// Injected fault. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    /// Time of the response.
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
    /// Order number in the callback.
    order_number: &'a str,
    /// URL to which the callback was sent.
    url: &'a str,
    /// Payment status in the callback.
    status: String,
    /// Number of the delivery attempt, starting at 1.
    attempt: u32,
    /// HTTP status of the response. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    http_status: Option<u16>,
    /// Reason why there was no response. Absent if there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// Injected fault. Absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<&'static str>,
    /// Request body of the callback.
    body: &'a str,
    /// Time of the attempt.
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
    /// Payments, in order of registration.
    payments: Vec<PaymentView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Requests<'a> {
    /// Requests, in the order in which they were answered.
    requests: Vec<RequestView<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Callbacks<'a> {
    /// Delivery attempts, oldest first.
    callbacks: Vec<CallbackView<'a>>,
}

pub(super) fn list_payments(state: &State, OrderQuery(order): OrderQuery) -> Result<JsonResponse, AdminError> {
    let payments = state.read(|connection| payments::all(connection, order.as_deref()))?;
    JsonResponse::json(StatusCode::OK, &Ledger { payments: payments.iter().map(PaymentView::from).collect() })
}

pub(super) fn list_requests(state: &State, OrderQuery(order): OrderQuery) -> Result<JsonResponse, AdminError> {
    let requests = state.requests(order.as_deref())?;
    JsonResponse::json(StatusCode::OK, &Requests { requests: requests.iter().map(RequestView::from).collect() })
}

pub(super) fn list_callbacks(state: &State, OrderQuery(order): OrderQuery) -> Result<JsonResponse, AdminError> {
    let callbacks = state.read(|connection| callback_queue::attempts(connection, order.as_deref()))?;
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

pub(crate) fn approve(state: &State, (number, members): (PathParameter, Members)) -> Result<JsonResponse, AdminError> {
    decided(state, &number.0, members, Decision::Approve)
}

pub(crate) fn decline(state: &State, (number, members): (PathParameter, Members)) -> Result<JsonResponse, AdminError> {
    decided(state, &number.0, members, Decision::Decline)
}

fn decided(state: &State, number: &str, mut members: Members, decision: Decision) -> Result<JsonResponse, AdminError> {
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
                "description": "Amount in tyiyn that the payer enters for a QR code without a sum; at least 1.",
            },
        },
        "additionalProperties": false,
    })
}

pub(crate) fn reset(state: &State, (): ()) -> Result<JsonResponse, AdminError> {
    state.reset()?;
    Ok(JsonResponse::nothing())
}
