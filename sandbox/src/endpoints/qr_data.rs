//! `POST /gen/qr/dynamic/data`: what to put into a QR code, for those who draw their own.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{EndpointName, Payment, PaymentKind, Provider, amount::Amount, codes},
    encoding::elqr::LARGEST_AMOUNT,
    endpoints::{Answers, Description, Endpoint, Fields, Input, Refusal, Response, finipay},
    pages,
    payments::{
        qr_code::QrCode,
        register::{RegisterError, register},
    },
    rules,
    state::{State, new_gateway_number},
    store::payments::{NewPayment, Record},
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::QrDynamicData,
    input: Input::Body,
    subject: None,
    answer,
    description: Description {
        summary: "Create a QR payment, as the text to put into the code",
        text: "`sum` is in tyiyn. Without one the payer names the amount.",
        take: |fields| drop(take(fields)),
        example: r#"{
            "sum": 12550, "requisite": "996700123456", "callback_url": "http://127.0.0.1:9000/callback?order=7"
        }"#,
        answers: Answers::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Data<'_>>()),
        finipay: Some(&finipay::QR_DATA),
        refusals: &[],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "QrDataCreated", deny_unknown_fields)]
struct Data<'a> {
    /// The number that the QR status knows it by.
    transaction_id: &'a str,
    /// The text to put into the code, in ELQR: its link is the address of the payer's page, its fragment the code.
    qr_data: &'a str,
    /// The sum in tyiyn, where the request named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<Amount>,
}

/// What both QR endpoints are asked for.
pub(super) struct Request {
    sum: Option<i64>,
    requisite: Option<String>,
    callback_url: Option<String>,
}

fn take(fields: &mut Fields) -> Request {
    let sum = fields.optional("sum", rules::integer_up_to(1, LARGEST_AMOUNT));
    with_sum(fields, sum)
}

/// Takes the fields that both QR endpoints share.
pub(super) fn with_sum(fields: &mut Fields, sum: Option<i64>) -> Request {
    Request {
        sum,
        requisite: fields.optional("requisite", rules::text()),
        callback_url: fields.optional("callback_url", rules::web_url()),
    }
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let request = take(&mut fields);
    fields.finish()?;
    let record = register_qr(state, request)?;
    let text = payload(state, &record);
    let response = if state.acts_as_finipay() { finipay::qr_data(&text) } else { response(&record.payment, &text) };
    Ok(response.about(record.id))
}

/// The answer about a transaction that was made.
pub(crate) fn response(payment: &Payment, payload: &str) -> Response {
    let data = Data { transaction_id: &payment.order_number, qr_data: payload, sum: payment.amount.map(Amount) };
    Response::ok(codes::CREATED, "CREATED", &data)
}

/// Registers the transaction.
pub(super) fn register_qr(state: &State, request: Request) -> Result<Record, RegisterError> {
    let Request { sum, requisite, callback_url } = request;
    let new = NewPayment {
        kind: PaymentKind::Qr,
        order_number: if state.acts_as_finipay() {
            finipay::new_transaction_id()
        } else {
            format!("QR-{}", Uuid::new_v4().simple())
        },
        gateway_number: new_gateway_number(),
        // QR codes are paid from a bank's app.
        provider: Some(Provider::MBank),
        amount: sum.map(Decimal::from),
        currency: "KGS".to_owned(),
        description: requisite.clone().unwrap_or_default(),
        holder_name: None,
        requisite,
        masked_card: None,
        masked_phone: None,
        language: None,
        return_url: None,
        callback_url,
        confirmation_page: false,
    };
    register(state, &new, None)
}

/// The text in the QR code: a link to the payer's page, with the code behind it.
pub(super) fn payload(state: &State, record: &Record) -> String {
    QrCode::of(record).linked(&state.page_url(pages::qr::PATH, &record.payment.gateway_number))
}
