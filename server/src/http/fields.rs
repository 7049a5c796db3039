//! Bodies: JSON objects, read field by field, so that everything that is wrong with one is told at once. A field that is not
//! known is refused, and so is whatever looks like a card number, wherever it stands; but for the number of the card that a
//! payment is begun with, where cards are on.

use std::{collections::BTreeMap, ops::RangeInclusive, str::FromStr};

use kassa::{Decimal, normalized_phone};
use serde_json::Number;
use zeroize::Zeroizing;

use super::{
    json::{Json, Members},
    problem::Problem,
};
use crate::values::{
    card_number::looks_like_card_number,
    error::Checks,
    error::ServerError,
    error::{Rule, Violation},
};

/// The members of a body that were not read yet, and what was wrong with those that were.
pub(super) struct BodyFields {
    members: Members,
    checks: Checks,
    card_number: Option<Zeroizing<String>>,
}

impl BodyFields {
    /// A body; none counts as one without members. Where it may hold a card and is one by card, `card.number` is taken out of it,
    /// and **nothing else of it may look like a card number**, as anywhere.
    pub(super) fn parse(body: &[u8], may_hold_card: bool) -> Result<Self, Problem> {
        let mut fields = Self::read(body)?;
        if may_hold_card && fields.is_by_card() {
            fields.card_number = fields.find_card_number();
        }
        refuse_card_numbers(&fields.members)?;
        Ok(fields)
    }

    /// The number of the payer's card, if the body may hold one and does.
    pub(super) fn take_card_number(&mut self) -> Option<Zeroizing<String>> {
        self.card_number.take()
    }

    fn read(body: &[u8]) -> Result<Self, Problem> {
        let body = if body.is_empty() { b"{}" } else { body };
        let not_json = |_| Problem::field("body", Rule::Format, "must be JSON");
        match serde_json::from_slice(body).map_err(not_json)? {
            Json::Object(members) => Ok(Self { members, checks: Checks::default(), card_number: None }),
            _ => Err(Problem::field("body", Rule::Format, "must be a JSON object")),
        }
    }

    fn is_by_card(&self) -> bool {
        let method = self.members.iter().find(|(name, _)| name.as_str() == "method");
        matches!(method, Some((_, Json::Text(text))) if text.as_str() == "card")
    }

    fn find_card_number(&mut self) -> Option<Zeroizing<String>> {
        let card = self.members.iter_mut().find(|(name, _)| name.as_str() == "card");
        let Some((_, Json::Object(card))) = card else { return None };
        let is_number =
            |(name, value): &(Zeroizing<String>, Json)| name.as_str() == "number" && matches!(value, Json::Text(_));
        let at = card.iter().position(is_number)?;
        card.remove(at).1.into_text()
    }

    /// A text that must be there.
    pub(super) fn text(&mut self, name: &str) -> String {
        match self.optional_text(name) {
            Some(text) => text,
            None if self.checks.is_broken(name) => String::new(),
            None => {
                self.checks.fail(name, Rule::Required, "must be given");
                String::new()
            }
        }
    }

    /// A text; null is as good as none.
    pub(super) fn optional_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            Json::Text(mut text) => Some(std::mem::take(&mut *text)),
            _ => self.wrong(name, "must be a string"),
        }
    }

    /// An identifier; null is as good as none.
    pub(super) fn optional_id<T: FromStr>(&mut self, name: &str, sentence: &str) -> Option<T> {
        let id = self.optional_text(name)?.parse().ok();
        self.require(name, id.is_some(), Rule::Format, sentence);
        id
    }

    /// An amount, as a text: a JSON number would pass through a float.
    pub(super) fn amount(&mut self, name: &str) -> Decimal {
        let text = self.text(name);
        match Decimal::from_str_exact(&text) {
            Ok(amount) if is_plain(&text) => amount,
            _ => {
                if !self.checks.is_broken(name) {
                    self.checks.fail(name, Rule::Format, "must be a string such as 390 or 390.50");
                }
                Decimal::ONE
            }
        }
    }

    /// A whole number within a range; null is as good as none.
    pub(super) fn number(&mut self, name: &str, range: &RangeInclusive<u64>) -> Option<u64> {
        let value = self.take(name)?;
        let number = if let Json::Number(number) = &value { whole(number) } else { None };
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let sentence = format!("must be a whole number from {} to {}", range.start(), range.end());
            self.checks.fail(name, Rule::Range, &sentence);
        }
        number
    }

    /// A list of words, each of which is one of these.
    pub(super) fn words<T: FromStr>(&mut self, name: &str, choices: &str) -> Vec<T> {
        let Some(value) = self.take(name) else { return Vec::new() };
        let word = |word: &Json| if let Json::Text(word) = word { word.parse::<T>().ok() } else { None };
        let words = if let Json::List(list) = &value { list.iter().map(word).collect() } else { None };
        words.unwrap_or_else(|| {
            self.checks.fail(name, Rule::OneOf, &format!("must be a list of {choices}"));
            Vec::new()
        })
    }

    /// One word of these, which must be there.
    pub(super) fn word<T: FromStr>(&mut self, name: &str, choices: &str) -> Option<T> {
        let text = self.text(name);
        if self.checks.is_broken(name) {
            return None;
        }
        let word = text.parse().ok();
        if word.is_none() {
            self.checks.fail(name, Rule::OneOf, &format!("must be one of {choices}"));
        }
        word
    }

    /// An object whose values are strings.
    pub(super) fn texts(&mut self, name: &str) -> BTreeMap<String, String> {
        let texts = match self.take(name) {
            None => return BTreeMap::new(),
            Some(Json::Object(members)) => members
                .into_iter()
                .map(|(mut key, value)| {
                    let mut text = value.into_text()?;
                    Some((std::mem::take(&mut *key), std::mem::take(&mut *text)))
                })
                .collect(),
            Some(_) => None,
        };
        texts.unwrap_or_else(|| {
            self.checks.fail(name, Rule::Format, "must be an object whose values are strings");
            BTreeMap::new()
        })
    }

    /// The members of an object that must be there, to be read like a body's. [`finish_object`](Self::finish_object) ends it.
    pub(super) fn object(&mut self, name: &str) -> Option<Self> {
        match self.take(name) {
            Some(Json::Object(members)) => Some(Self { members, checks: Checks::default(), card_number: None }),
            Some(_) => self.wrong(name, "must be an object"),
            None => {
                self.checks.fail(name, Rule::Required, "must be given");
                None
            }
        }
    }

    /// Refuses what is left of an object, and notes everything that was wrong in it.
    pub(super) fn finish_object(&mut self, name: &str, inner: Self) {
        if let Err(ServerError::Invalid { violations }) = inner.checked() {
            self.checks.add(violations.into_iter().map(|violation| violation.inside(name)).collect());
        }
    }

    /// Notes that a field breaks a rule, unless it is known already that it is wrong.
    pub(super) fn require(&mut self, name: &str, is_right: bool, rule: Rule, sentence: &str) {
        if !is_right && !self.checks.is_broken(name) {
            self.checks.fail(name, rule, sentence);
        }
    }

    /// Adds what the rules of the whole say, where its fields could be read at all.
    pub(super) fn add_violations(&mut self, checked: Result<(), ServerError>) {
        if let Err(ServerError::Invalid { violations }) = checked {
            self.checks.add(violations);
        }
    }

    /// Refuses what is left, and tells everything that was wrong.
    pub(super) fn finish(self) -> Result<(), Problem> {
        self.checked().map_err(Problem::from)
    }

    fn checked(mut self) -> Result<(), ServerError> {
        for (name, _) in &self.members {
            self.checks.fail(shown_name(name), Rule::Unknown, "is not a known field");
        }
        self.checks.finish()
    }

    fn take(&mut self, name: &str) -> Option<Json> {
        let at = self.members.iter().position(|(known, _)| known.as_str() == name)?;
        let (_, value) = self.members.remove(at);
        if self.members.iter().any(|(known, _)| known.as_str() == name) {
            self.checks.fail(name, Rule::Format, "must be given once");
            self.members.retain(|(known, _)| known.as_str() != name);
        }
        Some(value).filter(|value| !matches!(value, Json::Null))
    }

    fn wrong<T>(&mut self, name: &str, sentence: &str) -> Option<T> {
        self.checks.fail(name, Rule::Format, sentence);
        None
    }
}

/// A whole number, also as JSON's 60.0, which is none other than 60.
fn whole(value: &Number) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|number| number.fract() == 0.0).map(|number| number as u64))
}

/// Digits, and at most two after a point; what `Decimal` would read beside that (signs, underscores) is refused.
fn is_plain(text: &str) -> bool {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, "0"));
    let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let has_no_zeros = whole == "0" || !whole.starts_with('0');
    are_digits(whole) && has_no_zeros && are_digits(decimals) && decimals.len() <= 2
}

/// What is told of a name that somebody made up: it may hold anything.
fn shown_name(name: &str) -> &str {
    let is_name = name.len() <= 40 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if is_name { name } else { "a field" }
}

/// A phone number that has too few digits for a card's, once the zeros are left out with which it is dialled.
fn is_short_phone(name: &str, value: &Json) -> bool {
    let phone = if let Json::Text(text) = value { normalized_phone(text) } else { None };
    name == "phone" && phone.is_some_and(|phone| !looks_like_card_number(&phone))
}

/// Nothing that looks like a card number is accepted in a body (PCI DSS): in names, texts and numbers at any depth.
fn refuse_card_numbers(members: &Members) -> Result<(), Problem> {
    let is_one = |(name, value): &&(Zeroizing<String>, Json)| {
        looks_like_card_number(name) || (value.holds_card_number() && !is_short_phone(name, value))
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

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let body =
            br#"{"amount": 390, "lifetime_s": 59, "methods": ["cash"], "metadata": {"a": 1}, "cvc": "1", "A B": 1}"#;
        let mut fields = BodyFields::parse(body, false).unwrap();
        fields.text("reference");
        fields.amount("amount");
        fields.number("lifetime_s", &(60..=100));
        fields.words::<crate::Method>("methods", "qr");
        fields.texts("metadata");
        let problem = fields.finish().unwrap_err();
        let expected = [
            ("reference", Rule::Required),
            ("amount", Rule::Format),
            ("lifetime_s", Rule::Range),
            ("methods", Rule::OneOf),
            ("metadata", Rule::Format),
            ("a field", Rule::Unknown),
            ("cvc", Rule::Unknown),
        ];
        let mut found = broken(&problem);
        found.sort_by_key(|(field, _)| expected.iter().position(|(known, _)| known == field));
        assert_eq!(found, expected);
    }

    #[test]
    fn amounts_are_plain_texts() {
        for (text, is_one) in [
            ("390", true),
            ("390.5", true),
            ("390.50", true),
            ("0", true),
            ("0.99", true),
            ("390.505", false),
            ("0390", false),
            ("+390", false),
            ("-390", false),
            ("3_90", false),
            ("1e3", false),
            ("390.", false),
            (".5", false),
            ("", false),
        ] {
            let mut fields = BodyFields::parse(format!(r#"{{"amount": "{text}"}}"#).as_bytes(), false).unwrap();
            fields.amount("amount");
            assert_eq!(fields.finish().is_ok(), is_one, "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_whole_however_they_are_written() {
        for (text, number) in
            [("60", Some(60)), ("60.0", Some(60)), ("6e1", Some(60)), ("60.5", None), ("-60", None), ("1e300", None)]
        {
            let mut fields = BodyFields::parse(format!(r#"{{"lifetime_s": {text}}}"#).as_bytes(), false).unwrap();
            assert_eq!(fields.number("lifetime_s", &(60..=100)), number, "{text}");
        }
    }

    #[test]
    fn card_numbers_are_refused_wherever_they_stand() {
        for body in [
            r#"{"reference": "4000 0000 0000 2016"}"#,
            r#"{"reference": 4000000000002016}"#,
            r#"{"metadata": {"a": "4000000000002016"}}"#,
            r#"{"metadata": {"4000000000002016": ""}}"#,
            r#"{"x": [[{"y": "4000000000002016"}]]}"#,
            r#"{"4000000000002016": 1}"#,
        ] {
            let problem = BodyFields::parse(body.as_bytes(), false).err().unwrap();
            assert_eq!(broken(&problem)[0].1, Rule::CardNumber, "{body}");
            assert!(!format!("{problem:?}").contains("2016"), "{body}");
        }
    }

    /// Dialled from abroad, a number of the country has 14 digits, and one in ten has a right check digit.
    #[test]
    fn a_phone_number_is_no_card_number_however_it_is_dialled() {
        for last in 0..10 {
            let body = format!(r#"{{"method": "mbank", "phone": "00996 700 000 00{last}"}}"#);
            assert!(BodyFields::parse(body.as_bytes(), false).is_ok(), "{body}");
        }
        for body in
            [r#"{"phone": "4000 0000 0000 2016"}"#, r#"{"reference": "00996 700 000 000", "x": "4000000000002016"}"#]
        {
            assert!(BodyFields::parse(body.as_bytes(), false).is_err(), "{body}");
        }
    }

    #[test]
    fn the_number_of_a_card_may_stand_in_one_place_alone_and_where_cards_are_on() {
        let pan = "4000 0000 0000 2016";
        let right = format!(r#"{{"method": "card", "card": {{"number": "{pan}", "cvc": "737"}}}}"#);
        let number = BodyFields::parse(right.as_bytes(), true).ok().unwrap().take_card_number();
        assert_eq!(number.as_deref().map(String::as_str), Some(pan));
        assert_eq!(broken(&BodyFields::parse(right.as_bytes(), false).err().unwrap())[0].1, Rule::CardNumber);
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
            let problem = BodyFields::parse(body.as_bytes(), true).err().unwrap();
            assert_eq!(broken(&problem)[0].1, Rule::CardNumber, "{body}");
            assert!(!format!("{problem:?}").contains("2016"), "{body}");
        }
    }

    #[test]
    fn a_field_is_given_once() {
        let mut fields = BodyFields::parse(br#"{"reference": "a", "reference": "b"}"#, false).unwrap();
        fields.text("reference");
        assert_eq!(broken(&fields.finish().unwrap_err()), [("reference", Rule::Format)]);
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for body in ["[]", "1", "nul", "{", "\"\"", "{}{}"] {
            assert_eq!(
                broken(&BodyFields::parse(body.as_bytes(), false).err().unwrap()),
                [("body", Rule::Format)],
                "{body}"
            );
        }
        assert!(BodyFields::parse(b"", false).unwrap().finish().is_ok());
    }
}
