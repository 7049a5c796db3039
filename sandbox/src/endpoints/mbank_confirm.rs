//! `POST /api/v1.1.0/mbank/confirm`: the one-time password that the payer received.

use axum::http::Method;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    domain::{EndpointName, Language, Payment, PaymentKind, PaymentStatus},
    endpoints::{
        Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Response, finipay,
        status_response::{STATUS_CODES, code_and_message},
    },
    payments::submit_otp::{OtpResult, submit_otp},
    rules::{self, Problem, Violation},
    settings::{Dialect, MbankQuid, Switches},
    state::State,
    store::payments::{self, Record},
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
               need not come along; where it does, it has to match. Acting as FINIPAY the identifier is `quid`, and the \
               switch `mbank_quid` says where it is to come; otherwise there is no such field.",
        take: |fields| drop(take(fields)),
        example: r#"{"orderNumber": "ORDER-2", "otp": "101101"}"#,
        answers: Answers::Envelope(&STATUS_CODES, |generator| generator.subschema_for::<Data<'_>>()),
        finipay: Some(&finipay::MBANK_CONFIRMED),
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

const PAYMENT_ID: &str = "paymentId";
const QUID: &str = "quid";

/// What the request names, read and checked.
struct Request {
    number: String,
    otp: String,
    payment_id: Option<String>,
    quid: Option<String>,
}

fn take(fields: &mut Fields) -> Request {
    Request {
        number: fields.required("orderNumber", rules::text()),
        otp: fields.required("otp", rules::text()),
        // "An identifier that is to be carried into the confirm step": taken where given, not demanded.
        payment_id: fields.optional(PAYMENT_ID, rules::text()),
        quid: fields.optional(QUID, rules::text()),
    }
}

/// Where FINIPAY's `quid` is to come; nothing where the sandbox acts as another gateway.
fn quid_place(switches: Switches) -> Option<MbankQuid> {
    (switches.acts_as == Dialect::Finipay).then_some(switches.mbank_quid)
}

/// Each gateway knows the identifier by one name, and where FINIPAY's is to come as a field it has to.
fn check_identifiers(fields: &mut Fields, request: &Request, place: Option<MbankQuid>) {
    if place.is_some() && request.payment_id.is_some() {
        fields.violate(PAYMENT_ID, Problem::Unknown);
    }
    match (place, &request.quid) {
        (Some(MbankQuid::Field), None) if fields.is_sound(QUID) => fields.violate(QUID, Problem::Missing),
        (None | Some(MbankQuid::OrderNumber | MbankQuid::NotSent), Some(_)) => fields.violate(QUID, Problem::Unknown),
        _ => {}
    }
}

/// The payment of the number: the merchant's, or the gateway's where that is to come in its place.
fn find(state: &State, number: &str, place: Option<MbankQuid>) -> Result<Record, Refusal> {
    let found = state.read(|connection| match place {
        Some(MbankQuid::OrderNumber) => payments::by_gateway_number(connection, number),
        _ => payments::by_order_number_and_kind(connection, number, PaymentKind::Mbank),
    })?;
    found.filter(|record| record.payment.kind == PaymentKind::Mbank).ok_or(Refusal::NotFound)
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let switches = state.switches();
    let place = quid_place(switches);
    let request = take(&mut fields);
    check_identifiers(&mut fields, &request, place);
    fields.finish()?;

    let record = find(state, &request.number, place)?;
    for (field, identifier) in [(PAYMENT_ID, request.payment_id), (QUID, request.quid)] {
        if identifier.is_some_and(|identifier| identifier != record.payment.gateway_number) {
            return Err(Refusal::Invalid(vec![Violation::new(field, Problem::MismatchedPaymentId)]));
        }
    }
    match submit_otp(state, record.id, &request.otp)? {
        OtpResult::Right(record) => {
            // That a confirmation was taken says nothing of the money. The pages show none that was rejected.
            let is_confirmed = place.is_some() && record.payment.status != PaymentStatus::Rejected;
            let response = if is_confirmed {
                finipay::mbank_confirmed(&record, state.clock().now_ms())
            } else {
                response(&record.payment, switches.language)
            };
            Ok(response.about_stuck(record.stuck))
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

/// The answer about a payment whose one-time password was right.
pub(crate) fn response(payment: &Payment, language: Language) -> Response {
    let (code, message) = code_and_message(payment, language);
    let data = Data { order_number: &payment.order_number, status: payment.status.as_str() };
    Response::ok(code, &message, &data)
}
