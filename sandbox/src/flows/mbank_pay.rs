//! `POST /api/v1.1.0/mbank/pay`: a request for funds to an MBank phone.

use axum::http::Method;
use rust_decimal::Decimal;
use serde::Serialize;

use crate::{
    actions::register::register,
    amount::Amount,
    fields::Fields,
    flows::{Endpoint, Input},
    gateway::{Gateway, new_gateway_number},
    mask,
    payment::{PaymentKind, Provider},
    problem::Problem,
    refusal::Refusal,
    reply::{Reply, codes},
    rules,
    store::payments::NewPayment,
    test_data,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/api/v1.1.0/mbank/pay",
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    order_number: &'a str,
    payment_id: &'a str,
    amount: Option<Amount>,
    currency: &'a str,
    status: &'static str,
}

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let order_number = fields.required("orderNumber", rules::text);
    let phone = fields.required("phone", rules::phone);
    let amount = fields.required("amount", rules::integer(1));
    let comment = fields.required("comment", rules::text);
    let callback_url = fields.optional("callbackUrl", rules::web_url);
    if fields.is_sound("phone") && test_data::phone_of(Provider::MBank, &phone).is_none() {
        fields.violate("phone", Problem::UnknownTestPhone);
    }
    fields.finish()?;

    let new = NewPayment {
        kind: PaymentKind::Mbank,
        order_number,
        gateway_number: new_gateway_number(),
        provider: Some(Provider::MBank),
        amount: Some(Decimal::from(amount)),
        currency: "KGS".to_owned(),
        description: comment,
        holder_name: None,
        requisite: None,
        masked_card: None,
        masked_phone: Some(mask::phone(&phone)),
        language: None,
        return_url: None,
        callback_url,
        confirmation_page: false,
    };
    let payment = register(gateway, &new, None)?.payment;
    let data = Data {
        order_number: &payment.order_number,
        payment_id: &payment.gateway_number,
        amount: payment.amount.map(Amount),
        currency: &payment.currency,
        status: payment.status.as_str(),
    };
    Ok(Reply::ok(codes::CREATED, "CREATED", &data))
}
