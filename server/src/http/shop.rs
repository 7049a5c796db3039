//! What a shop's back end calls.

use std::sync::Arc;

use axum::http::StatusCode;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::{
    app::{methods, wait_for_change},
    fields::BodyFields,
    problem::Problem,
    request::ApiRequest,
    response::JsonResponse,
    route::{HandlerFuture, Parameter},
    state::ApiState,
    views::{self, Count, Done, Events, ShopCheckout, ShopPayment, Token},
};
use crate::{
    checkouts::new_checkout::NewCheckout,
    values::cursor::Cursor,
    values::{ids::CheckoutId, method::Method, states::Resolution, violation::Rule},
};

/// How long a checkout can be paid, in seconds.
const LIFETIME: std::ops::RangeInclusive<u64> = 60..=30 * 24 * 60 * 60;
const MOST_EVENTS: i64 = 1000;
const EVENTS: i64 = 100;

/// A body that opens a checkout.
pub(super) const EXAMPLE: &str = r#"{"reference": "order-17", "amount": "390.00", "description": "Two tickets", "return_url": "https://shop.example.kg/paid"}"#;

pub(super) const REFERENCE: Parameter = Parameter {
    name: "reference",
    is_required: true,
    text: "The shop's own reference.",
    schema: || json!({ "type": "string", "minLength": 1, "maxLength": 64 }),
};
pub(super) const EVENTS_AFTER: Parameter = Parameter {
    name: "after",
    is_required: false,
    text: "The cursor of the last event that was read, or `next` of the last page; 0 to begin with the first event.",
    schema: || json!({ "type": "string", "pattern": r"^(0|[1-9][0-9]{0,17}\.[a-p]{1,15}\.[a-p]{16})$", "default": "0" }),
};
pub(super) const LIMIT: Parameter = Parameter {
    name: "limit",
    is_required: false,
    text: "How many at most.",
    schema: || json!({ "type": "integer", "minimum": 1, "maximum": MOST_EVENTS, "default": EVENTS }),
};

/// A text that holds no control characters, and is not blank.
const TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
/// One that may be blank.
const ANY_TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

/// What opens a checkout.
pub(super) fn new_checkout() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["reference", "amount", "description", "return_url"],
        "if": {
            "required": ["methods"],
            "properties": { "methods": { "type": "array", "contains": { "const": "mbank" } } },
        },
        "then": { "properties": { "amount": { "pattern": r"^[1-9][0-9]{0,14}(\.0{1,2})?$" } } },
        "properties": {
            "reference": {
                "type": "string", "minLength": 1, "maxLength": 64, "pattern": TEXT,
                "description": "The shop's own, such as the order's number.",
            },
            "amount": {
                "type": "string",
                "pattern": r"^[1-9][0-9]{0,14}(\.[0-9]{1,2})?$",
                "description": "In units of the currency, at least 1. A text, as a JSON number would be rounded. The \
                    mobile bank takes whole som alone.",
            },
            "currency": { "type": ["string", "null"], "enum": ["KGS", null], "default": "KGS" },
            "description": {
                "type": "string", "minLength": 1, "maxLength": 256, "pattern": TEXT, "description": "What is paid for.",
            },
            "methods": {
                "type": ["array", "null"],
                "items": { "type": "string", "enum": ["pay_form", "qr", "mbank"] },
                "description": "The ways to pay; all that can carry the amount unless it says so.",
            },
            "return_url": {
                "type": "string",
                "format": "uri",
                "maxLength": 2048,
                "description": "Where the payer returns to: a page, or a deep link of an app. Best without a `#`: where an app \
                    begins the payment, the gateway may add its parameters behind it, where servers do not see them.",
            },
            "lifetime_s": {
                "type": ["integer", "null"], "minimum": LIFETIME.start(), "maximum": LIFETIME.end(), "default": 3600,
                "description": "How long it can be paid, in seconds.",
            },
            "metadata": {
                "type": ["object", "null"],
                "maxProperties": 20,
                "propertyNames": { "minLength": 1, "maxLength": 40, "pattern": TEXT },
                "additionalProperties": { "type": "string", "maxLength": 200, "pattern": ANY_TEXT },
                "description": "The shop's own texts, which come back in every answer.",
            },
        },
    })
}

/// The same where cards are on.
pub(super) fn new_checkout_with_cards() -> Value {
    let mut schema = new_checkout();
    let methods = &mut schema["properties"]["methods"];
    methods["items"]["enum"] = json!(["pay_form", "qr", "mbank", "card"]);
    methods["description"] = json!(
        "The ways to pay; all that can carry the amount unless it says so, but for cards, which are taken by name alone."
    );
    schema
}

/// A body that decides what became of a payment.
pub(super) const RESOLUTION: &str =
    r#"{"outcome": "not_charged", "reason": "The gateway's support found no such payment", "by": "Aida"}"#;

/// What decides it.
pub(super) fn resolution() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["outcome", "reason", "by"],
        "properties": {
            "outcome": { "type": "string", "enum": ["charged", "not_charged"] },
            "reason": {
                "type": "string", "minLength": 1, "maxLength": 200, "pattern": TEXT,
                "description": "What the person found, which the event tells.",
            },
            "by": {
                "type": "string", "minLength": 1, "maxLength": 100, "pattern": TEXT, "description": "Who decides it. The event tells it as it is given, and through which key it came.",
            },
        },
    })
}

/// What replays events.
pub(super) fn what_to_replay() -> Value {
    json!({
        "type": "object",
        "additionalProperties": false,
        "properties": {
            "checkout": { "type": ["string", "null"], "pattern": "^co_[0-9a-f]{32}$", "description": "That checkout's alone; all unless it says so." },
        },
    })
}

pub(super) fn checkout(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ShopCheckout<'_>>()
}

pub(super) fn payment(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<ShopPayment<'_>>()
}

pub(super) fn token(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Token<'_>>()
}

pub(super) fn count(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Count>()
}

pub(super) fn events_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Events>()
}

pub(super) fn done(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Done>()
}

fn read_new_checkout(body: &[u8], takes_cards: bool) -> Result<NewCheckout, Problem> {
    let mut fields = BodyFields::parse(body)?;
    let (reference, amount) = (fields.text("reference"), fields.amount("amount"));
    let (description, return_url) = (fields.text("description"), fields.text("return_url"));
    let mut wanted = NewCheckout::new(reference, amount, description, return_url);
    if let Some(currency) = fields.optional_text("currency") {
        wanted.currency = currency;
    }
    wanted = wanted.with_methods(fields.words::<Method>("methods", methods(takes_cards)));
    if let Some(seconds) = fields.number("lifetime_s", &LIFETIME) {
        wanted = wanted.with_lifetime(std::time::Duration::from_secs(seconds));
    }
    wanted.metadata = fields.texts("metadata");
    // Whether it may name cards is decided where it is known whether it was opened before.
    fields.add_violations(wanted.check().or_else(|_| wanted.check_by(takes_cards)));
    fields.finish()?;
    Ok(wanted)
}

pub(super) fn open(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let view =
            http.server.open_checkout(read_new_checkout(&request.body, http.server.settings().takes_cards)?).await?;
        JsonResponse::new(StatusCode::CREATED, &http.shop_checkout(&view))
    })
}

pub(super) fn find(http: Arc<ApiState>, mut request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let reference = request.query.required(REFERENCE.name);
        request.query.finish()?;
        let view = http.server.checkout_of_reference(&reference).await?;
        JsonResponse::ok(&http.shop_checkout(&view))
    })
}

pub(super) fn read(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let id = request.checkout()?;
        let view = wait_for_change(&http, request, id).await?;
        JsonResponse::ok(&http.shop_checkout(&view))
    })
}

pub(super) fn cancel(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let view = http.server.cancel(&request.checkout()?).await?;
        JsonResponse::ok(&http.shop_checkout(&view))
    })
}

pub(super) fn check(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let id = request.checkout()?;
        http.server.checkout(&id).await?;
        http.server.check_now(&id).await?;
        JsonResponse::new(StatusCode::ACCEPTED, &Done {})
    })
}

pub(super) fn new_token(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let token = http.server.new_token(&request.checkout()?).await?;
        let lifetime_s = http.server.settings().token_lifetime.as_secs();
        JsonResponse::new(StatusCode::CREATED, &Token { token: token.expose(), lifetime_s })
    })
}

pub(super) fn revoke_tokens(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let id = request.checkout()?;
        http.server.checkout(&id).await?;
        JsonResponse::ok(&Count { count: http.server.revoke_tokens(&id).await? })
    })
}

pub(super) fn events(http: Arc<ApiState>, mut request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let after = request.query.parsed::<Cursor>(EVENTS_AFTER.name).unwrap_or_default();
        let limit = request.query.number(LIMIT.name, 1..=MOST_EVENTS).unwrap_or(EVENTS);
        request.query.finish()?;
        let events = http.server.events_after(&after, u32::try_from(limit).unwrap_or(1)).await?;
        JsonResponse::ok(&views::events(&after, events))
    })
}

pub(super) fn resolve(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let mut fields = BodyFields::parse(&request.body)?;
        let outcome = fields.word::<Resolution>("outcome", "charged, not_charged");
        let (reason, by) = (fields.text("reason"), fields.text("by"));
        fields.finish()?;
        let outcome = outcome.unwrap_or(Resolution::NotCharged);
        let payment = http.server.resolve(&request.payment()?, outcome, &reason, request.by(by)).await?;
        JsonResponse::ok(&views::shop_payment(&payment))
    })
}

pub(super) fn replay(http: Arc<ApiState>, request: ApiRequest) -> HandlerFuture {
    Box::pin(async move {
        let mut fields = BodyFields::parse(&request.body)?;
        let checkout = fields.optional_text("checkout");
        fields.finish()?;
        let checkout = checkout.map(|text| text.parse::<CheckoutId>()).transpose();
        let checkout =
            checkout.map_err(|_| Problem::field("checkout", Rule::Format, "must be a checkout's identifier"))?;
        JsonResponse::ok(&Count { count: http.server.replay(checkout.as_ref()).await? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_taken() {
        let read = read_new_checkout(EXAMPLE.as_bytes(), false).unwrap();
        assert_eq!((read.reference.as_str(), read.amount, read.currency.as_str()), ("order-17", 390.into(), "KGS"));
    }
}
