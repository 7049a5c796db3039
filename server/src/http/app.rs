//! What a payer's app calls, by a token that opens one checkout.

use std::{sync::Arc, time::Duration};

use axum::http::StatusCode;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::{
    card,
    fields::BodyFields,
    problem::{Problem, ProblemKind},
    request::ApiRequest,
    response::JsonResponse,
    route::{HandlerFuture, Parameter},
    state::ApiState,
    views::{self, AppCheckout, AppPayment, Done},
};
use crate::{
    checkouts::checkout::CheckoutView,
    payments::payment::Payment,
    sending::Way,
    surroundings::Boxed,
    values::{
        error::ServerError,
        ids::{CheckoutId, PaymentId},
        method::Method,
        states::PaymentState,
        violation::Rule,
    },
};

/// A body that begins a payment.
pub(super) const EXAMPLE: &str = r#"{"method": "mbank", "phone": "996700000001"}"#;

pub(super) const AFTER: Parameter = Parameter {
    name: "after",
    is_required: false,
    text: "The version that is known already: the answer waits for a higher one.",
    schema: || json!({ "type": "integer", "minimum": 0, "maximum": i64::MAX }),
};
/// The longest wait, in seconds; the server's settings may allow less.
const LONGEST_WAIT: i64 = 60;
pub(super) const WAIT: Parameter = Parameter {
    name: "wait",
    is_required: false,
    text: "How many seconds it may wait (long poll); the server may answer earlier.",
    schema: || json!({ "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT, "default": 0 }),
};

/// The ways to pay that a server takes, as it names them.
pub(super) fn methods(takes_cards: bool) -> &'static str {
    if takes_cards { "pay_form, qr, mbank, card" } else { "pay_form, qr, mbank" }
}

/// A payment that is begun or confirmed.
type PaymentFuture<'a> = Boxed<'a, Result<Payment, ServerError>>;

/// What begins a payment.
pub(super) fn new_payment() -> Value {
    json!({
        "oneOf": [
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["method"],
                "properties": {
                    "method": { "type": "string", "enum": ["pay_form", "qr"] },
                    "instead_of": instead_of(),
                },
            },
            {
                "type": "object",
                "additionalProperties": false,
                "required": ["method", "phone"],
                "properties": {
                    "method": { "type": "string", "enum": ["mbank"] },
                    "phone": {
                        "type": "string",
                        "pattern": r"^(\+?996[1-9][0-9]{8}|0?[1-9][0-9]{8}|\+?([1-7]|9[0-8]|99[0-57-9])[0-9]{9,10})$",
                        "description": "The payer's: of Kyrgyzstan, or with its country code. Spaces, hyphens, dots, \
                            parentheses and invisible characters are allowed, too, and digits of any script. Its last \
                            two digits are kept, and one of 256 classes of it.",
                    },
                    "instead_of": instead_of(),
                },
            },
        ],
    })
}

/// What its payer leaves for it.
fn instead_of() -> Value {
    json!({
        "type": ["string", "null"], "pattern": "^pay_[0-9a-f]{32}$",
        "description": "A payment that can_be_replaced: its payer typed somebody else's number, or has no app for its code. It is \
            replaced in the transaction that begins this one, and takes no one-time password any more. Where it cannot be \
            replaced any more, the answer is 409.",
    })
}

/// The same where cards are on.
pub(super) fn new_payment_with_cards() -> Value {
    let mut schema = new_payment();
    if let Some(ways) = schema["oneOf"].as_array_mut() {
        ways.push(by_card());
    }
    schema
}

fn by_card() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["method", "card"],
        "properties": {
            "method": { "type": "string", "enum": ["card"] },
            "language": {
                "type": ["string", "null"], "pattern": "^[a-z]{2}$", "default": "ru",
                "description": "The payer's, two letters.",
            },
            "instead_of": instead_of(),
            "card": {
                "type": "object",
                "additionalProperties": false,
                "required": ["number", "expiry_month", "expiry_year", "cvc", "holder_name"],
                "description": "It is sent once and wiped; its last four digits alone are kept. Another card needs another \
                    Idempotency-Key.",
                "properties": {
                    "number": {
                        "type": "string", "pattern": "^[0-9 -]{13,40}$", "writeOnly": true,
                        "description": "The whole number, with its right check digit; spaces and hyphens are allowed. The one \
                            field that takes a card number.",
                    },
                    "expiry_month": { "type": "string", "pattern": "^(0[1-9]|1[0-2])$" },
                    "expiry_year": { "type": "integer", "minimum": 2000, "maximum": 2099 },
                    "cvc": { "type": "string", "pattern": "^[0-9]{3}$", "writeOnly": true },
                    "holder_name": {
                        "type": "string", "minLength": 1, "maxLength": 100,
                        "description": "First name, then last name.",
                    },
                },
            },
        },
    })
}

/// What confirms a payment.
pub(super) fn otp() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["otp"],
        "properties": {
            "otp": {
                "type": "string", "minLength": 1, "maxLength": 12, "pattern": "^[0-9]+$",
                "description": "The payer's one-time password, with at least one digit. Spaces, hyphens, dots and invisible \
                    characters are removed before its length is checked. It is not stored.",
            },
        },
    })
}

pub(super) fn checkout(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<AppCheckout<'_>>()
}

pub(super) fn payment(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<AppPayment<'_>>()
}

/// The checkout, at once or when it has changed. Of the request its credential alone is kept meanwhile: thousands may wait.
pub(super) async fn wait_for_change(
    http: &ApiState,
    mut request: ApiRequest,
    id: CheckoutId,
) -> Result<CheckoutView, Problem> {
    let after = request.query.number(AFTER.name, 0..=i64::MAX);
    let wait = request.query.number(WAIT.name, 0..=LONGEST_WAIT).unwrap_or(0);
    std::mem::take(&mut request.query).finish()?;
    let credential = request.credential();
    drop(request);
    let Some(after) = after else { return Ok(http.server.checkout(&id).await?) };
    let wait = Duration::from_secs(wait.unsigned_abs()).min(http.settings.longest_wait);
    let _waiting = http.server.metrics().waiting();
    let found = http.server.checkout_after_for(credential.as_ref(), &id, after, wait).await?;
    // Its key or token has expired, or was revoked: so is the next request answered.
    found.ok_or_else(|| Problem::new(ProblemKind::Unauthorized))
}

pub(super) fn read(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let id = request.own_checkout()?.checkout.id.clone();
        let view = wait_for_change(&http, request, id).await?;
        JsonResponse::ok(&views::app_checkout(&view))
    })
}

pub(super) fn check(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        http.server.check_now(&request.own_checkout()?.checkout.id).await?;
        JsonResponse::new(StatusCode::ACCEPTED, &Done {})
    })
}

pub(super) fn pay(http: Arc<ApiState>, mut request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let takes_cards = http.server.settings().takes_cards;
        let (mut fields, number) = BodyFields::parse_for_payment(&request.body, takes_cards)?;
        // Its bytes are wiped now.
        drop(std::mem::take(&mut request.body));
        let method = fields.word::<Method>("method", methods(takes_cards));
        let phone = match method {
            Some(Method::Mbank) => fields.text("phone"),
            _ => String::new(),
        };
        let card = match method {
            Some(Method::Card) if takes_cards => card::read(&mut fields, number, request.from),
            Some(Method::Card) => {
                fields.require("method", false, Rule::OneOf, &format!("must be one of {}", methods(takes_cards)));
                None
            }
            _ => None,
        };
        let instead_of = fields.optional_text("instead_of");
        let left = instead_of.as_deref().and_then(|text| text.parse::<PaymentId>().ok());
        let is_one = instead_of.is_some() == left.is_some();
        fields.require("instead_of", is_one, Rule::Format, "must be a payment's identifier");
        fields.finish()?;
        let key = request.required_key()?;
        let id = &request.own_checkout()?.checkout.id;
        let begin = || -> PaymentFuture<'_> {
            let way = match (&card, method) {
                (Some(card), _) => Way::Card(card),
                (None, Some(Method::Mbank)) => Way::Mbank { phone: &phone },
                (None, Some(Method::Qr)) => Way::Qr,
                (None, _) => Way::PayForm { back: None },
            };
            Box::pin(http.server.pay(id, way, left.as_ref(), Some(key)))
        };
        respond_within(&http, &begin, StatusCode::CREATED).await
    })
}

pub(super) fn confirm(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let mut fields = BodyFields::parse(&request.body)?;
        let otp = fields.text("otp");
        fields.finish()?;
        let key = request.required_key()?;
        let (id, payment) = (&request.own_checkout()?.checkout.id, request.payment()?);
        let confirm = || -> PaymentFuture<'_> { Box::pin(http.server.confirm(id, &payment, &otp, Some(key))) };
        respond_within(&http, &confirm, StatusCode::OK).await
    })
}

/// What became of a request that goes to the gateway. **Never an error because it takes long**: what was begun goes on, and
/// asking again with the same key says where it stands.
async fn respond_within<'a>(
    http: &ApiState,
    begin: &(dyn Fn() -> PaymentFuture<'a> + Send + Sync),
    done: StatusCode,
) -> Result<JsonResponse, Problem> {
    let within = http.settings.answer_within;
    let payment = match tokio::time::timeout(within, begin()).await {
        Ok(result) => result?,
        // By the same key it is found, and not begun again.
        Err(_) => match tokio::time::timeout(within, begin()).await {
            Ok(result) => result?,
            Err(_) => return Err(Problem::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1))),
        },
    };
    let status = if PaymentState::UNDER_WAY.contains(&payment.state) { StatusCode::ACCEPTED } else { done };
    JsonResponse::new(status, &views::app_payment(&payment))
}
