//! The bodies of requests that begin and confirm a payment. The payer's card number is the only one allowed in a body,
//! and only if cards are enabled.

use std::net::IpAddr;

use kassa::CardInput;
use serde_json::json;
use zeroize::Zeroizing;

use super::{
    field::{Field, Kind, Literal, PAYMENT_ID, Shape, Variant},
    fields::BodyFields,
    request::{BodyRules, JsonBody},
};
use crate::{
    checkouts::new_checkout::TakenMethods,
    payments::{self, PayerCard},
    values::{Method, PaymentId, error::LONGEST_OTP},
};

const PHONE: Kind = Kind::Form {
    schema: || json!({ "pattern": r"^(\+?996[1-9][0-9]{8}|0?[1-9][0-9]{8}|\+?([1-7][0-9]|9[0-8]|99[0-57-9])[0-9]{9,10})$" }),
    check: |checks, name, text| drop(checks.phone(name, text)),
};
const OTP: Kind = Kind::Form {
    schema: || json!({ "minLength": 1, "maxLength": LONGEST_OTP, "pattern": "^[0-9]+$" }),
    check: |checks, name, text| drop(checks.otp(name, text)),
};
const LANGUAGE: Kind = Kind::Pattern("^[a-z]{2}$", payments::is_language, payments::LANGUAGE_RULE);
/// The length, the check digit and the month are checked with the whole card.
const CARD_NUMBER: Kind =
    Kind::Pattern("^[0-9 -]{13,40}$", is_number, "must be digits; spaces and hyphens are allowed");
const EXPIRY_MONTH: Kind =
    Kind::Pattern("^(0[1-9]|1[0-2])$", |text| are_digits(text, 2), "must be two digits, such as 08");
const CVC: Kind = Kind::Pattern("^[0-9]{3}$", |text| are_digits(text, 3), "must be three digits");

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-'))
}

fn are_digits(text: &str, count: usize) -> bool {
    text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Begins a payment.
pub(super) struct NewPayment {
    /// `None` only if the field is invalid.
    pub(super) method: Option<Method>,
    /// Empty, except for the mobile bank and MegaPay.
    pub(super) phone: String,
    pub(super) card: Option<PayerCard>,
    /// The payment to replace.
    pub(super) instead_of: Option<PaymentId>,
}

const BY_PAGE: Variant = Variant(&["pay_form", "qr"], &[INSTEAD_OF]);
const BY_MBANK: Variant = Variant(&["mbank"], &[PHONE_FIELD, INSTEAD_OF]);
const BY_MEGAPAY: Variant = Variant(&["megapay"], &[WALLET_FIELD, INSTEAD_OF]);
const BY_CARD: Variant = Variant(&["card"], &[LANGUAGE_FIELD, CARD_FIELD, INSTEAD_OF]);
const PHONE_FIELD: Field = Field::required("phone", PHONE)
    .about("The payer's phone number: of Kyrgyzstan, or with its country code. Spaces, hyphens, dots, parentheses, invisible \
        characters and digits of any script are also accepted. Only its last two digits are stored, and which of 256 classes it \
        belongs to.");
const WALLET_FIELD: Field = Field::required("phone", PHONE)
    .about("Phone number of the payer's MegaPay wallet, in any form that the mobile bank's has. It is stored until no PIN can be sent \
        any more, because the request with the PIN repeats it; then only its last two digits are.");
const LANGUAGE_FIELD: Field = Field::optional("language", LANGUAGE)
    .about("The payer's language, as a code of two letters.")
    .with_default(Literal::Text(payments::LANGUAGE));
const INSTEAD_OF: Field = Field::optional("instead_of", PAYMENT_ID)
    .about("Payment to replace, whose `can_be_replaced` is true: for example, the payer entered a wrong number or has no app for \
        the QR code. It is replaced in the transaction that starts the new payment, and then accepts no one-time password. If it \
        can no longer be replaced, the response is 409.");
const CARD_FIELD: Field = Field::required("card", Kind::Object(&CARD)).about(
    "The card is sent once and then wiped; only its last four digits are stored. A different card needs a different \
        Idempotency-Key.",
);
const CARD: [Field; 5] = [
    Field::required("number", CARD_NUMBER)
        .about("Full card number with a valid check digit; spaces and hyphens are allowed. The only field that accepts a card \
            number.")
        .write_only(),
    Field::required("expiry_month", EXPIRY_MONTH),
    Field::required("expiry_year", Kind::Integer { from: 2000, to: 2099 }),
    Field::required("cvc", CVC).write_only(),
    Field::required("holder_name", Kind::Text { most: payments::LONGEST_NAME })
        .about("Cardholder name: first name, then last name."),
];

impl JsonBody for NewPayment {
    const EXAMPLE: &'static str = r#"{"method": "mbank", "phone": "996700000001"}"#;
    const MAY_HOLD_CARD: bool = true;

    fn shape(taken: TakenMethods) -> Shape {
        const USUAL: &[Variant] = &[BY_PAGE, BY_MBANK];
        const WITH_MEGAPAY: &[Variant] = &[BY_PAGE, BY_MBANK, BY_MEGAPAY];
        const WITH_CARDS: &[Variant] = &[BY_PAGE, BY_MBANK, BY_CARD];
        const WITH_BOTH: &[Variant] = &[BY_PAGE, BY_MBANK, BY_MEGAPAY, BY_CARD];
        let variants = match (taken.megapay, taken.cards) {
            (false, false) => USUAL,
            (true, false) => WITH_MEGAPAY,
            (false, true) => WITH_CARDS,
            (true, true) => WITH_BOTH,
        };
        Shape::OneOf { name: "method", variants }
    }

    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self {
        let (method, phone) = (fields.parsed("method"), fields.text("phone"));
        let card = read_card(fields, rules.from);
        Self { method, phone, card, instead_of: fields.parsed("instead_of") }
    }
}

/// The payer's input, and the address it came from.
fn read_card(fields: &mut BodyFields, from: IpAddr) -> Option<PayerCard> {
    let mut card = fields.object("card")?;
    // The year is checked even if the month is wrong: it has passed if its last month has.
    let month = card.optional_text("expiry_month").unwrap_or_else(|| "12".to_owned());
    // Moved, not copied: the new owner wipes them.
    let typed = CardInput::new()
        .with_number(card.text("number"))
        .with_expiry(format!("{month}/{}", card.integer("expiry_year").unwrap_or_default()))
        .with_cvc(card.text("cvc"))
        .with_holder_name(card.text("holder_name"));
    let payer = PayerCard::new(typed, from);
    let payer = match fields.optional_text("language") {
        Some(language) => payer.with_language(language),
        None => payer,
    };
    fields.add_violations(payer.check());
    Some(payer)
}

/// Confirms a payment.
pub(super) struct ConfirmPayment {
    /// The payer's one-time password.
    pub(super) otp: Zeroizing<String>,
}

impl JsonBody for ConfirmPayment {
    const EXAMPLE: &'static str = r#"{"otp": "123456"}"#;

    fn shape(_: TakenMethods) -> Shape {
        const FIELDS: [Field; 1] = [Field::required("otp", OTP)
            .about("The payer's one-time password, or the PIN of a MegaPay wallet: at least one digit. Spaces, hyphens, dots and invisible characters are removed \
                before the length is checked. It is not stored.")];
        Shape::Object(&FIELDS)
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        Self { otp: Zeroizing::new(fields.text("otp")) }
    }
}
