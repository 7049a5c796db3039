//! The bodies of requests: for each its JSON Schema, and beside it how it is read by the same rules. A payer's card is the one card
//! number that may stand in a body, and only where the settings turn cards on.

use std::{mem::take, net::IpAddr, ops::RangeInclusive, time::Duration};

use kassa::CardInput;
use serde_json::{Value, json};
use zeroize::Zeroizing;

use super::{
    fields::BodyFields,
    request::{BodyRules, JsonBody},
};
use crate::{
    checkouts::new_checkout::NewCheckout,
    payments::PayerCard,
    values::{CheckoutId, Method, PaymentId, Resolution, error::Rule},
};

/// How long a checkout can be paid, in seconds.
const LIFETIME: RangeInclusive<u64> = 60..=30 * 24 * 60 * 60;
/// A text that holds no control characters, and is not blank.
const TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
/// One that may be blank.
const ANY_TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

/// The ways to pay that a server takes, as it names them.
fn methods(takes_cards: bool) -> &'static str {
    if takes_cards { "pay_form, qr, mbank, card" } else { "pay_form, qr, mbank" }
}

/// Opens a checkout.
impl JsonBody for NewCheckout {
    const EXAMPLE: &'static str = r#"{"reference": "order-17", "amount": "390.00", "description": "Two tickets", "return_url": "https://shop.example.kg/paid"}"#;

    fn schema(takes_cards: bool) -> Value {
        let mut schema = json!({
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
                    "description": "The shop's reference for the checkout, such as the order number.",
                },
                "amount": {
                    "type": "string",
                    "pattern": r"^[1-9][0-9]{0,14}(\.[0-9]{1,2})?$",
                    "description": "Amount in units of the currency, at least 1. A string, because JSON numbers may be rounded. The \
                        mobile bank accepts only whole som.",
                },
                "currency": { "type": ["string", "null"], "enum": ["KGS", null], "default": "KGS" },
                "description": {
                    "type": "string", "minLength": 1, "maxLength": 256, "pattern": TEXT, "description": "Description of what is paid for.",
                },
                "methods": {
                    "type": ["array", "null"],
                    "items": { "type": "string", "enum": ["pay_form", "qr", "mbank"] },
                    "description": "Allowed payment methods. Default: all methods that support the amount.",
                },
                "return_url": {
                    "type": "string",
                    "format": "uri",
                    "maxLength": 2048,
                    "description": "URL to which the payer returns: a page, or a deep link of an app. Avoid a `#`: if an app starts \
                        the payment, the gateway may append its parameters after it, where servers do not see them.",
                },
                "lifetime_s": {
                    "type": ["integer", "null"], "minimum": LIFETIME.start(), "maximum": LIFETIME.end(), "default": 3600,
                    "description": "Time during which the checkout can be paid, in seconds.",
                },
                "metadata": {
                    "type": ["object", "null"],
                    "maxProperties": 20,
                    "propertyNames": { "minLength": 1, "maxLength": 40, "pattern": TEXT },
                    "additionalProperties": { "type": "string", "maxLength": 200, "pattern": ANY_TEXT },
                    "description": "The shop's own key-value pairs, returned in every response.",
                },
            },
        });
        if takes_cards {
            let methods = &mut schema["properties"]["methods"];
            methods["items"]["enum"] = json!(["pay_form", "qr", "mbank", "card"]);
            methods["description"] = json!(
                "Allowed payment methods. Default: all methods that support the amount, except `card`, which must be named explicitly."
            );
        }
        schema
    }

    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self {
        let (reference, amount) = (fields.text("reference"), fields.amount("amount"));
        let (description, return_url) = (fields.text("description"), fields.text("return_url"));
        let mut wanted = Self::new(reference, amount, description, return_url);
        if let Some(currency) = fields.optional_text("currency") {
            wanted.currency = currency;
        }
        wanted = wanted.with_methods(fields.words::<Method>("methods", methods(rules.takes_cards)));
        if let Some(seconds) = fields.number("lifetime_s", &LIFETIME) {
            wanted = wanted.with_lifetime(Duration::from_secs(seconds));
        }
        wanted.metadata = fields.texts("metadata");
        // Whether it may name cards is decided where it is known whether it was opened before.
        fields.add_violations(wanted.check().or_else(|_| wanted.check_by(rules.takes_cards)));
        wanted
    }
}

/// Resolves the outcome of a payment.
pub(super) struct ResolvePayment {
    pub(super) outcome: Resolution,
    pub(super) reason: String,
    /// Who decides it.
    pub(super) by: String,
}

impl JsonBody for ResolvePayment {
    const EXAMPLE: &'static str =
        r#"{"outcome": "not_charged", "reason": "The gateway's support found no such payment", "by": "Aida"}"#;

    fn schema(_: bool) -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["outcome", "reason", "by"],
            "properties": {
                "outcome": { "type": "string", "enum": ["charged", "not_charged"] },
                "reason": {
                    "type": "string", "minLength": 1, "maxLength": 200, "pattern": TEXT,
                    "description": "What the person found. The event contains it.",
                },
                "by": {
                    "type": "string", "minLength": 1, "maxLength": 100, "pattern": TEXT,
                    "description": "Name of the person who decides. The event contains it as given, along with the key that sent it.",
                },
            },
        })
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        let outcome = fields.word("outcome", "charged, not_charged").unwrap_or(Resolution::NotCharged);
        Self { outcome, reason: fields.text("reason"), by: fields.text("by") }
    }
}

/// Redelivers events whose delivery was given up or refused.
pub(super) struct ReplayEvents {
    /// The checkout whose events are replayed; all checkouts if `None`.
    pub(super) checkout: Option<CheckoutId>,
}

impl JsonBody for ReplayEvents {
    const EXAMPLE: &'static str = "{}";

    fn schema(_: bool) -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "properties": {
                "checkout": {
                    "type": ["string", "null"], "pattern": "^co_[0-9a-f]{32}$",
                    "description": "Checkout whose events are replayed. Default: all checkouts.",
                },
            },
        })
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        Self { checkout: fields.optional_id("checkout", "must be the identifier of a checkout") }
    }
}

/// Begins a payment.
pub(super) struct NewPayment {
    /// None only where something is wrong.
    pub(super) method: Option<Method>,
    /// Nothing but for the mobile bank.
    pub(super) phone: String,
    pub(super) card: Option<PayerCard>,
    /// The payment that its payer leaves for it.
    pub(super) instead_of: Option<PaymentId>,
}

impl JsonBody for NewPayment {
    const EXAMPLE: &'static str = r#"{"method": "mbank", "phone": "996700000001"}"#;
    const MAY_HOLD_CARD: bool = true;

    fn schema(takes_cards: bool) -> Value {
        let mut schema = json!({
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
                            "description": "The payer's phone number: of Kyrgyzstan, or with its country code. Spaces, hyphens, dots, \
                                parentheses, invisible characters and digits of any script are also accepted. Only its last \
                                two digits are stored, and which of 256 classes it belongs to.",
                        },
                        "instead_of": instead_of(),
                    },
                },
            ],
        });
        if let Some(ways) = schema["oneOf"].as_array_mut().filter(|_| takes_cards) {
            ways.push(by_card());
        }
        schema
    }

    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self {
        let method = fields.word::<Method>("method", methods(rules.takes_cards));
        let phone = match method {
            Some(Method::Mbank) => fields.text("phone"),
            _ => String::new(),
        };
        let card = match method {
            Some(Method::Card) if rules.takes_cards => read_card(fields, rules.from),
            Some(Method::Card) => {
                fields.require("method", false, Rule::OneOf, &format!("must be one of {}", methods(false)));
                None
            }
            _ => None,
        };
        let instead_of = fields.optional_id("instead_of", "must be the identifier of a payment");
        Self { method, phone, card, instead_of }
    }
}

/// What its payer leaves for it.
fn instead_of() -> Value {
    json!({
        "type": ["string", "null"], "pattern": "^pay_[0-9a-f]{32}$",
        "description": "Payment to replace, whose `can_be_replaced` is true: for example, the payer entered a wrong number or has no \
            app for the QR code. It is replaced in the transaction that starts the new payment, and then accepts no one-time \
            password. If it can no longer be replaced, the response is 409.",
    })
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
                "description": "The payer's language, as a code of two letters.",
            },
            "instead_of": instead_of(),
            "card": {
                "type": "object",
                "additionalProperties": false,
                "required": ["number", "expiry_month", "expiry_year", "cvc", "holder_name"],
                "description": "The card is sent once and then wiped; only its last four digits are stored. A different card needs a \
                    different Idempotency-Key.",
                "properties": {
                    "number": {
                        "type": "string", "pattern": "^[0-9 -]{13,40}$", "writeOnly": true,
                        "description": "Full card number with a valid check digit; spaces and hyphens are allowed. The only \
                            field that accepts a card number.",
                    },
                    "expiry_month": { "type": "string", "pattern": "^(0[1-9]|1[0-2])$" },
                    "expiry_year": { "type": "integer", "minimum": 2000, "maximum": 2099 },
                    "cvc": { "type": "string", "pattern": "^[0-9]{3}$", "writeOnly": true },
                    "holder_name": {
                        "type": "string", "minLength": 1, "maxLength": 100,
                        "description": "Cardholder name: first name, then last name.",
                    },
                },
            },
        },
    })
}

/// Confirms a payment.
pub(super) struct ConfirmPayment {
    /// The payer's one-time password.
    pub(super) otp: Zeroizing<String>,
}

impl JsonBody for ConfirmPayment {
    const EXAMPLE: &'static str = r#"{"otp": "123456"}"#;

    fn schema(_: bool) -> Value {
        json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["otp"],
            "properties": {
                "otp": {
                    "type": "string", "minLength": 1, "maxLength": 12, "pattern": "^[0-9]+$",
                    "description": "The payer's one-time password: at least one digit. Spaces, hyphens, dots and invisible \
                        characters are removed before the length is checked. It is not stored.",
                },
            },
        })
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        Self { otp: Zeroizing::new(fields.text("otp")) }
    }
}

/// What the payer typed, and who calls. The number was taken out before, so that nothing else of the body may look like one.
fn read_card(fields: &mut BodyFields, from: IpAddr) -> Option<PayerCard> {
    let language = fields.optional_text("language");
    let number = fields.take_card_number();
    let mut card = fields.object("card")?;
    let mut number = match number {
        Some(number) => number,
        None => Zeroizing::new(card.text("number")),
    };
    let month = card.text("expiry_month");
    let year = card.number("expiry_year", &(2000..=2099));
    card.require("expiry_year", year.is_some(), Rule::Required, "must be given");
    let mut cvc = Zeroizing::new(card.text("cvc"));
    let holder_name = card.text("holder_name");
    card.require("number", is_number(&number), Rule::Format, "must be digits; spaces and hyphens are allowed");
    card.require("expiry_month", are_digits(&month, 2), Rule::Format, "must be two digits, such as 08");
    card.require("cvc", are_digits(&cvc, 3), Rule::Format, "must be three digits");
    fields.finish_object("card", card);
    // Moved, not copied: what holds them from now on wipes them.
    let typed = CardInput::new()
        .with_number(take(&mut *number))
        .with_expiry(format!("{month}/{}", year.unwrap_or_default()))
        .with_cvc(take(&mut *cvc))
        .with_holder_name(holder_name);
    let payer = PayerCard::new(typed, from);
    let payer = match language {
        Some(language) => payer.with_language(language),
        None => payer,
    };
    fields.add_violations(payer.check());
    Some(payer)
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

fn are_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_is_taken() {
        let rules = BodyRules { takes_cards: false, from: IpAddr::from([127, 0, 0, 1]) };
        let read = NewCheckout::parse(NewCheckout::EXAMPLE.as_bytes(), &rules).unwrap();
        assert_eq!((read.reference.as_str(), read.amount, read.currency.as_str()), ("order-17", 390.into(), "KGS"));
    }
}
