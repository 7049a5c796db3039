//! MBank payments: `POST /api/v1.1.0/mbank/pay` requests money from an MBank phone, and
//! `POST /api/v1.1.0/mbank/confirm` takes the one-time password that the payer received.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    domain::{
        EndpointName, Language, Payment, PaymentKind, PaymentStatus, Provider, amount::Amount, codes,
        test_data::TestPhone,
    },
    endpoints::{
        Description, Endpoint, Fields, Input, Rejection, RejectionKind, Response, SuccessBody, finipay,
        status::{STATUS_CODES, code_and_message},
    },
    payments::{
        payer::{OtpResult, submit_otp},
        transition::register,
    },
    redact::card_numbers,
    rules::{self, Problem, Violation},
    settings::{Dialect, MbankQuid, Switches},
    state::{State, new_gateway_number},
    store::payments::{self, NewPayment, Record},
};

pub(super) const PAY: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::MbankPay,
    input: Input::Body,
    subject: Some("orderNumber"),
    handle: pay,
    description: Description {
        summary: "Create a mobile-bank payment",
        text: "The payer's phone receives a one-time password, which `mbank/confirm` accepts. The amount is in whole som.",
        take: |fields| drop(read_pay(fields)),
        example: r#"{"orderNumber": "ORDER-2", "phone": "996555000101", "amount": 250, "comment": "Lunch"}"#,
        success: SuccessBody::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Created<'_>>()),
        finipay: Some(&finipay::MBANK_CREATED),
        rejections: &[RejectionKind::ReusedOrderNumber],
    },
};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MbankPaymentCreated", deny_unknown_fields)]
struct Created<'a> {
    /// The merchant's order number.
    order_number: &'a str,
    /// The gateway's number, for status queries and, optionally, for the confirmation.
    payment_id: &'a str,
    /// Amount in som.
    amount: Option<Amount>,
    /// Currency code: KGS.
    currency: &'a str,
    /// The payment's state.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
}

/// The checked fields of the request.
struct PayRequest {
    order_number: String,
    phone: Option<&'static TestPhone>,
    amount: i64,
    comment: String,
    callback_url: Option<String>,
}

fn read_pay(fields: &mut Fields) -> PayRequest {
    PayRequest {
        order_number: fields.required("orderNumber", rules::text()),
        phone: fields.required("phone", rules::test_phone(Provider::MBank)),
        amount: fields.required("amount", rules::integer(1)),
        comment: fields.required("comment", rules::text()),
        callback_url: fields.optional("callbackUrl", rules::web_url()),
    }
}

fn pay(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_pay(&mut fields);
    fields.finish()?;

    let as_finipay = state.acts_as_finipay();
    let new = NewPayment {
        kind: PaymentKind::Mbank,
        order_number: request.order_number,
        gateway_number: if as_finipay { finipay::new_quid(state.clock().now_ms()) } else { new_gateway_number() },
        provider: Some(Provider::MBank),
        amount: Some(Decimal::from(request.amount)),
        currency: "KGS".to_owned(),
        description: request.comment,
        holder_name: None,
        requisite: None,
        masked_card: None,
        masked_phone: request.phone.map(|phone| card_numbers::mask_phone(phone.phone)),
        language: None,
        return_url: None,
        callback_url: request.callback_url,
        confirmation_page: false,
    };
    let record = register(state, &new, None)?;
    Ok(if as_finipay { finipay::mbank_created(&record) } else { created_response(&record.payment) })
}

/// The response for a new payment.
pub(crate) fn created_response(payment: &Payment) -> Response {
    let data = Created {
        order_number: &payment.order_number,
        payment_id: &payment.gateway_number,
        amount: payment.amount.map(Amount),
        currency: &payment.currency,
        status: payment.status.as_str(),
    };
    Response::ok(codes::CREATED, "CREATED", &data)
}

pub(super) const CONFIRM: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::MbankConfirm,
    input: Input::Body,
    subject: Some("orderNumber"),
    handle: confirm,
    description: Description {
        summary: "Confirm a mobile-bank payment with the payer's one-time password",
        text: "`orderNumber` is the merchant's number. `paymentId`, the identifier returned when the payment was created, \
               is optional; if present, it must match. If the sandbox acts as FINIPAY, the identifier is `quid`, and the \
               switch `mbank_quid` determines where it is sent; otherwise there is no such field.",
        take: |fields| drop(read_confirm(fields)),
        example: r#"{"orderNumber": "ORDER-2", "otp": "101101"}"#,
        success: SuccessBody::Envelope(&STATUS_CODES, |generator| generator.subschema_for::<Confirmed<'_>>()),
        finipay: Some(&finipay::MBANK_CONFIRMED),
        rejections: &[RejectionKind::NotFound, RejectionKind::Otp],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "MbankPaymentConfirmed", deny_unknown_fields)]
struct Confirmed<'a> {
    /// The merchant's order number.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// The payment's state.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
}

const PAYMENT_ID: &str = "paymentId";
const QUID: &str = "quid";

/// The checked fields of the request.
struct ConfirmRequest {
    number: String,
    otp: String,
    payment_id: Option<String>,
    quid: Option<String>,
}

fn read_confirm(fields: &mut Fields) -> ConfirmRequest {
    ConfirmRequest {
        number: fields.required("orderNumber", rules::text()),
        otp: fields.required("otp", rules::text()),
        // "An identifier that is to be carried into the confirm step": accepted, but not required.
        payment_id: fields.optional(PAYMENT_ID, rules::text()),
        quid: fields.optional(QUID, rules::text()),
    }
}

/// The position of FINIPAY's `quid`; `None` if the sandbox acts as another gateway.
fn quid_place(switches: Switches) -> Option<MbankQuid> {
    (switches.acts_as == Dialect::Finipay).then_some(switches.mbank_quid)
}

/// Each gateway has one name for the identifier. FINIPAY's is required if it has a field of its own.
fn check_identifiers(fields: &mut Fields, request: &ConfirmRequest, place: Option<MbankQuid>) {
    if place.is_some() && request.payment_id.is_some() {
        fields.violate(PAYMENT_ID, Problem::Unknown);
    }
    match (place, &request.quid) {
        (Some(MbankQuid::Field), None) if fields.is_sound(QUID) => fields.violate(QUID, Problem::Missing),
        (None | Some(MbankQuid::OrderNumber | MbankQuid::NotSent), Some(_)) => fields.violate(QUID, Problem::Unknown),
        _ => {}
    }
}

/// The payment with the merchant's number, or with the gateway's number if that is sent instead.
fn find(state: &State, number: &str, place: Option<MbankQuid>) -> Result<Record, Rejection> {
    let found = state.read(|connection| match place {
        Some(MbankQuid::OrderNumber) => payments::by_gateway_number(connection, number),
        _ => payments::by_order_number_and_kind(connection, number, PaymentKind::Mbank),
    })?;
    found.filter(|record| record.payment.kind == PaymentKind::Mbank).ok_or(Rejection::NotFound)
}

fn confirm(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let switches = state.switches();
    let place = quid_place(switches);
    let request = read_confirm(&mut fields);
    check_identifiers(&mut fields, &request, place);
    fields.finish()?;

    let record = find(state, &request.number, place)?;
    for (field, identifier) in [(PAYMENT_ID, request.payment_id), (QUID, request.quid)] {
        if identifier.is_some_and(|identifier| identifier != record.payment.gateway_number) {
            return Err(Rejection::Invalid(vec![Violation::new(field, Problem::OfAnotherPayment)]));
        }
    }
    match submit_otp(state, record.id, &request.otp)? {
        OtpResult::Right(record) => {
            // An accepted confirmation does not mean that money was taken. FINIPAY's pages show no rejected one.
            let is_confirmed = place.is_some() && record.payment.status != PaymentStatus::Rejected;
            let confirmed = if is_confirmed {
                finipay::mbank_confirmed(&record, state.clock().now_ms())
            } else {
                confirmed_response(&record.payment, switches.language)
            };
            Ok(confirmed.about_stuck(record.stuck))
        }
        OtpResult::Wrong(record) => Err(Rejection::WrongOtp {
            order_number: record.payment.order_number,
            status: record.payment.status,
            attempts_left: record.payment.otp_attempts_left,
        }),
        OtpResult::NotAwaited(record) => {
            Err(Rejection::NotAwaitingOtp { order_number: record.payment.order_number, status: record.payment.status })
        }
    }
}

/// The response for a payment after the right one-time password.
pub(crate) fn confirmed_response(payment: &Payment, language: Language) -> Response {
    let (code, message) = code_and_message(payment, language);
    let data = Confirmed { order_number: &payment.order_number, status: payment.status.as_str() };
    Response::ok(code, &message, &data)
}
