use std::collections::HashSet;

use strum::IntoEnumIterator;

use crate::{
    i18n::{Language, Typed, advice, sentence, shown, violation},
    rule::{AdviceTopic, Rule},
};

/// The fields that payers type, and one that they do not.
const FIELDS: [&str; 10] =
    ["pan", "expiryMonth", "expiryYear", "cvc", "name", "phone", "user", "otp", "pinCode", "callbackURL"];

/// A limit in every form that there is, and none.
const LIMITS: [Option<&str>; 4] = [None, Some("7"), Some("13 to 20"), Some("14, 17 or 19")];

fn is_cyrillic(text: &str) -> bool {
    text.chars().any(|c| matches!(c, 'а'..='я' | 'ё' | 'ң' | 'ө' | 'ү'))
}

fn numbers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|part| !part.is_empty())
}

/// The rules that have a limit which the payer has to know.
fn shows_its_limit(rule: Rule) -> bool {
    matches!(rule, Rule::Length | Rule::Minimum | Rule::Month | Rule::OneOf | Rule::Format | Rule::Exact)
}

#[test]
fn rules_name_field_and_limit_in_every_language() {
    for (field, rule) in FIELDS.into_iter().flat_map(|field| Rule::iter().map(move |rule| (field, rule))) {
        for limit in LIMITS {
            let english = format!("{field} {}", sentence(field, rule, limit));
            let said: Vec<_> =
                Language::iter().map(|language| violation(language, field, rule, limit, &english)).collect();
            assert_eq!(said.iter().collect::<HashSet<_>>().len(), 3, "{said:?}");
            assert_eq!(said.iter().map(|text| is_cyrillic(text)).collect::<Vec<_>>(), [false, true, true], "{said:?}");
            for text in said.iter().chain([&english]).filter(|_| shows_its_limit(rule)) {
                let there: Vec<_> = numbers(text).collect();
                assert!(numbers(limit.unwrap_or_default()).all(|number| there.contains(&number)), "{rule}: {text}");
            }
            names(field, &said);
        }
    }
}

#[test]
fn advice_names_its_field_in_every_language() {
    for (field, topic) in FIELDS.into_iter().flat_map(|field| AdviceTopic::iter().map(move |topic| (field, topic))) {
        let english = format!("{field} is odd");
        let said: Vec<_> = Language::iter().map(|language| advice(language, field, topic, &english)).collect();
        assert_eq!(said.iter().collect::<HashSet<_>>().len(), 3, "{said:?}");
        assert_eq!(said.iter().map(|text| is_cyrillic(text)).collect::<Vec<_>>(), [false, true, true], "{said:?}");
        names(field, &said);
    }
}

/// A field that a payer types has a name of its own in every language; any other stays as it is.
fn names(field: &str, said: &[String]) {
    for (language, text) in Language::iter().zip(said) {
        let name = shown(language, field);
        assert_eq!(name == field, Typed::by_name(field).is_none(), "{name}");
        assert!(text.starts_with(name), "{text}");
    }
}

#[test]
fn every_field_that_payers_type_is_listed_here() {
    assert_eq!(FIELDS.iter().filter_map(|field| Typed::by_name(field)).count(), Typed::iter().count());
}

#[test]
fn nouns_agree_with_their_numbers() {
    let russian = |limit| violation(Language::Russian, "pan", Rule::Length, Some(limit), "");
    assert_eq!(russian("16"), "Номер карты: нужно ровно 16 цифр");
    assert_eq!(russian("13 to 20"), "Номер карты: нужно от 13 до 20 цифр");
    assert_eq!(russian("13, 16 or 19"), "Номер карты: нужно 13, 16 или 19 цифр");
    assert_eq!(russian("12"), "Номер карты: нужно ровно 12 цифр");
    let russian = |rule, limit| violation(Language::Russian, "x", rule, Some(limit), "");
    assert_eq!(russian(Rule::Length, "3"), "x: нужно ровно 3 символа");
    assert_eq!(russian(Rule::Length, "21"), "x: нужно ровно 21 символ");
    assert_eq!(russian(Rule::Exact, "1"), "x: не больше 1 знака после запятой, как у валюты");
    assert_eq!(russian(Rule::Exact, "0"), "x: не больше 0 знаков после запятой, как у валюты");
}

#[test]
fn devices_name_languages_in_many_ways() {
    for (tag, language) in [
        ("ru", Language::Russian),
        ("RU-kg", Language::Russian),
        ("ru_RU.UTF-8", Language::Russian),
        ("ky-Cyrl-KG", Language::Kyrgyz),
        ("kir", Language::Kyrgyz),
        ("en-GB", Language::English),
        ("", Language::English),
        ("kyx", Language::English),
        ("Russian", Language::English),
    ] {
        assert_eq!(Language::from_tag(tag), language, "{tag}");
    }
}
