//! `POST /api/v1.1.0/payment`: a payment by card data.

use axum::http::Method;
use rust_decimal::Decimal;
use schemars::JsonSchema;
use serde::Serialize;
use time::{Date, Month};

use crate::{
    domain::{
        EndpointName, Language, PaymentKind, PaymentStatus, Provider, RejectReason, amount::Amount, clock, codes,
        test_data::TestCard,
    },
    endpoints::{Description, Endpoint, Fields, Input, Rejection, RejectionKind, Response, SuccessBody},
    pages,
    payments::{payer::has_confirmation_page, transition::register},
    redact::card_numbers,
    rules::{self, Problem, Spanning},
    state::{State, new_gateway_number},
    store::payments::{NewPayment, Record},
};

pub(super) const ENDPOINT: Endpoint = Endpoint {
    method: Method::POST,
    other_method: None,
    allowed: "POST",
    name: EndpointName::Payment,
    input: Input::Body,
    subject: Some("orderNumber"),
    handle: create,
    description: Description {
        summary: "Create a card payment",
        text: "If the response contains `ConfirmationUrl`, the payer confirms there; otherwise `status` is the outcome. \
               Do not rely on it: query the payment's status.",
        take: |fields| drop(read_request(fields)),
        example: r#"{
            "orderNumber": "ORDER-1", "description": "Two coffees", "amount": 100.10, "currency": "KGS",
            "pan": "4111111111111111", "expiryMonth": "12", "expiryYear": 2099, "cvc": "123",
            "language": "en", "name": "Aibek Asanov", "ip": "203.0.113.7",
            "returnUrl": "https://shop.example/done?cart=7", "callbackUrl": "http://127.0.0.1:9000/callback"
        }"#,
        success: SuccessBody::Envelope(&[codes::CREATED], |generator| generator.subschema_for::<Data<'_>>()),
        finipay: None,
        rejections: &[RejectionKind::ReusedOrderNumber],
    },
};

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CardPaymentCreated", deny_unknown_fields)]
struct Data<'a> {
    /// Amount with exact digits.
    amount: Option<Amount>,
    /// Currency code.
    currency: &'a str,
    /// Cardholder name.
    name: Option<&'a str>,
    /// The merchant's order number.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// Description of what is paid for.
    description: &'a str,
    /// URL of the page on which the payer confirms. Its `token` is the gateway's number, for status queries.
    #[serde(rename = "ConfirmationUrl", skip_serializing_if = "Option::is_none")]
    confirmation_url: Option<String>,
    /// Outcome of the payment, present if there is no confirmation page. `Success` if it was charged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["Success", PaymentStatus::Pending.as_str(), PaymentStatus::Rejected.as_str()]))]
    status: Option<&'static str>,
}

/// The checked fields of the request.
struct Request {
    order_number: String,
    description: String,
    amount: Decimal,
    currency: String,
    card: Option<&'static TestCard>,
    expiry: Option<(i32, Month)>,
    language: String,
    name: String,
    return_url: Option<String>,
    callback_url: String,
}

fn read_request(fields: &mut Fields) -> Request {
    let request = Request {
        order_number: fields.required("orderNumber", rules::text()),
        description: fields.required("description", rules::text()),
        amount: fields.required("amount", rules::decimal(1)),
        currency: fields.required("currency", rules::currency()),
        card: fields.required("pan", rules::test_card()),
        expiry: expiry(fields),
        language: fields.required("language", rules::language()),
        name: fields.required("name", rules::text()),
        return_url: fields.optional("returnUrl", rules::return_url()),
        callback_url: fields.required("callbackUrl", rules::web_url()),
    };
    fields.required("cvc", rules::cvc());
    fields.required("ip", rules::ip_address());
    fields.optional("email", rules::email());
    request
}

/// Year and month, if both are valid.
fn expiry(fields: &mut Fields) -> Option<(i32, Month)> {
    let month = fields.required("expiryMonth", rules::expiry_month());
    let year = fields.required("expiryYear", rules::expiry_year());
    fields.spanning(Spanning::CardExpiry);
    let month = month?;
    fields.is_sound("expiryYear").then_some((year, month))
}

/// The rule that spans two fields and depends on the date.
fn check_expiry(fields: &mut Fields, expiry: Option<(i32, Month)>, today: Date) {
    if expiry.is_some_and(|(year, month)| !clock::ends_after(year, month, today)) {
        fields.violate("expiryMonth", Problem::Expired);
        fields.violate("expiryYear", Problem::Expired);
    }
}

fn create(state: &State, mut fields: Fields) -> Result<Response, Rejection> {
    let request = read_request(&mut fields);
    check_expiry(&mut fields, request.expiry, state.clock().today());
    fields.finish()?;
    let card = request.card.ok_or_else(|| Rejection::Internal("a card without a test card".to_owned()))?;

    let confirmation_page = has_confirmation_page(card, state.switches().three_ds_1_page);
    let new = NewPayment {
        kind: PaymentKind::Card,
        order_number: request.order_number,
        gateway_number: new_gateway_number(),
        provider: Some(Provider::Cards),
        amount: Some(request.amount),
        currency: request.currency,
        description: request.description,
        holder_name: Some(request.name),
        requisite: None,
        masked_card: Some(card_numbers::mask_card(card.pan)),
        masked_phone: None,
        language: Language::from_code(&request.language),
        return_url: request.return_url,
        callback_url: Some(request.callback_url),
        confirmation_page,
    };
    let at_once = (!confirmation_page).then(|| card.outcome.event());
    created(state, &register(state, &new, at_once)?)
}

fn created(state: &State, record: &Record) -> Result<Response, Rejection> {
    let payment = &record.payment;
    if payment.reject_reason == Some(RejectReason::ProcessingError) {
        return Err(Rejection::CardError);
    }
    Ok(response(record, &state.page_url(pages::otp::THREE_DS_PATH, &payment.gateway_number)).about_stuck(record.stuck))
}

/// The response for a new payment. `page` is the confirmation page, if the payment needs one.
pub(crate) fn response(record: &Record, page: &str) -> Response {
    let payment = &record.payment;
    let data = Data {
        amount: payment.amount.map(Amount),
        currency: &payment.currency,
        name: record.holder_name.as_deref(),
        order_number: &payment.order_number,
        description: &record.description,
        confirmation_url: record.confirmation_page.then(|| page.to_owned()),
        status: (!record.confirmation_page).then(|| shown_status(payment.status)),
    };
    Response::ok(codes::CREATED, "CREATED", &data)
}

/// The interface shows "Success" here; other outcomes have their status words.
fn shown_status(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Charged => "Success",
        other => other.as_str(),
    }
}
