//! `POST /api/v1.1.0/pay-form`: creates a pay-form, where the payer chooses a method.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use crate::{
    domain::{EndpointName, PaymentKind, codes},
    endpoints::{Answers, Description, Endpoint, Fields, Input, Refusal, Response},
    pages,
    payments::transition::register,
    rules,
    state::{State, new_gateway_number},
    store::payments::NewPayment,
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    name: EndpointName::PayForm,
    input: Input::Body,
    subject: None,
    answer,
    description: Description {
        summary: "Create a hosted pay-form",
        text: "On its page the payer chooses how to pay. The amount is in KGS; MegaPay takes payments from 5 KGS.",
        take: |fields| drop(take(fields)),
        example: r#"{
            "amount": 99.50, "serviceName": "Flower shop",
            "callbackURL": "http://127.0.0.1:9000/callback?order=7", "returnURL": "https://shop.example/done?order=7"
        }"#,
        answers: Answers::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Data<'_>>()),
        finipay: None,
        refusals: &[],
    },
};

/// The link, in the envelope as every other answer.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "PayFormCreated", deny_unknown_fields)]
struct Data<'a> {
    /// The page on which the payer chooses how to pay. Its `token` is the gateway's number, for status requests.
    pay_form_url: &'a str,
}

/// What the request names, read and checked.
struct Request {
    amount: Decimal,
    service_name: String,
    callback_url: String,
    return_url: String,
}

fn take(fields: &mut Fields) -> Request {
    Request {
        amount: fields.required("amount", rules::decimal(1)),
        service_name: fields.required("serviceName", rules::text()),
        callback_url: fields.required("callbackURL", rules::web_url()),
        return_url: fields.required("returnURL", rules::return_url()),
    }
}

fn answer(state: &State, mut fields: Fields) -> Result<Response, Refusal> {
    let request = take(&mut fields);
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

/// The answer about a pay-form that was made.
pub(crate) fn response(url: &str) -> Response {
    Response::ok(codes::CREATED, "CREATED", &Data { pay_form_url: url })
}
