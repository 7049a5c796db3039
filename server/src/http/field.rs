//! The tables of request fields: the name, the kind with its limits, and the description of each. The OpenAPI schema and the validation
//! are made from the same table, so that they cannot differ.

use serde::Serialize;
use serde_json::{Map, Number, Value, json};

use super::json::Json;
use crate::values::{
    CheckoutId, Method, PaymentId,
    error::{Checks, Rule},
};

/// A string without control characters that is not blank.
const TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f][^\u0000-\u001f\u007f-\u009f]*$";
/// A string without control characters that may be blank.
const ANY_TEXT: &str = r"^[^\u0000-\u001f\u007f-\u009f]*$";

pub(super) const CHECKOUT_ID: Kind = Kind::Pattern(
    "^co_[0-9a-f]{32}$",
    |text| text.parse::<CheckoutId>().is_ok(),
    "must be the identifier of a checkout",
);
pub(super) const PAYMENT_ID: Kind = Kind::Pattern(
    "^pay_[0-9a-f]{32}$",
    |text| text.parse::<PaymentId>().is_ok(),
    "must be the identifier of a payment",
);

/// A field of a body, a parameter of a query, or a header.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) is_required: bool,
    pub(super) kind: Kind,
    pub(super) description: &'static str,
    default: Option<Literal>,
    is_write_only: bool,
}

/// The default of an optional field.
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
pub(super) enum Literal {
    Text(&'static str),
    Integer(i64),
}

/// The kind of a field's value.
pub(super) enum Kind {
    /// A string that is not blank, without control characters, of at most `most` characters.
    Text { most: usize },
    /// A string that matches a pattern: its regular expression for the schema, the same check as code, and the sentence.
    Pattern(&'static str, fn(&str) -> bool, &'static str),
    /// A string with rules of its own. JSON Schema cannot express all of the check, so there are both.
    Form { schema: fn() -> Value, check: fn(&mut Checks, &str, &str) },
    /// A whole number within a range.
    Integer { from: i64, to: i64 },
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of payment methods. The schema names those that the server offers. The others are refused later, when it is known
    /// that the checkout was not opened while they were offered.
    Methods(&'static [&'static str]),
    /// An object with any keys, whose values are strings.
    Texts { most: usize, longest_key: usize, longest_value: usize },
    /// An object with these fields.
    Object(&'static [Field]),
}

/// The fields of a body.
pub(super) enum Shape {
    Object(&'static [Field]),
    /// The value of one field decides which others there are.
    OneOf {
        name: &'static str,
        variants: &'static [Variant],
    },
}

/// The values that select the variant, and its further fields.
pub(super) struct Variant(pub(super) &'static [&'static str], pub(super) &'static [Field]);

impl Field {
    pub(super) const fn required(name: &'static str, kind: Kind) -> Self {
        Self { name, is_required: true, kind, description: "", default: None, is_write_only: false }
    }

    pub(super) const fn optional(name: &'static str, kind: Kind) -> Self {
        Self { is_required: false, ..Self::required(name, kind) }
    }

    pub(super) const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    /// A secret, which no response contains.
    pub(super) const fn write_only(mut self) -> Self {
        self.is_write_only = true;
        self
    }

    pub(super) const fn with_default(mut self, default: Literal) -> Self {
        self.default = Some(default);
        self
    }

    /// The default number.
    pub(super) fn default_integer(&self) -> Option<i64> {
        if let Some(Literal::Integer(number)) = self.default { Some(number) } else { None }
    }

    /// The schema of its value as a parameter.
    pub(super) fn parameter_schema(&self) -> Value {
        let mut schema = self.kind.schema();
        if let Some(default) = self.default {
            schema["default"] = json!(default);
        }
        schema
    }

    /// The schema of its value in a body, in which null counts as absent.
    fn schema(&self) -> Value {
        let mut schema = self.parameter_schema();
        if !self.is_required {
            schema["type"] = json!([schema["type"], "null"]);
            if let Some(choices) = schema.get_mut("enum").and_then(Value::as_array_mut) {
                choices.push(Value::Null);
            }
        }
        if self.is_write_only {
            schema["writeOnly"] = json!(true);
        }
        if !self.description.is_empty() {
            schema["description"] = json!(self.description);
        }
        schema
    }
}

impl Shape {
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Object(fields) => object_schema(*fields),
            Self::OneOf { name, variants } => {
                let schemas = variants.iter().map(|Variant(choices, fields)| {
                    object_schema([&Field::required(name, Kind::Choice(choices))].into_iter().chain(*fields))
                });
                json!({ "oneOf": schemas.collect::<Vec<_>>() })
            }
        }
    }
}

fn object_schema<'a>(fields: impl IntoIterator<Item = &'a Field>) -> Value {
    let (mut required, mut properties) = (Vec::new(), Map::new());
    for field in fields {
        if field.is_required {
            required.push(field.name);
        }
        properties.insert(field.name.to_owned(), field.schema());
    }
    let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

impl Kind {
    pub(super) fn schema(&self) -> Value {
        match self {
            Self::Text { most } => text_schema(*most),
            Self::Pattern(pattern, ..) => json!({ "type": "string", "pattern": pattern }),
            Self::Form { schema, .. } => {
                let mut schema = schema();
                schema["type"] = json!("string");
                schema
            }
            Self::Integer { from, to } => json!({ "type": "integer", "minimum": from, "maximum": to }),
            Self::Choice(choices) => json!({ "type": "string", "enum": choices }),
            Self::Methods(offered) => json!({ "type": "array", "items": Self::Choice(offered).schema() }),
            Self::Texts { most, longest_key, longest_value } => {
                let mut names = text_schema(*longest_key);
                // The names of members are always strings.
                names.as_object_mut().map(|names| names.remove("type"));
                json!({
                    "type": "object",
                    "maxProperties": most,
                    "propertyNames": names,
                    "additionalProperties": { "type": "string", "maxLength": longest_value, "pattern": ANY_TEXT },
                })
            }
            Self::Object(fields) => object_schema(*fields),
        }
    }

    /// Checks a value of a body. The members of an object with a table of its own are not checked here.
    pub(super) fn check(&self, checks: &mut Checks, name: &str, value: &Json) {
        let is_text = |value: &Json| matches!(value, Json::Text(_));
        match (self, value) {
            (Self::Integer { from, to }, _) => check_integer(checks, name, value.integer(), *from, *to),
            (Self::Methods(offered), _) => {
                let is_method = |word: &Json| matches!(word, Json::Text(word) if word.parse::<Method>().is_ok());
                if !matches!(value, Json::List(list) if list.iter().all(is_method)) {
                    checks.fail(name, Rule::OneOf, &format!("must be a list of {}", offered.join(", ")));
                }
            }
            (Self::Texts { .. }, Json::Object(members)) if members.iter().all(|(_, value)| is_text(value)) => {}
            (Self::Texts { .. }, _) => checks.fail(name, Rule::Format, "must be an object whose values are strings"),
            (Self::Object(_), Json::Object(_)) => {}
            (Self::Object(_), _) => checks.fail(name, Rule::Format, "must be an object"),
            (_, Json::Text(text)) => self.check_text(checks, name, text),
            _ => checks.fail(name, Rule::Format, "must be a string"),
        }
    }

    /// Checks the text of a body's field, of a parameter or a header.
    pub(super) fn check_text(&self, checks: &mut Checks, name: &str, text: &str) {
        match self {
            Self::Text { most } => checks.required_text(name, text, *most),
            Self::Pattern(_, is_match, sentence) if !is_match(text) => checks.fail(name, Rule::Format, sentence),
            Self::Form { check, .. } => check(checks, name, text),
            Self::Integer { from, to } => check_integer(checks, name, text.parse().ok(), *from, *to),
            Self::Choice(choices) => check_choice(checks, name, text, choices),
            Self::Pattern(..) | Self::Methods(_) | Self::Texts { .. } | Self::Object(_) => {}
        }
    }
}

fn text_schema(most: usize) -> Value {
    json!({ "type": "string", "minLength": 1, "maxLength": most, "pattern": TEXT })
}

pub(super) fn check_choice(checks: &mut Checks, name: &str, text: &str, choices: &[&str]) {
    if !choices.contains(&text) {
        let one_of = if choices.len() > 1 { "one of " } else { "" };
        checks.fail(name, Rule::OneOf, &format!("must be {one_of}{}", choices.join(", ")));
    }
}

fn check_integer(checks: &mut Checks, name: &str, number: Option<i64>, from: i64, to: i64) {
    if !number.is_some_and(|number| (from..=to).contains(&number)) {
        checks.fail(name, Rule::Range, &format!("must be a whole number from {from} to {to}"));
    }
}

impl Json {
    /// A whole number, also written as 60.0 in JSON.
    pub(super) fn integer(&self) -> Option<i64> {
        let whole =
            |number: &Number| number.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as i64);
        match self {
            Self::Number(number) => number.as_i64().or_else(|| whole(number)),
            _ => None,
        }
    }
}
