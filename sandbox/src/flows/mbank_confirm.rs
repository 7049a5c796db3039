//! `POST /api/v1.1.0/mbank/confirm`: the one-time password that the payer received.

use axum::http::Method;
use serde::Serialize;

use crate::{
    actions::submit_otp::{OtpResult, submit_otp},
    fields::Fields,
    flows::{Endpoint, Input, status_reply::code_and_message},
    gateway::Gateway,
    payment::PaymentKind,
    problem::{Problem, Violation},
    refusal::Refusal,
    reply::Reply,
    rules,
    store::payments,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/api/v1.1.0/mbank/confirm",
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
};

#[derive(Serialize)]
struct Data<'a> {
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    status: &'static str,
}

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let number = fields.required("orderNumber", rules::text);
    let otp = fields.required("otp", rules::text);
    // "An identifier that is to be carried into the confirm step": taken where given, not demanded.
    let payment_id = fields.optional("paymentId", rules::text);
    fields.finish()?;

    let record = gateway
        .read(|connection| payments::by_order_number_and_kind(connection, &number, PaymentKind::Mbank))?
        .ok_or(Refusal::NotFound)?;
    if payment_id.is_some_and(|id| id != record.payment.gateway_number) {
        let violation = Violation::new("paymentId", Problem::MismatchedPaymentId);
        return Err(Refusal::Invalid(vec![violation]));
    }
    match submit_otp(gateway, record.id, &otp)? {
        OtpResult::Right(record) => {
            let payment = &record.payment;
            let (code, message) = code_and_message(payment, gateway.options.language);
            let data = Data { order_number: &payment.order_number, status: payment.status.as_str() };
            Ok(Reply::ok(code, &message, &data))
        }
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
