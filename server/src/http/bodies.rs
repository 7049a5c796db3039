//! The bodies of requests about checkouts and events: for each, the table of its fields, and the value made of them.

use std::time::Duration;

use kassa::Decimal;
use serde_json::{Value, json};

use super::{
    field::{CHECKOUT_ID, Field, Kind, Literal, Shape},
    fields::BodyFields,
    request::{BodyRules, JsonBody},
};
use crate::{
    checkouts::new_checkout::{self, NewCheckout, TakenMethods},
    server::{LONGEST_NAME, LONGEST_REASON},
    values::{CheckoutId, Method, Resolution, error::LONGEST_URL},
};

/// An amount is a string, because a JSON number would be read as a float.
const AMOUNT: Kind =
    Kind::Pattern(r"^[1-9][0-9]{0,14}(\.[0-9]{1,2})?$", is_plain, "must be a string such as 390 or 390.50");
const RETURN_URL: Kind = Kind::Form {
    schema: || json!({ "format": "uri", "maxLength": LONGEST_URL }),
    check: |checks, name, text| checks.return_url(name, text),
};
/// Opens a checkout.
impl JsonBody for NewCheckout {
    const EXAMPLE: &'static str = r#"{"reference": "order-17", "amount": "390.00", "description": "Two tickets", "return_url": "https://shop.example.kg/paid"}"#;

    fn shape(taken: TakenMethods) -> Shape {
        const ALL: &str = "Allowed payment methods. Default: all methods that support the amount.";
        const NO_CARDS: &str = "Allowed payment methods. Default: all methods that support the amount, except `card`, which must be named explicitly.";
        const FROM_FIVE: &str =
            "Allowed payment methods. Default: all methods that support the amount, `megapay` from 5 KGS on.";
        const FROM_FIVE_NO_CARDS: &str = "Allowed payment methods. Default: all methods that support the amount, `megapay` from 5 KGS on, \
            except `card`, which must be named explicitly.";
        const USUAL: [Field; 8] = checkout_fields(&["pay_form", "qr", "mbank"], ALL);
        const WITH_MEGAPAY: [Field; 8] = checkout_fields(&["pay_form", "qr", "mbank", "megapay"], FROM_FIVE);
        const WITH_CARDS: [Field; 8] = checkout_fields(&["pay_form", "qr", "mbank", "card"], NO_CARDS);
        const WITH_BOTH: [Field; 8] =
            checkout_fields(&["pay_form", "qr", "mbank", "megapay", "card"], FROM_FIVE_NO_CARDS);
        Shape::Object(match (taken.megapay, taken.cards) {
            (false, false) => &USUAL,
            (true, false) => &WITH_MEGAPAY,
            (false, true) => &WITH_CARDS,
            (true, true) => &WITH_BOTH,
        })
    }

    /// The mobile bank accepts only whole som, and a MegaPay wallet pays at least five.
    fn extend_schema(schema: &mut Value, taken: TakenMethods) {
        if taken.megapay {
            schema["allOf"] = json!([{
                "if": {
                    "required": ["methods"],
                    "properties": { "methods": { "type": "array", "contains": { "const": "megapay" } } },
                },
                "then": { "properties": { "amount": { "pattern": r"^([5-9]|[1-9][0-9]{1,14})(\.[0-9]{1,2})?$" } } },
            }]);
        }
        schema["if"] = json!({
            "required": ["methods"],
            "properties": { "methods": { "type": "array", "contains": { "const": "mbank" } } },
        });
        schema["then"] = json!({ "properties": { "amount": { "pattern": r"^[1-9][0-9]{0,14}(\.0{1,2})?$" } } });
    }

    fn read(fields: &mut BodyFields, rules: &BodyRules) -> Self {
        let (reference, amount) = (fields.text("reference"), fields.parsed("amount").unwrap_or(Decimal::ONE));
        let (description, return_url) = (fields.text("description"), fields.text("return_url"));
        let mut wanted = Self::new(reference, amount, description, return_url);
        if let Some(currency) = fields.optional_text("currency") {
            wanted.currency = currency;
        }
        wanted = wanted.with_methods(fields.words::<Method>("methods"));
        if let Some(seconds) = fields.integer("lifetime_s") {
            wanted = wanted.with_lifetime(Duration::from_secs(seconds.unsigned_abs()));
        }
        wanted.metadata = fields.texts("metadata");
        // Whether it may name cards is decided later, when it is known whether it was opened before.
        fields.add_violations(wanted.check().or_else(|_| wanted.check_by(rules.taken)));
        wanted
    }
}

const fn checkout_fields(methods: &'static [&'static str], methods_text: &'static str) -> [Field; 8] {
    use new_checkout::{
        CURRENCY, LIFETIME, LONGEST_DESCRIPTION, LONGEST_KEY, LONGEST_LIFE, LONGEST_REFERENCE, LONGEST_VALUE,
        MOST_METADATA, SHORTEST_LIFE,
    };
    const SECONDS: Kind = Kind::Integer { from: SHORTEST_LIFE.as_secs() as i64, to: LONGEST_LIFE.as_secs() as i64 };
    const METADATA: Kind = Kind::Texts { most: MOST_METADATA, longest_key: LONGEST_KEY, longest_value: LONGEST_VALUE };
    [
        Field::required("reference", Kind::Text { most: LONGEST_REFERENCE })
            .about("The shop's reference for the checkout, such as the order number."),
        Field::required("amount", AMOUNT)
            .about("Amount in units of the currency, at least 1. A string, because JSON numbers may be rounded. The mobile bank \
                accepts only whole som."),
        Field::optional("currency", Kind::Choice(&[CURRENCY])).with_default(Literal::Text(CURRENCY)),
        Field::required("description", Kind::Text { most: LONGEST_DESCRIPTION }).about("Description of what is paid for."),
        Field::optional("methods", Kind::Methods(methods)).about(methods_text),
        Field::required("return_url", RETURN_URL)
            .about("URL to which the payer returns: a page, or a deep link of an app. Avoid a `#`: if an app starts the payment, \
                the gateway may append its parameters after it, where servers do not see them."),
        Field::optional("lifetime_s", SECONDS)
            .about("Time during which the checkout can be paid, in seconds.")
            .with_default(Literal::Integer(LIFETIME.as_secs() as i64)),
        Field::optional("metadata", METADATA).about("The shop's own key-value pairs, returned in every response."),
    ]
}

/// Digits, and at most two after a point. Signs and underscores, which `Decimal` would accept, are refused.
fn is_plain(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_no_zeros = whole == "0" || !whole.starts_with('0');
    let is_form = are_digits(whole) && has_no_zeros && are_digits(decimals) && decimals.len() <= 2;
    is_form && Decimal::from_str_exact(text).is_ok()
}

/// Resolves the outcome of a payment.
pub(super) struct ResolvePayment {
    pub(super) outcome: Resolution,
    pub(super) reason: String,
    /// The person who decides.
    pub(super) by: String,
}

impl JsonBody for ResolvePayment {
    const EXAMPLE: &'static str =
        r#"{"outcome": "not_charged", "reason": "The gateway's support found no such payment", "by": "Aida"}"#;

    fn shape(_: TakenMethods) -> Shape {
        const FIELDS: [Field; 3] = [
            Field::required("outcome", Kind::Choice(&["charged", "not_charged"])),
            Field::required("reason", Kind::Text { most: LONGEST_REASON })
                .about("What the person found. The event contains it."),
            Field::required("by", Kind::Text { most: LONGEST_NAME }).about(
                "Name of the person who decides. The event contains it as given, along with the key that sent it.",
            ),
        ];
        Shape::Object(&FIELDS)
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        let outcome = fields.parsed("outcome").unwrap_or(Resolution::NotCharged);
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

    fn shape(_: TakenMethods) -> Shape {
        const FIELDS: [Field; 1] = [Field::optional("checkout", CHECKOUT_ID)
            .about("Checkout whose events are replayed. Default: all checkouts.")];
        Shape::Object(&FIELDS)
    }

    fn read(fields: &mut BodyFields, _: &BodyRules) -> Self {
        Self { checkout: fields.parsed("checkout") }
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use proptest::{
        strategy::{Strategy, ValueTree},
        string::string_regex,
        test_runner::TestRunner,
    };

    use super::*;
    use crate::{
        http::{
            field::Variant,
            payment_bodies::{ConfirmPayment, NewPayment},
            problem::Problem,
        },
        values::error::Checks,
    };

    const RULES: BodyRules = BodyRules {
        taken: TakenMethods { cards: false, megapay: false },
        from: IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
    };

    #[test]
    fn examples_are_accepted() {
        let read = NewCheckout::parse(NewCheckout::EXAMPLE.as_bytes(), &RULES).unwrap();
        assert_eq!((read.reference.as_str(), read.amount, read.currency.as_str()), ("order-17", 390.into(), "KGS"));
        let read = NewPayment::parse(NewPayment::EXAMPLE.as_bytes(), &RULES).unwrap();
        assert_eq!((read.method, read.phone.as_str()), (Some(Method::Mbank), "996700000001"));
        assert!(ResolvePayment::parse(ResolvePayment::EXAMPLE.as_bytes(), &RULES).is_ok());
        assert!(ReplayEvents::parse(ReplayEvents::EXAMPLE.as_bytes(), &RULES).is_ok());
        assert!(ConfirmPayment::parse(ConfirmPayment::EXAMPLE.as_bytes(), &RULES).is_ok());
    }

    #[test]
    fn texts_matching_schema_pattern_are_accepted() {
        let mut tried = Vec::new();
        let mut runner = TestRunner::deterministic();
        let all = TakenMethods { cards: true, megapay: true };
        let shapes = [NewCheckout::shape(all), NewPayment::shape(all), ConfirmPayment::shape(all)];
        let others = [ResolvePayment::shape(all), ReplayEvents::shape(all)];
        for field in shapes.iter().chain(&others).flat_map(fields) {
            let schema = field.kind.schema();
            let (Kind::Pattern(..) | Kind::Form { .. }, Some(pattern)) = (&field.kind, schema["pattern"].as_str())
            else {
                continue;
            };
            let longest = schema["maxLength"].as_u64().unwrap_or(u64::MAX);
            let texts = string_regex(pattern.trim_matches(['^', '$'])).unwrap();
            for _ in 0..2000 {
                let text = texts.new_tree(&mut runner).unwrap().current();
                if text.len() as u64 > longest {
                    continue;
                }
                let mut checks = Checks::default();
                field.kind.check_text(&mut checks, field.name, &text);
                assert!(checks.finish().is_ok(), "{}: {text}", field.name);
            }
            tried.push(field.name);
        }
        assert!(
            ["amount", "phone", "otp", "language", "instead_of"].iter().all(|name| tried.contains(name)),
            "{tried:?}"
        );
    }

    fn fields(shape: &Shape) -> Vec<&'static Field> {
        match shape {
            Shape::Object(fields) => fields.iter().collect(),
            Shape::OneOf { variants, .. } => variants.iter().flat_map(|Variant(_, fields)| *fields).collect(),
        }
    }

    #[test]
    fn amount_field_accepts_plain_decimals_only() {
        for text in ["390", "390.5", "390.50", "0", "0.99"] {
            assert!(is_plain(text), "{text}");
        }
        for text in ["390.505", "0390", "+390", "-390", "3_90", "1e3", "390.", ".5", ""] {
            assert!(!is_plain(text), "{text}");
        }
    }

    fn sentences<T>(parsed: Result<T, Problem>) -> Vec<String> {
        let problem = parsed.err().unwrap();
        problem.violations().iter().map(|violation| violation.text.clone()).collect()
    }

    #[test]
    fn body_violations_are_all_listed_in_field_order() {
        let body = br#"{"amount": "1,5", "currency": "USD", "description": "\u0007", "methods": ["cash"], "lifetime_s": 5, "x": 1}"#;
        let expected = [
            "reference must be given",
            "amount must be a string such as 390 or 390.50",
            "currency must be KGS",
            "description must have no control characters",
            "methods must be a list of pay_form, qr, mbank",
            "return_url must be given",
            "lifetime_s must be a whole number from 60 to 2592000",
            "x is not a known field",
        ];
        assert_eq!(sentences(NewCheckout::parse(body, &RULES)), expected);
        // A number may have lost digits on its way through a float.
        let body = NewCheckout::EXAMPLE.replace("\"390.00\"", "390.00");
        assert_eq!(sentences(NewCheckout::parse(body.as_bytes(), &RULES)), ["amount must be a string"]);
        let body = br#"{"method": "cash", "phone": "1", "instead_of": "pay_1"}"#;
        let expected = [
            "method must be one of pay_form, qr, mbank",
            "instead_of must be the identifier of a payment",
            "phone is not a known field",
        ];
        assert_eq!(sentences(NewPayment::parse(body, &RULES)), expected);
        let body = br#"{"method": "card", "card": {"number": "4", "expiry_year": 1999, "cvc": 1, "pin": "1"}}"#;
        let expected = [
            "card.expiry_month must be given",
            "card.expiry_year must be a whole number from 2000 to 2099",
            "card.cvc must be a string",
            "card.holder_name must be given",
            "card.pin is not a known field",
            "card.number must be a card's number, with its right check digit",
        ];
        let taken = TakenMethods { cards: true, megapay: true };
        assert_eq!(sentences(NewPayment::parse(body, &BodyRules { taken, ..RULES })), expected);
        let body = br#"{"method": "cash"}"#;
        let expected = ["method must be one of pay_form, qr, mbank, megapay, card"];
        assert_eq!(sentences(NewPayment::parse(body, &BodyRules { taken, ..RULES })), expected);
    }
}
