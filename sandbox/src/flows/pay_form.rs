//! `POST /api/v1.1.0/pay-form`: a hosted page where the payer picks how to pay.

use axum::http::Method;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    actions::register::register,
    fields::Fields,
    flows::{Endpoint, Input},
    gateway::{Gateway, new_gateway_number},
    pages,
    payment::PaymentKind,
    refusal::Refusal,
    reply::{Reply, codes},
    rules,
    store::payments::NewPayment,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/api/v1.1.0/pay-form",
    input: Input::Body,
    subject: None,
    answer,
};

/// The link, in the envelope as every other answer.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    pay_form_url: &'a str,
}

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let amount = fields.required("amount", rules::decimal(1));
    let service_name = fields.required("serviceName", rules::text);
    let callback_url = fields.required("callbackURL", rules::web_url);
    let return_url = fields.required("returnURL", rules::return_url);
    fields.finish()?;

    let new = NewPayment {
        kind: PaymentKind::PayForm,
        order_number: format!("PF-{}", Uuid::new_v4().simple()),
        gateway_number: new_gateway_number(),
        provider: None,
        amount: Some(amount),
        currency: "KGS".to_owned(),
        description: service_name,
        holder_name: None,
        requisite: None,
        masked_card: None,
        masked_phone: None,
        language: None,
        return_url: Some(return_url),
        callback_url: Some(callback_url),
        confirmation_page: false,
    };
    let payment = register(gateway, &new, None)?.payment;
    let url = gateway.page_url(pages::pay_form::PATH, &payment.gateway_number);
    let data = Data { pay_form_url: &url };
    Ok(Reply::ok(codes::CREATED, "CREATED", &data))
}
