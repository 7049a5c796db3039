//! `POST /api/v1.1.0/mbank/pay`: a request for funds to an MBank phone.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    domain::{
        EndpointName, Payment, PaymentKind, PaymentStatus, Provider, amount::Amount, codes, test_data::TestPhone,
    },
    endpoints::{Answers, Description, Endpoint, Fields, Input, Refusal, Refused, Response, finipay},
    payments::register::register,
    redact::mask,
    rules,
    state::{State, new_gateway_number},
    store::payments::NewPayment,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::MbankPay,
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
    description: Description {
        summary: "Create a mobile-bank payment",
        text: "The payer's phone receives a one-time password; `mbank/confirm` takes it. The amount is in whole som.",
        take: |fields| drop(take(fields)),
        example: r#"{"orderNumber": "ORDER-2", "phone": "996555000101", "amount": 250, "comment": "Lunch"}"#,
        answers: Answers::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Data<'_>>()),
        finipay: Some(&finipay::MBANK_CREATED),
        refusals: &[Refused::ReusedOrderNumber],
    },
};

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "MbankPaymentCreated", deny_unknown_fields)]
struct Data<'a> {
    /// The merchant's number.
    order_number: &'a str,
    /// The gateway's number: for status requests, and for the confirmation where one wishes.
    payment_id: &'a str,
    /// The amount, in som.
    amount: Option<Amount>,
    /// Its currency: KGS.
    currency: &'a str,
    /// Where the payment stands.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'static str,
}

/// What the request names, read and checked.
struct Request {
    order_number: String,
    phone: Option<&'static TestPhone>,
    amount: i64,
    comment: String,
    callback_url: Option<String>,
}

fn take(fields: &mut Fields) -> Request {
    Request {
        order_number: fields.required("orderNumber", rules::text()),
        phone: fields.required("phone", rules::test_phone(Provider::MBank)),
        amount: fields.required("amount", rules::integer(1)),
        comment: fields.required("comment", rules::text()),
        callback_url: fields.optional("callbackUrl", rules::web_url()),
    }
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let request = take(&mut fields);
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
        masked_phone: request.phone.map(|phone| mask::phone(phone.phone)),
        language: None,
        return_url: None,
        callback_url: request.callback_url,
        confirmation_page: false,
    };
    let record = register(state, &new, None)?;
    Ok(if as_finipay { finipay::mbank_created(&record) } else { response(&record.payment) })
}

/// The answer about a payment that was made.
pub(crate) fn response(payment: &Payment) -> Response {
    let data = Data {
        order_number: &payment.order_number,
        payment_id: &payment.gateway_number,
        amount: payment.amount.map(Amount),
        currency: &payment.currency,
        status: payment.status.as_str(),
    };
    Response::ok(codes::CREATED, "CREATED", &data)
}
