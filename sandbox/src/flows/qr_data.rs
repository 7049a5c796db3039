//! `POST /gen/qr/dynamic/data`: what to put into a QR code, for those who draw their own.

use axum::http::Method;
use rust_decimal::Decimal;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    actions::register::register,
    amount::Amount,
    fields::Fields,
    flows::{Endpoint, Input},
    gateway::{Gateway, new_gateway_number},
    pages,
    payment::{PaymentKind, Provider},
    refusal::Refusal,
    reply::{Reply, codes},
    rules,
    store::payments::{NewPayment, Record},
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/gen/qr/dynamic/data",
    input: Input::Body,
    subject: None,
    answer,
};

#[derive(Serialize)]
struct Data<'a> {
    transaction_id: &'a str,
    qr_data: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    sum: Option<Amount>,
}

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let sum = fields.optional("sum", rules::integer(1));
    let record = register_qr(gateway, fields, sum)?;
    let payment = &record.payment;
    let data = Data {
        transaction_id: &payment.order_number,
        qr_data: payload(gateway, &record),
        sum: payment.amount.map(Amount),
    };
    Ok(Reply::ok(codes::CREATED, "CREATED", &data))
}

/// Takes the fields that both QR endpoints share and registers the transaction.
pub(super) fn register_qr(gateway: &Gateway, mut fields: Fields, sum: Option<i64>) -> Result<Record, Refusal> {
    let requisite = fields.optional("requisite", rules::text);
    let callback_url = fields.optional("callback_url", rules::web_url);
    fields.finish()?;
    let new = NewPayment {
        kind: PaymentKind::Qr,
        order_number: format!("QR-{}", Uuid::new_v4().simple()),
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
    register(gateway, &new, None)
}

/// The text in the QR code: a link to the payer's page.
pub(super) fn payload(gateway: &Gateway, record: &Record) -> String {
    gateway.page_url(pages::qr::PATH, &record.payment.gateway_number)
}
