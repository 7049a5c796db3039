//! Status queries: `GET /api/v1.1.0/status` by the gateway's number, `POST /api/v1.1.0/get-status`
//! by the merchant's number and the provider, and the response of all three status endpoints.

use axum::http::Method;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    domain::{
        EndpointName, Language, Payment, PaymentKind, PaymentStatus, Provider, RejectReason, amount::Amount, codes,
    },
    endpoints::{Description, Endpoint, Fields, Input, Rejection, RejectionKind, Response, SuccessBody, finipay},
    messages::Message,
    payments::pending,
    rules,
    settings::StatusNumbers,
    state::State,
    store::payments,
};

pub(super) const STATUS: Endpoint = Endpoint {
    method: Method::GET,
    other_method: None,
    allowed: "GET",
    name: EndpointName::Status,
    input: Input::BodyOrQuery,
    subject: Some("orderNumber"),
    handle: status,
    description: Description {
        summary: "Query the status of a payment by the gateway's number",
        text: "The number is the `token` of the payment's pages, or `paymentId` of a mobile-bank payment. The fields \
               are members of a JSON body, even though the method is GET. If there is no body, because a proxy \
               dropped it or a tool cannot send it, they are read from the query string. If the sandbox acts as FINIPAY, \
               the response contains a number that no earlier response had.",
        take: |fields| drop(read_status(fields)),
        example: r#"{"orderNumber": "0c5f1d9e-8a38-4d0c-9d3c-3b8a0f6b5a11", "language": "en"}"#,
        success: SuccessBody::Envelope(&STATUS_CODES, status_schema),
        finipay: None,
        rejections: &[RejectionKind::NotFound],
    },
};

fn read_status(fields: &mut Fields) -> (String, Option<String>) {
    (fields.required("orderNumber", rules::text()), fields.optional("language", rules::language()))
}

fn status(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let (number, language) = read_status(&mut fields);
    fields.finish()?;
    let any = state.switches().status_numbers == StatusNumbers::Any;
    let found = state.read(|connection| {
        if let Some(record) = payments::by_gateway_number(connection, &number)? {
            return Ok(Some(record));
        }
        // A pay-form's order number is the gateway's own, too.
        let by_order = payments::by_order_number(connection, &number)?;
        Ok(by_order.filter(|record| any || record.payment.kind == PaymentKind::PayForm))
    })?;
    let record = found.ok_or(Rejection::NotFound)?;
    pending::count_query(state, &record)?;
    let language = state.language(language.as_deref());
    let number = if state.acts_as_finipay() { finipay::status_number(&record) } else { number };
    Ok(status_response(&number, &record.payment, language))
}

pub(super) const GET_STATUS: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::GetStatus,
    input: Input::Body,
    subject: Some("orderNumber"),
    handle: get_status,
    description: Description {
        summary: "Query the status of a payment by the merchant's number and the provider",
        text: "",
        take: |fields| drop(read_get_status(fields)),
        example: r#"{"orderNumber": "ORDER-1", "provider": "Cards"}"#,
        success: SuccessBody::Envelope(&STATUS_CODES, status_schema),
        finipay: None,
        rejections: &[RejectionKind::NotFound],
    },
};

fn read_get_status(fields: &mut Fields) -> (String, Option<Provider>) {
    (fields.required("orderNumber", rules::text()), fields.required("provider", rules::provider()))
}

fn get_status(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let (number, provider) = read_get_status(&mut fields);
    fields.finish()?;
    let any = state.switches().status_numbers == StatusNumbers::Any;
    let provider = provider.ok_or(Rejection::NotFound)?;
    let found = state.read(|connection| {
        let by_order = payments::by_order_number_and_provider(connection, &number, provider)?;
        if by_order.is_some() || !any {
            return Ok(by_order);
        }
        let by_gateway = payments::by_gateway_number(connection, &number)?;
        Ok(by_gateway.filter(|record| record.payment.provider == Some(provider)))
    })?;
    let record = found.ok_or(Rejection::NotFound)?;
    pending::count_query(state, &record)?;
    Ok(status_response(&number, &record.payment, state.switches().language))
}

/// The codes of all statuses.
pub(super) static STATUS_CODES: [&str; 8] = [
    codes::CREATED,
    codes::PENDING,
    codes::SUCCESS,
    RejectReason::Declined.code(),
    RejectReason::InsufficientFunds.code(),
    RejectReason::CancelledByPayer.code(),
    RejectReason::OtpAttemptsExhausted.code(),
    RejectReason::ProcessingError.code(),
];

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "PaymentStatus", deny_unknown_fields)]
struct StatusData<'a> {
    /// The queried number.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// Transaction id. Present only for QR payments.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    /// Amount, in tyiyn for QR payments. Absent while a QR code without a sum is unpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Amount>,
    /// The payment's state. `CHARGE` and `Reject` are final.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
    /// Currency code.
    currency: &'a str,
}

/// The kind of the response's data.
pub(super) fn status_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<StatusData<'_>>()
}

/// The response for a payment, with the number in the request.
pub(crate) fn status_response(asked_for: &str, payment: &Payment, language: Language) -> Response {
    let data = StatusData {
        order_number: asked_for,
        transaction_id: payment.transaction_id.as_deref(),
        amount: payment.amount.map(Amount),
        status: payment.status.as_str(),
        currency: &payment.currency,
    };
    let (code, message) = code_and_message(payment, language);
    Response::ok(code, &message, &data)
}

/// Code and message of a payment's status; for a rejection, the reason in the request's language.
pub(super) fn code_and_message(payment: &Payment, language: Language) -> (&'static str, String) {
    let message = match (payment.status, payment.reject_reason) {
        (PaymentStatus::Created, _) => "CREATED".to_owned(),
        (PaymentStatus::Pending, _) => "PAYMENT_PENDING".to_owned(),
        (PaymentStatus::Charged, _) => "PAYMENT_SUCCESS".to_owned(),
        (PaymentStatus::Rejected, Some(reason)) => language.say(Message::from(reason)),
        (PaymentStatus::Rejected, None) => "PAYMENT_REJECTED".to_owned(),
    };
    (code(payment), message)
}

/// The code of a payment's status.
pub(crate) fn code(payment: &Payment) -> &'static str {
    match (payment.status, payment.reject_reason) {
        (PaymentStatus::Created, _) => codes::CREATED,
        (PaymentStatus::Pending, _) => codes::PENDING,
        (PaymentStatus::Charged, _) => codes::SUCCESS,
        (PaymentStatus::Rejected, Some(reason)) => reason.code(),
        (PaymentStatus::Rejected, None) => codes::INTERNAL,
    }
}
