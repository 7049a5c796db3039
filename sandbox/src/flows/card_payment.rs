//! `POST /api/v1.1.0/payment`: a payment by card data.

use axum::http::Method;
use serde::Serialize;

use crate::{
    actions::{register::register, submit_pay_form::has_confirmation_page},
    amount::Amount,
    clock,
    fields::Fields,
    flows::{Endpoint, Input},
    gateway::{Gateway, new_gateway_number},
    language::Language,
    mask, pages,
    payment::{PaymentKind, Provider},
    problem::Problem,
    refusal::Refusal,
    reply::{Reply, codes},
    rules,
    state::{PaymentStatus, RejectReason},
    store::payments::{NewPayment, Record},
    test_data::{self, TestCard},
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    allowed: "POST",
    path: "/api/v1.1.0/payment",
    input: Input::Body,
    subject: Some("orderNumber"),
    answer,
};

#[derive(Serialize)]
struct Data<'a> {
    amount: Option<Amount>,
    currency: &'a str,
    name: Option<&'a str>,
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    description: &'a str,
    #[serde(rename = "ConfirmationUrl", skip_serializing_if = "Option::is_none")]
    confirmation_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
}

fn answer(gateway: &Gateway, mut fields: Fields) -> Result<Reply, Refusal> {
    let order_number = fields.required("orderNumber", rules::text);
    let description = fields.required("description", rules::text);
    let amount = fields.required("amount", rules::decimal(1));
    let currency = fields.required("currency", rules::currency);
    let card = test_card(&mut fields);
    let language = fields.required("language", rules::language);
    let name = fields.required("name", rules::text);
    let return_url = fields.optional("returnUrl", rules::return_url);
    let callback_url = fields.required("callbackUrl", rules::web_url);
    fields.required("ip", rules::ip_address);
    fields.optional("email", rules::email);
    fields.finish()?;
    let card = card.ok_or_else(|| Refusal::Internal("a card without a test card".to_owned()))?;

    let confirmation_page = has_confirmation_page(card, gateway.options.three_ds_1_page);
    let new = NewPayment {
        kind: PaymentKind::Card,
        order_number,
        gateway_number: new_gateway_number(),
        provider: Some(Provider::Cards),
        amount: Some(amount),
        currency,
        description,
        holder_name: Some(name),
        requisite: None,
        masked_card: Some(mask::card(card.pan)),
        masked_phone: None,
        language: Language::from_code(&language),
        return_url,
        callback_url: Some(callback_url),
        confirmation_page,
    };
    let at_once = (!confirmation_page).then(|| card.outcome.event());
    created(gateway, &register(gateway, &new, at_once)?)
}

/// Checks the card's four fields; what is unknown to the sandbox is refused, not declined.
fn test_card(fields: &mut Fields) -> Option<&'static TestCard> {
    let pan = fields.required("pan", rules::pan);
    let month = fields.required("expiryMonth", rules::expiry_month);
    let year = fields.required("expiryYear", rules::expiry_year);
    fields.required("cvc", rules::cvc);
    if let Some(month) = month
        && fields.is_sound("expiryYear")
        && !clock::ends_after(year, month, clock::today())
    {
        fields.violate("expiryMonth", Problem::Expired);
        fields.violate("expiryYear", Problem::Expired);
    }
    let card = test_data::card_of(&pan);
    if card.is_none() && fields.is_sound("pan") {
        fields.violate("pan", Problem::UnknownTestCard);
    }
    card
}

fn created(gateway: &Gateway, record: &Record) -> Result<Reply, Refusal> {
    let payment = &record.payment;
    if payment.reject_reason == Some(RejectReason::ProcessingError) {
        return Err(Refusal::CardError);
    }
    let page = || gateway.page_url(pages::three_ds::PATH, &payment.gateway_number);
    let data = Data {
        amount: payment.amount.map(Amount),
        currency: &payment.currency,
        name: record.holder_name.as_deref(),
        order_number: &payment.order_number,
        description: &record.description,
        confirmation_url: record.confirmation_page.then(page),
        status: (!record.confirmation_page).then(|| shown_status(payment.status)),
    };
    Ok(Reply::ok(codes::CREATED, "CREATED", &data))
}

/// The interface shows "Success" here; the other outcomes keep their own words.
fn shown_status(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Charged => "Success",
        other => other.as_str(),
    }
}
