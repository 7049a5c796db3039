//! Bodies: JSON objects, checked against the table of their fields, so that all violations are reported at once. An
//! unknown field is refused. So is anything that looks like a card number, anywhere, except the card number of a
//! new payment if cards are enabled.

use std::{collections::BTreeMap, mem::take, str::FromStr};

use kassa::normalized_phone;
use zeroize::Zeroizing;

use super::{
    field::{Field, Kind, Shape, Variant, check_choice},
    json::{Json, Members},
    problem::Problem,
};
use crate::values::{
    card_number::looks_like_card_number,
    error::Checks,
    error::ServerError,
    error::{Rule, Violation},
};

/// The valid fields of a body, and the violations of the others.
#[derive(Default)]
pub(super) struct BodyFields {
    /// The members that no field of the table has taken.
    members: Members,
    values: Members,
    checks: Checks,
}

impl BodyFields {
    /// Parses a body; an empty one counts as an empty object. If it may contain a card and pays by card, its `card.number` may be
    /// a card number. **Nothing else in it may look like one.**
    pub(super) fn parse(body: &[u8], shape: &Shape, may_hold_card: bool) -> Result<Self, Problem> {
        let body = if body.is_empty() { b"{}" } else { body };
        let not_json = |_| Problem::field("body", Rule::Format, "must be JSON");
        let Json::Object(members) = serde_json::from_slice(body).map_err(not_json)? else {
            return Err(Problem::field("body", Rule::Format, "must be a JSON object"));
        };
        refuse_card_numbers(&members, if may_hold_card { payer_card_number(&members) } else { None })?;
        let mut fields = Self { members, ..Self::default() };
        match shape {
            Shape::Object(table) => fields.check(table),
            Shape::OneOf { name, variants } => fields.check_variant(name, variants),
        }
        Ok(fields)
    }

    /// A string; empty if there is no valid one.
    pub(super) fn text(&mut self, name: &str) -> String {
        self.optional_text(name).unwrap_or_default()
    }

    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        // Moved, not copied: the new owner wipes it.
        self.value(name)?.into_text().map(|mut text| take(&mut *text))
    }

    /// Parses a string, such as an identifier or a word of a list.
    pub(super) fn parsed<T: FromStr>(&mut self, name: &str) -> Option<T> {
        self.value(name)?.into_text()?.parse().ok()
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        self.value(name)?.integer()
    }

    /// Parses a list of words.
    pub(super) fn words<T: FromStr>(&mut self, name: &str) -> Vec<T> {
        let Some(Json::List(list)) = self.value(name) else { return Vec::new() };
        list.into_iter().filter_map(|word| word.into_text()?.parse().ok()).collect()
    }

    /// The members of an object whose values are strings.
    pub(super) fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        let Some(Json::Object(members)) = self.value(name) else { return BTreeMap::new() };
        let texts = members.into_iter().filter_map(|(mut key, value)| {
            let mut text = value.into_text()?;
            Some((take(&mut *key), take(&mut *text)))
        });
        texts.collect()
    }

    /// The fields of an object.
    pub(super) fn object(&mut self, name: &str) -> Option<Self> {
        let Some(Json::Object(values)) = self.value(name) else { return None };
        Some(Self { values, ..Self::default() })
    }

    /// Adds the violations of rules of the whole body, if its fields are valid.
    pub(super) fn add_violations(&mut self, checked: Result<(), ServerError>) {
        if let Err(ServerError::Invalid { violations }) = checked {
            self.checks.add(violations);
        }
    }

    /// Refuses unknown fields, and returns all violations at once.
    pub(super) fn finish(&mut self) -> Result<(), ServerError> {
        for (name, _) in &self.members {
            self.checks.fail(shown_name(name), Rule::Unknown, "is not a known field");
        }
        take(&mut self.checks).finish()
    }

    fn check(&mut self, table: &'static [Field]) {
        for field in table {
            let Some(mut value) = self.take_required(field.name, field.is_required) else { continue };
            field.kind.check(&mut self.checks, field.name, &value);
            if let (Kind::Object(table), Json::Object(members)) = (&field.kind, &mut value) {
                let mut inner = Self { members: take(members), ..Self::default() };
                inner.check(table);
                if let Err(ServerError::Invalid { violations }) = inner.finish() {
                    self.checks.add(violations.into_iter().map(|violation| violation.inside(field.name)).collect());
                }
                *members = inner.values;
            }
            self.add_value(field.name, value);
        }
    }

    /// If the value selects no variant, the fields of the first one are checked.
    fn check_variant(&mut self, name: &str, variants: &'static [Variant]) {
        let choices: Vec<_> = variants.iter().flat_map(|Variant(choices, _)| *choices).copied().collect();
        let mut variant = variants.first();
        if let Some(value) = self.take_required(name, true) {
            match &value {
                Json::Text(text) => check_choice(&mut self.checks, name, text, &choices),
                _ => self.checks.fail(name, Rule::Format, "must be a string"),
            }
            if let (false, Json::Text(text)) = (self.checks.is_broken(name), &value) {
                variant = variants.iter().find(|Variant(choices, _)| choices.contains(&text.as_str()));
            }
            self.add_value(name, value);
        }
        if let Some(Variant(_, table)) = variant {
            self.check(table);
        }
    }

    /// A member, or the violation that it is missing; null counts as not given.
    fn take_required(&mut self, name: &str, is_required: bool) -> Option<Json> {
        let at = self.members.iter().position(|(known, _)| known.as_str() == name);
        let value = at.map(|at| self.members.remove(at).1).filter(|value| !matches!(value, Json::Null));
        if self.members.iter().any(|(known, _)| known.as_str() == name) {
            self.checks.fail(name, Rule::Format, "must be given once");
            self.members.retain(|(known, _)| known.as_str() != name);
        } else if is_required && value.is_none() {
            self.checks.fail(name, Rule::Required, "must be given");
        }
        value
    }

    fn add_value(&mut self, name: &str, value: Json) {
        if !self.checks.is_broken(name) {
            self.values.push((Zeroizing::new(name.to_owned()), value));
        }
    }

    fn value(&mut self, name: &str) -> Option<Json> {
        let at = self.values.iter().position(|(known, _)| known.as_str() == name)?;
        Some(self.values.swap_remove(at).1)
    }
}

/// The printable form of an unknown name, which may hold anything.
fn shown_name(name: &str) -> &str {
    let is_name = name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_name { name } else { "a field" }
}

/// Whether it is a phone number that, without the leading zeros of dialling, has too few digits for a card number.
fn is_short_phone(name: &str, value: &Json) -> bool {
    let phone = if let Json::Text(text) = value { normalized_phone(text) } else { None };
    name == "phone" && phone.is_some_and(|phone| !looks_like_card_number(&phone))
}

/// The payer's card number, in the only place where it is allowed.
fn payer_card_number(members: &Members) -> Option<&Json> {
    let is_by_card = matches!(member(members, "method")?, Json::Text(text) if text.as_str() == "card");
    let Json::Object(card) = member(members, "card")? else { return None };
    member(card, "number").filter(|number| is_by_card && matches!(number, Json::Text(_)))
}

fn member<'a>(members: &'a Members, name: &str) -> Option<&'a Json> {
    members.iter().find(|(known, _)| known.as_str() == name).map(|(_, value)| value)
}

/// Nothing that looks like a card number is accepted in a body (PCI DSS): in names, texts and numbers at any depth.
fn refuse_card_numbers(members: &Members, except: Option<&Json>) -> Result<(), Problem> {
    let is_one = |(name, value): &&(Zeroizing<String>, Json)| {
        looks_like_card_number(name) || (value.holds_card_number(except) && !is_short_phone(name, value))
    };
    let found = members.iter().filter(is_one);
    let sentence = "must hold nothing that looks like a card number";
    let violations: Vec<_> =
        found.map(|(name, _)| Violation::new(shown_name(name), Rule::CardNumber, sentence)).collect();
    if violations.is_empty() { Ok(()) } else { Err(Problem::invalid(violations)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken(problem: &Problem) -> Vec<(&str, Rule)> {
        problem.violations().iter().map(|violation| (violation.field.as_str(), violation.rule)).collect()
    }

    const TABLE: &[Field] = &[
        Field::optional("lifetime_s", Kind::Integer { from: 60, to: 100 }),
        Field::optional("methods", Kind::Methods(&["qr"])),
        Field::optional("metadata", Kind::Texts { most: 2, longest_key: 2, longest_value: 2 }),
        Field::required("reference", Kind::Text { most: 2 }),
        Field::optional("card", Kind::Object(&[Field::required("number", ANYTHING)])),
    ];
    const ANYTHING: Kind = Kind::Form { schema: || serde_json::json!({}), check: |_, _, _| {} };

    fn parse(body: &str, may_hold_card: bool) -> Result<BodyFields, Problem> {
        BodyFields::parse(body.as_bytes(), &Shape::Object(TABLE), may_hold_card)
    }

    fn finish(body: &str) -> Vec<(String, Rule)> {
        let Err(ServerError::Invalid { violations }) = parse(body, false).unwrap().finish() else { return Vec::new() };
        violations.into_iter().map(|violation| (violation.field, violation.rule)).collect()
    }

    #[test]
    fn all_violations_are_named_at_once() {
        let body = r#"{"lifetime_s": 59, "methods": ["cash"], "metadata": {"a": 1}, "cvc": "1", "A B": 1}"#;
        let expected = [
            ("lifetime_s", Rule::Range),
            ("methods", Rule::OneOf),
            ("metadata", Rule::Format),
            ("reference", Rule::Required),
            ("cvc", Rule::Unknown),
            ("a field", Rule::Unknown),
        ];
        assert_eq!(finish(body), expected.map(|(field, rule)| (field.to_owned(), rule)));
    }

    #[test]
    fn integer_field_accepts_any_integral_notation() {
        for (text, number) in
            [("60", Some(60)), ("60.0", Some(60)), ("6e1", Some(60)), ("60.5", None), ("-60", None), ("1e300", None)]
        {
            let mut fields = parse(&format!(r#"{{"lifetime_s": {text}}}"#), false).unwrap();
            assert_eq!(fields.integer("lifetime_s"), number, "{text}");
        }
    }

    #[test]
    fn card_number_anywhere_in_body_is_rejected() {
        for body in [
            r#"{"reference": "4000 0000 0000 2016"}"#,
            r#"{"reference": 4000000000002016}"#,
            r#"{"metadata": {"a": "4000000000002016"}}"#,
            r#"{"metadata": {"4000000000002016": ""}}"#,
            r#"{"x": [[{"y": "4000000000002016"}]]}"#,
            r#"{"4000000000002016": 1}"#,
        ] {
            let problem = parse(body, false).err().unwrap();
            assert_eq!(broken(&problem)[0].1, Rule::CardNumber, "{body}");
            assert!(!format!("{problem:?}").contains("2016"), "{body}");
        }
    }

    /// Dialled from abroad, a number of the country has 14 digits, and one in ten has a right check digit.
    #[test]
    fn phone_number_is_not_mistaken_for_card_number() {
        for last in 0..10 {
            let body = format!(r#"{{"method": "mbank", "phone": "00996 700 000 00{last}"}}"#);
            assert!(parse(&body, false).is_ok(), "{body}");
        }
        for body in
            [r#"{"phone": "4000 0000 0000 2016"}"#, r#"{"reference": "00996 700 000 000", "x": "4000000000002016"}"#]
        {
            assert!(parse(body, false).is_err(), "{body}");
        }
    }

    #[test]
    fn card_number_is_accepted_only_in_card_field() {
        let pan = "4000 0000 0000 2016";
        let right = format!(r#"{{"method": "card", "card": {{"number": "{pan}", "cvc": "737"}}}}"#);
        let mut card = parse(&right, true).unwrap().object("card").unwrap();
        assert_eq!(card.text("number"), pan);
        assert_eq!(broken(&parse(&right, false).err().unwrap())[0].1, Rule::CardNumber);
        for body in [
            format!(r#"{{"method": "qr", "card": {{"number": "{pan}"}}}}"#),
            format!(r#"{{"card": {{"number": "{pan}"}}}}"#),
            format!(r#"{{"method": "card", "number": "{pan}"}}"#),
            format!(r#"{{"method": "card", "card": "{pan}"}}"#),
            format!(r#"{{"method": "card", "card": [{{"number": "{pan}"}}]}}"#),
            format!(r#"{{"method": "card", "card": {{"number": "{pan}", "number": "{pan}"}}}}"#),
            format!(r#"{{"method": "card", "card": {{"number": "{pan}"}}, "card": {{"number": "{pan}"}}}}"#),
            format!(r#"{{"method": "card", "card": {{"number": "{pan}", "holder_name": "{pan}"}}}}"#),
            format!(r#"{{"method": "card", "card": {{"number": "{pan}", "{pan}": ""}}}}"#),
            format!(r#"{{"method": "card", "card": {{"number": {}}}}}"#, pan.replace(' ', "")),
            format!(r#"{{"method": "card", "language": "{pan}", "card": {{"number": "{pan}"}}}}"#),
        ] {
            let problem = parse(&body, true).err().unwrap();
            assert_eq!(broken(&problem)[0].1, Rule::CardNumber, "{body}");
            assert!(!format!("{problem:?}").contains("2016"), "{body}");
        }
    }

    #[test]
    fn duplicate_field_is_rejected() {
        assert_eq!(finish(r#"{"reference": "a", "reference": "b"}"#), [("reference".to_owned(), Rule::Format)]);
    }

    #[test]
    fn body_that_is_not_an_object_is_rejected() {
        for body in ["[]", "1", "nul", "{", "\"\"", "{}{}"] {
            assert_eq!(broken(&parse(body, false).err().unwrap()), [("body", Rule::Format)], "{body}");
        }
        assert_eq!(finish(""), [("reference".to_owned(), Rule::Required)], "none counts as one without members");
    }
}
