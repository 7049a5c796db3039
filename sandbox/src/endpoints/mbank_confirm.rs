//! `POST /api/v1.1.0/mbank/confirm`: the one-time password that the payer received.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    domain::{EndpointName, Language, Payment, PaymentKind, PaymentStatus},
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Reply,
        status_reply::{STATUS_CODES, code_and_message},
    },
    payments::submit_otp::{OtpResult, submit_otp},
    rules::{self, Problem, Violation},
    state::State,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::MbankConfirm,
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
    description: Description {
        summary: "Confirm a mobile-bank payment by the payer's one-time password",
        text: "The number is the merchant's. `paymentId`, the identifier from the answer that created the payment, \
               need not come along; where it does, it has to match.",
        take: |fields| drop(take(fields)),
        example: r#"{"orderNumber": "ORDER-2", "otp": "101101"}"#,
        answers: Answers::Envelope(&STATUS_CODES, |generator| generator.subschema_for::<Data<'_>>()),
        refusals: &[Refused::NotFound, Refused::Otp],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MbankPaymentConfirmed", deny_unknown_fields)]
struct Data<'a> {
    /// The merchant's number.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// Where the payment stands.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
}

/// Order number, one-time password and payment id.
fn take(fields: &mut Fields) -> (String, String, Option<String>) {
    (
        fields.required("orderNumber", rules::text()),
        fields.required("otp", rules::text()),
        // "An identifier that is to be carried into the confirm step": taken where given, not demanded.
        fields.optional("paymentId", rules::text()),
    )
}

fn answer(state: &State, mut fields: Fields) -> Result<Reply, Refusal> {
    let (number, otp, payment_id) = take(&mut fields);
    fields.finish()?;

    let record = state
        .read(|connection| payments::by_order_number_and_kind(connection, &number, PaymentKind::Mbank))?
        .ok_or(Refusal::NotFound)?;
    if payment_id.is_some_and(|id| id != record.payment.gateway_number) {
        let violation = Violation::new("paymentId", Problem::MismatchedPaymentId);
        return Err(Refusal::Invalid(vec![violation]));
    }
    match submit_otp(state, record.id, &otp)? {
        OtpResult::Right(record) => Ok(reply(&record.payment, state.switches().language).about_stuck(record.stuck)),
        OtpResult::Wrong(record) => Err(Refusal::WrongOtp {
            order_number: record.payment.order_number,
            status: record.payment.status,
            attempts_left: record.payment.otp_attempts_left,
        }),
        OtpResult::NotAwaited(record) => {
            Err(Refusal::NotAwaitingOtp { order_number: record.payment.order_number, status: record.payment.status })
        }
    }
}

/// The answer about a payment whose one-time password was right.
pub(crate) fn reply(payment: &Payment, language: Language) -> Reply {
    let (code, message) = code_and_message(payment, language);
    let data = Data { order_number: &payment.order_number, status: payment.status.as_str() };
    Reply::ok(code, &message, &data)
}
