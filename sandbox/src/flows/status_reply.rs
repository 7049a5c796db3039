//! The status reply, the same for all three endpoints that answer one.

use serde::Serialize;

use crate::{
    amount::Amount,
    language::Language,
    messages::Message,
    payment::Payment,
    reply::{Reply, codes},
    state::PaymentStatus,
};

#[derive(Serialize)]
struct Data<'a> {
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    transaction_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    amount: Option<Amount>,
    status: &'static str,
    currency: &'a str,
}

/// The reply about a payment, under the number it was asked for by.
pub(super) fn status_reply(asked_for: &str, payment: &Payment, language: Language) -> Reply {
    let data = Data {
        order_number: asked_for,
        transaction_id: payment.transaction_id.as_deref(),
        amount: payment.amount.map(Amount),
        status: payment.status.as_str(),
        currency: &payment.currency,
    };
    let (code, message) = code_and_message(payment, language);
    Reply::ok(code, &message, &data)
}

/// Code and message of where a payment stands; a rejection says why, in the reader's language.
pub(super) fn code_and_message(payment: &Payment, language: Language) -> (&'static str, String) {
    match (payment.status, payment.reject_reason) {
        (PaymentStatus::Created, _) => (codes::CREATED, "CREATED".to_owned()),
        (PaymentStatus::Pending, _) => (codes::PENDING, "PAYMENT_PENDING".to_owned()),
        (PaymentStatus::Charged, _) => (codes::SUCCESS, "PAYMENT_SUCCESS".to_owned()),
        (PaymentStatus::Rejected, Some(reason)) => (reason.code(), language.say(Message::from(reason))),
        (PaymentStatus::Rejected, None) => (codes::INTERNAL, "PAYMENT_REJECTED".to_owned()),
    }
}
