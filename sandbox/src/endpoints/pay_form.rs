//! `POST /api/v1.1.0/pay-form`: creates a pay-form, where the payer chooses a method.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{EndpointName, PaymentKind, codes},
    endpoints::{Description, Endpoint, Fields, Input, Rejection, Response, SuccessBody},
    pages,
    payments::transition::register,
    rules,
    state::{State, new_gateway_number},
    store::payments::NewPayment,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::PayForm,
    input: Input::Body,
    subject: None,
    handle: create,
    description: Description {
        summary: "Create a hosted pay-form",
        text: "On the page, the payer chooses a payment method. The amount is in KGS; the minimum for MegaPay is 5 KGS.",
        take: |fields| drop(read_request(fields)),
        example: r#"{
            "amount": 99.50, "serviceName": "Flower shop",
            "callbackURL": "http://127.0.0.1:9000/callback?order=7", "returnURL": "https://shop.example/done?order=7"
        }"#,
        success: SuccessBody::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Data<'_>>()),
        finipay: None,
        rejections: &[],
    },
};

/// The URL of the created pay-form.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PayFormCreated", deny_unknown_fields)]
struct Data<'a> {
    /// URL of the page on which the payer chooses how to pay. Its `token` is the gateway's number, for status queries.
    pay_form_url: &'a str,
}

/// The checked fields of the request.
struct Request {
    amount: Decimal,
    service_name: String,
    callback_url: String,
    return_url: String,
}

fn read_request(fields: &mut Fields) -> Request {
    Request {
        amount: fields.required("amount", rules::decimal(1)),
        service_name: fields.required("serviceName", rules::text()),
        callback_url: fields.required("callbackURL", rules::web_url()),
        return_url: fields.required("returnURL", rules::return_url()),
    }
}

fn create(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_request(&mut fields);
    fields.finish()?;

    let new = NewPayment {
        kind: PaymentKind::PayForm,
        order_number: format!("PF-{}", Uuid::new_v4().simple()),
        gateway_number: new_gateway_number(),
        provider: None,
        amount: Some(request.amount),
        currency: "KGS".to_owned(),
        description: request.service_name,
        holder_name: None,
        requisite: None,
        masked_card: None,
        masked_phone: None,
        language: None,
        return_url: Some(request.return_url),
        callback_url: Some(request.callback_url),
        confirmation_page: false,
    };
    let record = register(state, &new, None)?;
    let url = state.page_url(pages::pay_form::PATH, &record.payment.gateway_number);
    Ok(response(&url).about(record.id))
}

/// The response for a new pay-form.
pub(crate) fn response(url: &str) -> Response {
    Response::ok(codes::CREATED, "CREATED", &Data { pay_form_url: url })
}
