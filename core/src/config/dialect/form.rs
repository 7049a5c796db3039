//! Serialization of a dialect: its JSON form. It is validated strictly, so that a misspelled name is an error and not
//! ignored.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Serialize;
use strum::IntoEnumIterator;

use super::{
    Dialect, EndpointDialect, MbankIdentifier, Overrides, QrAmountUnit, QrNumbers, code_list::CodeList, same_word,
};
use crate::{
    config::endpoint::Endpoint,
    values::{
        byte_order_mark::without_mark,
        error::PaymentError,
        json::{Document, Json},
        rules::Checks,
        violation::Rule,
    },
};

/// Reserved names: the fields that a confirm request has already. An identifier must not overwrite them.
const CONFIRM_FIELDS: [&str; 2] = ["orderNumber", "otp"];

/// All keys of a dialect.
const KEYS: [&str; 7] =
    ["endpoints", "charged_words", "rejected_words", "qr_amount_unit", "qr_numbers", "mbank_identifier", "callback"];

#[derive(Serialize)]
struct Form {
    endpoints: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    charged_words: Option<Vec<String>>,
    rejected_words: Option<Vec<String>>,
    qr_amount_unit: Option<&'static str>,
    qr_numbers: Option<&'static str>,
    mbank_identifier: Option<IdentifierForm>,
    callback: Option<CallbackForm>,
}

#[derive(Serialize)]
struct IdentifierForm {
    pointers: Vec<String>,
    confirm_field: String,
}

#[derive(Serialize)]
struct CallbackForm {
    transaction_id: Vec<String>,
}

const UNITS: [(&str, QrAmountUnit); 2] = [("som", QrAmountUnit::Som), ("tyiyn", QrAmountUnit::Tyiyn)];

const NUMBERS: [(&str, QrNumbers); 2] = [("none", QrNumbers::None), ("transaction_id", QrNumbers::TransactionId)];

/// The longest name of a key that is repeated in an error: it may be anything.
const LONGEST_NAME: usize = 60;

/// The members of an object, by name.
type Members<'a> = BTreeMap<Cow<'a, str>, Json<'a>>;

/// Reads a dialect, which may name these endpoints and no others. All that is wrong is told at once, so it is read by hand: serde
/// stops at the first mistake.
pub(crate) fn read(text: &str, endpoints: &[&'static Endpoint]) -> Result<Dialect, PaymentError> {
    let malformed =
        |problem: &str| PaymentError::invalid("dialect", Rule::Format, None, &format!("is not understood: {problem}"));
    let text = without_mark(text);
    let document = Document::parse(text).map_err(|problem| malformed(&problem))?;
    if text.starts_with('\u{feff}') {
        return Err(malformed("it has two byte order marks"));
    }
    if !document.root().is_object() {
        return Err(malformed("it must be a JSON object"));
    }
    let mut checks = Checks::default();
    let mut dialect = Dialect::default();
    let mut given: Members<'_> = document.root().members().collect();
    check_keys("dialect", &given, &KEYS, &mut checks);
    given.retain(|name, value| name == "endpoints" || !value.is_null());
    if let Some(named) = given.get("endpoints").and_then(|value| object("dialect.endpoints", *value, &mut checks)) {
        read_endpoints(&named, endpoints, &mut dialect, &mut checks);
    }
    let mut words = |key: &str| given.get(key).and_then(|value| texts(&format!("dialect.{key}"), *value, &mut checks));
    let (charged, rejected) = (words("charged_words"), words("rejected_words"));
    read_words(charged, rejected, &mut dialect, &mut checks);
    let unit = given.get("qr_amount_unit");
    dialect.qr_amount_unit = unit.and_then(|unit| one_of("dialect.qr_amount_unit", *unit, &UNITS, &mut checks));
    let numbers = given.get("qr_numbers");
    dialect.qr_numbers = numbers.and_then(|numbers| one_of("dialect.qr_numbers", *numbers, &NUMBERS, &mut checks));
    let identifier = given.get("mbank_identifier");
    dialect.mbank_identifier = identifier.and_then(|named| read_identifier(*named, &mut checks));
    if let Some(pointers) = given.get("callback").and_then(|named| read_callback(*named, &mut checks)) {
        dialect.callback_transaction_id = pointers;
    }
    checks.finish()?;
    Ok(dialect)
}

/// The members of what must be an object.
fn object<'a>(place: &str, value: Json<'a>, checks: &mut Checks) -> Option<Members<'a>> {
    if !value.is_object() {
        checks.fail(place, Rule::Format, None, "must be a JSON object");
        return None;
    }
    Some(value.members().collect())
}

fn check_keys(place: &str, members: &Members<'_>, known: &[&str], checks: &mut Checks) {
    for name in members.keys().filter(|name| !known.contains(&name.as_ref())) {
        let all = known.join(", ");
        checks.fail(&place_of(place, name), Rule::OneOf, Some(&all), &format!("is no key; there are {all}"));
    }
}

fn place_of(place: &str, name: &str) -> String {
    let shown: String = name.chars().take(LONGEST_NAME).flat_map(char::escape_debug).collect();
    format!("{place}.{shown}")
}

fn quoted(value: Json<'_>) -> Option<String> {
    let text = value.text().filter(|_| value.source().starts_with('"'));
    text.map(Cow::into_owned)
}

/// What must be a list of texts. Numbers are none: 0110 and 110 would be the same code.
fn texts(place: &str, value: Json<'_>, checks: &mut Checks) -> Option<Vec<String>> {
    let texts: Option<Vec<String>> = value.items().and_then(|items| items.map(quoted).collect());
    if texts.is_none() {
        checks.fail(place, Rule::Format, None, "must be a list of texts in quotes");
    }
    texts
}

fn one_of<T: Copy>(place: &str, value: Json<'_>, known: &[(&str, T)], checks: &mut Checks) -> Option<T> {
    let word = quoted(value);
    let found = known.iter().find(|(name, _)| word.as_deref() == Some(*name));
    if found.is_none() {
        let all = known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        checks.fail(place, Rule::OneOf, Some(&all), &format!("must be one of {all}"));
    }
    found.map(|(_, means)| *means)
}

fn read_endpoints(named: &Members<'_>, endpoints: &[&'static Endpoint], dialect: &mut Dialect, checks: &mut Checks) {
    let known: Vec<_> = endpoints.iter().map(|endpoint| endpoint.name).collect();
    for name in named.keys().filter(|name| !known.contains(&name.as_ref())) {
        let place = place_of("dialect.endpoints", name);
        checks.fail(&place, Rule::OneOf, Some(&known.join(", ")), "is not an endpoint");
    }
    for endpoint in endpoints {
        let place = format!("dialect.endpoints.{}", endpoint.name);
        if let Some(named) = named.get(endpoint.name).and_then(|value| object(&place, *value, checks)) {
            read_endpoint(endpoint, &named, dialect, checks);
        }
    }
}

fn read_endpoint(endpoint: &'static Endpoint, named: &Members<'_>, dialect: &mut Dialect, checks: &mut Checks) {
    let mut overrides = Overrides::default();
    for (name, value) in named {
        let place = place_of(&format!("dialect.endpoints.{}", endpoint.name), name);
        if let Ok(list) = name.parse::<CodeList>() {
            if let Some(codes) = texts(&place, *value, checks) {
                overrides.set_codes(endpoint, list, codes);
            }
        } else if let Some(field) = endpoint.reply_fields.iter().find(|field| field.name() == &**name) {
            if let Some(pointers) = texts(&place, *value, checks) {
                check_pointers(&place, &pointers, checks);
                overrides.set_pointers(*field, pointers);
            }
        } else {
            checks.fail(&place, Rule::OneOf, None, "means nothing in a reply of this endpoint");
        }
    }
    check_codes(EndpointDialect { endpoint, overrides: Some(&overrides) }, checks);
    if !overrides.is_empty() {
        dialect.endpoints.insert(endpoint.name, overrides);
    }
}

/// A code means one thing: it may stand in one list only.
fn check_codes(read: EndpointDialect<'_>, checks: &mut Checks) {
    let lists: Vec<_> = CodeList::iter().collect();
    for (index, list) in lists.iter().enumerate() {
        let earlier = lists[..index].iter().find(|earlier| read.codes(*list).any(|code| read.lists(**earlier, code)));
        if let Some(earlier) = earlier {
            let place = format!("dialect.endpoints.{}.{}", read.endpoint.name, list.name());
            checks.fail(&place, Rule::OneOf, None, &format!("has a code that is also among the {}", earlier.name()));
        }
    }
}

fn read_words(charged: Option<Vec<String>>, rejected: Option<Vec<String>>, dialect: &mut Dialect, checks: &mut Checks) {
    for (name, words, place) in [
        ("charged_words", charged, &mut dialect.charged_words),
        ("rejected_words", rejected, &mut dialect.rejected_words),
    ] {
        let Some(words) = words else { continue };
        if words.is_empty() || words.iter().any(|word| word.trim().is_empty()) {
            checks.fail(
                &format!("dialect.{name}"),
                Rule::Required,
                None,
                "must have at least one word, and no empty one",
            );
        }
        *place = words;
    }
    if dialect.charged_words.iter().any(|word| dialect.rejected_words.iter().any(|other| same_word(word, other))) {
        checks.fail("dialect.charged_words", Rule::OneOf, None, "has a word that also means rejected");
    }
}

fn read_identifier(value: Json<'_>, checks: &mut Checks) -> Option<MbankIdentifier> {
    let place = "dialect.mbank_identifier";
    let named = object(place, value, checks)?;
    check_keys(place, &named, &["pointers", "confirm_field"], checks);
    let (place, field) = ("dialect.mbank_identifier.pointers", "dialect.mbank_identifier.confirm_field");
    let pointers = pointers(place, named.get("pointers"), checks);
    if pointers.as_ref().is_some_and(Vec::is_empty) {
        checks.fail(place, Rule::Required, None, "must have at least one pointer");
    }
    let confirm_field = match named.get("confirm_field").map(|value| quoted(*value)) {
        Some(None) => {
            checks.fail(field, Rule::Format, None, "must be a text in quotes");
            None
        }
        name => Some(name.flatten().unwrap_or_default()).filter(|name| checks.required(field, name)),
    };
    if confirm_field.as_ref().is_some_and(|name| CONFIRM_FIELDS.contains(&name.as_str())) {
        checks.fail(field, Rule::OneOf, None, "is the name of a field that the request has already");
    }
    Some(MbankIdentifier { pointers: pointers?, confirm_field: confirm_field? })
}

fn read_callback(value: Json<'_>, checks: &mut Checks) -> Option<Vec<String>> {
    let named = object("dialect.callback", value, checks)?;
    check_keys("dialect.callback", &named, &["transaction_id"], checks);
    pointers("dialect.callback.transaction_id", named.get("transaction_id"), checks)
}

/// What must be there, and a list of JSON pointers.
fn pointers(place: &str, value: Option<&Json<'_>>, checks: &mut Checks) -> Option<Vec<String>> {
    let Some(value) = value else {
        checks.break_rule(place, Rule::Required, None);
        return None;
    };
    let pointers = texts(place, *value, checks)?;
    check_pointers(place, &pointers, checks);
    Some(pointers)
}

fn check_pointers(place: &str, pointers: &[String], checks: &mut Checks) {
    if !pointers.iter().all(|pointer| is_json_pointer(pointer)) {
        checks.fail(place, Rule::Format, None, "has a text that is not a JSON pointer, such as /data/status");
    }
}

/// The syntax of a JSON pointer (RFC 6901): empty, or begins with a slash; a tilde is followed by 0 or 1.
fn is_json_pointer(text: &str) -> bool {
    let tildes_are_escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && tildes_are_escapes
}

fn write_endpoint(read: EndpointDialect<'_>) -> BTreeMap<String, Vec<String>> {
    let owned = |texts: &mut dyn Iterator<Item = &str>| texts.map(str::to_owned).collect::<Vec<_>>();
    let mut named = BTreeMap::new();
    for field in read.endpoint.reply_fields {
        named.insert(field.name().to_owned(), owned(&mut read.pointers(*field)));
    }
    for list in CodeList::iter() {
        named.insert(list.name().to_owned(), owned(&mut read.codes(list)));
    }
    named
}

fn name_in<T: Copy + PartialEq>(known: &[(&'static str, T)], value: Option<T>) -> Option<&'static str> {
    known.iter().find(|(_, means)| value == Some(*means)).map(|(name, _)| *name)
}

/// Writes the whole dialect, the defaults of these endpoints included.
pub(crate) fn write(dialect: &Dialect, endpoints: &[&'static Endpoint]) -> String {
    // Inserted one by one: collecting a map brings two sorts along, 8 KB of code.
    let mut named = BTreeMap::new();
    for endpoint in endpoints {
        named.insert(endpoint.name.to_owned(), write_endpoint(dialect.endpoint(endpoint)));
    }
    let form = Form {
        endpoints: named,
        charged_words: Some(dialect.charged_words.clone()),
        rejected_words: Some(dialect.rejected_words.clone()),
        qr_amount_unit: name_in(&UNITS, dialect.qr_amount_unit),
        qr_numbers: name_in(&NUMBERS, dialect.qr_numbers),
        mbank_identifier: dialect.mbank_identifier.clone().map(|identifier| IdentifierForm {
            pointers: identifier.pointers,
            confirm_field: identifier.confirm_field,
        }),
        callback: Some(CallbackForm { transaction_id: dialect.callback_transaction_id.clone() }),
    };
    // A map with text keys and text values always has a JSON form.
    serde_json::to_string_pretty(&form).unwrap_or_default()
}
