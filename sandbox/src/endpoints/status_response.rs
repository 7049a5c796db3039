//! The status response, the same for all three endpoints that answer one.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{
    domain::{Language, Payment, PaymentStatus, RejectReason, amount::Amount, codes},
    endpoints::Response,
    messages::Message,
};

/// The codes of where a payment can stand.
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
struct Data<'a> {
    /// The number that was asked for.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// Of a QR transaction: its number.
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    /// The amount, of a QR transaction in tyiyn. Absent while a QR code that names no sum is unpaid.
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Amount>,
    /// Where the payment stands. `CHARGE` and `Reject` are final.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
    /// Its currency.
    currency: &'a str,
}

/// What the data of the response is.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Data<'_>>()
}

/// The response about a payment, under the number it was asked for by.
pub(crate) fn status_response(asked_for: &str, payment: &Payment, language: Language) -> Response {
    let data = Data {
        order_number: asked_for,
        transaction_id: payment.transaction_id.as_deref(),
        amount: payment.amount.map(Amount),
        status: payment.status.as_str(),
        currency: &payment.currency,
    };
    let (code, message) = code_and_message(payment, language);
    Response::ok(code, &message, &data)
}

/// Code and message of where a payment stands; a rejection says why, in the reader's language.
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

/// The code of where a payment stands.
pub(crate) fn code(payment: &Payment) -> &'static str {
    match (payment.status, payment.reject_reason) {
        (PaymentStatus::Created, _) => codes::CREATED,
        (PaymentStatus::Pending, _) => codes::PENDING,
        (PaymentStatus::Charged, _) => codes::SUCCESS,
        (PaymentStatus::Rejected, Some(reason)) => reason.code(),
        (PaymentStatus::Rejected, None) => codes::INTERNAL,
    }
}
