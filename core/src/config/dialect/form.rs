//! Serialization of a dialect: its JSON form. It is validated strictly, so that a misspelled name is an error and not
//! ignored.

use std::{borrow::Cow, collections::BTreeMap};

use http::Method;
use serde::Serialize;
use strum::IntoEnumIterator;

use super::{Dialect, MbankIdentifier, QrAmountUnit, QrNumbers, decline_reason::DeclineReasons, same_word};
use crate::{
    config::endpoint::{CodeList, ELQR, Endpoint, EndpointDialect, ResponseField, WordList},
    elqr::{is_same_in_every_code, may_name_a_payment},
    error::PaymentError,
    json::{Document, Json},
    text::without_mark,
    validation::Checks,
    violation::Rule,
};

/// The known dialects, each as a name and its JSON form. None has a base, because reading bases must end.
pub(crate) const KNOWN: [(&str, &str); 2] = [
    // The default: only what the interface shows.
    ("interface", "{}"),
    // From the public pages of the gateway FINIPAY (`docs/finipay.md`).
    ("finipay", include_str!("finipay.json")),
];

/// Reserved name: an identifier must not overwrite the one-time password of a confirm request.
const OTP: &str = "otp";

/// The key of the lists that name reasons of declined payments.
const DECLINE_REASONS: &str = "decline_reasons";

/// All keys of a dialect.
const KEYS: [&str; 10] = [
    "base",
    "endpoints",
    "charged_words",
    "rejected_words",
    "qr_amount_unit",
    "qr_numbers",
    "mbank_identifier",
    "megapay",
    "callback",
    DECLINE_REASONS,
];

#[derive(Serialize)]
struct Form {
    endpoints: BTreeMap<String, BTreeMap<String, EndpointValue>>,
    charged_words: Option<Vec<String>>,
    rejected_words: Option<Vec<String>>,
    qr_amount_unit: Option<&'static str>,
    qr_numbers: Option<&'static str>,
    mbank_identifier: Option<IdentifierForm>,
    megapay: Option<MegapayForm>,
    callback: Option<CallbackForm>,
    decline_reasons: BTreeMap<String, Vec<String>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum EndpointValue {
    List(Vec<String>),
    Word(&'static str),
}

#[derive(Serialize)]
struct IdentifierForm {
    pointers: Vec<String>,
    confirm_field: Option<String>,
}

#[derive(Serialize)]
struct MegapayForm {
    check_method: Option<&'static str>,
}

#[derive(Serialize)]
struct CallbackForm {
    transaction_id: Vec<String>,
}

const UNITS: [(&str, QrAmountUnit); 2] = [("som", QrAmountUnit::Som), ("tyiyn", QrAmountUnit::Tyiyn)];

const NUMBERS: [(&str, QrNumbers); 2] = [("none", QrNumbers::None), ("transaction_id", QrNumbers::TransactionId)];

/// The public pages of one gateway show both for the same request.
const CHECK_METHODS: [(&str, &Method); 2] = [("POST", &Method::POST), ("GET", &Method::GET)];

/// The key for the numbers that a report of a status query may name.
const REPORTED_NUMBERS: &str = "numbers";

/// Whether any number is allowed.
const ANY_NUMBER: [(&str, bool); 2] = [("own", false), ("any", true)];

/// The longest name of a key that an error repeats: the name is arbitrary input.
const LONGEST_NAME: usize = 60;

/// The members of an object, by name.
type Members<'a> = BTreeMap<Cow<'a, str>, Json<'a>>;

/// Reads a dialect, which may name only these endpoints. It is read by hand so that all mistakes are reported at once: serde stops at the
/// first one.
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
    let mut given: Members<'_> = document.root().members().collect();
    check_keys("dialect", &given, &KEYS, &mut checks);
    given.retain(|name, value| name == "endpoints" || !value.is_null());
    let base = given.get("base").and_then(|name| one_of("dialect.base", *name, &KNOWN, &mut checks));
    // A known dialect has no base of its own.
    let mut dialect = base.map(|base| read(base, endpoints)).transpose()?.unwrap_or_default();
    if let Some(named) = given.get("endpoints").and_then(|value| object("dialect.endpoints", *value, &mut checks)) {
        read_endpoints(&named, endpoints, &mut dialect, &mut checks);
    }
    let mut words = |key: &str| given.get(key).and_then(|value| texts(&format!("dialect.{key}"), *value, &mut checks));
    let (charged, rejected) = (words("charged_words"), words("rejected_words"));
    read_words(charged, rejected, &mut dialect, &mut checks);
    check_endpoint_words(&dialect, endpoints, &mut checks);
    if let Some(unit) = given.get("qr_amount_unit") {
        dialect.qr_amount_unit = one_of("dialect.qr_amount_unit", *unit, &UNITS, &mut checks);
    }
    if let Some(numbers) = given.get("qr_numbers") {
        dialect.qr_numbers = one_of("dialect.qr_numbers", *numbers, &NUMBERS, &mut checks);
    }
    if let Some(named) = given.get("mbank_identifier") {
        dialect.mbank_identifier = read_identifier(*named, &mut checks);
    }
    if let Some(named) = given.get("megapay") {
        dialect.megapay_check_method = read_check_method(*named, &mut checks).cloned();
    }
    if let Some(pointers) = given.get("callback").and_then(|named| read_callback(*named, &mut checks)) {
        dialect.callback_transaction_id = pointers;
    }
    if let Some(named) = given.get(DECLINE_REASONS) {
        read_decline_reasons(*named, &mut dialect, &mut checks);
    }
    checks.finish()?;
    Ok(dialect)
}

/// The members of a value that must be an object.
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
        checks.fail(&place_of(place, name), Rule::OneOf, Some(&all), &format!("is not a key; there are {all}"));
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

/// A value that must be a list of strings. Numbers are rejected: 0110 and 110 would be the same code.
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

/// The meaning of a key of an endpoint.
enum EndpointKey {
    Codes(CodeList),
    Pointers(ResponseField),
    Words(WordList),
    Numbers,
}

impl EndpointKey {
    fn of(endpoint: &Endpoint, name: &str) -> Option<Self> {
        let codes = name.parse().ok().map(Self::Codes);
        let field = || endpoint.response_fields.iter().find(|field| field.name() == name).copied().map(Self::Pointers);
        let of_query = || match name {
            REPORTED_NUMBERS => Some(Self::Numbers),
            words => words.parse().ok().map(Self::Words),
        };
        codes.or_else(field).or_else(|| of_query().filter(|_| endpoint.is_status_query()))
    }
}

fn read_endpoint(endpoint: &'static Endpoint, named: &Members<'_>, dialect: &mut Dialect, checks: &mut Checks) {
    let mut overrides = dialect.endpoints.remove(endpoint.name).unwrap_or_default();
    for (name, value) in named {
        let place = place_of(&format!("dialect.endpoints.{}", endpoint.name), name);
        match EndpointKey::of(endpoint, name) {
            None => checks.fail(&place, Rule::OneOf, None, "means nothing in a response of this endpoint"),
            Some(_) if value.is_null() => {}
            Some(EndpointKey::Codes(list)) => {
                if let Some(codes) = texts(&place, *value, checks) {
                    overrides.set_codes(endpoint, list, codes);
                }
            }
            Some(EndpointKey::Pointers(field)) => {
                if let Some(pointers) = texts(&place, *value, checks) {
                    check_places(&place, field, &pointers, checks);
                    overrides.set_pointers(field, pointers);
                }
            }
            Some(EndpointKey::Words(list)) => {
                if let Some(words) = texts(&place, *value, checks) {
                    check_words(&place, &words, checks);
                    overrides.set_words(list, words);
                }
            }
            Some(EndpointKey::Numbers) => {
                if let Some(any_number) = one_of(&place, *value, &ANY_NUMBER, checks) {
                    overrides.set_any_number(any_number);
                }
            }
        }
    }
    check_codes(EndpointDialect { endpoint, overrides: Some(&overrides) }, checks);
    if !overrides.is_empty() {
        dialect.endpoints.insert(endpoint.name, overrides);
    }
}

/// A code has one meaning: it may be in only one list.
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
        check_words(&format!("dialect.{name}"), &words, checks);
        *place = words;
    }
    if have_a_common_word(&dialect.charged_words, &dialect.rejected_words) {
        checks.fail("dialect.charged_words", Rule::OneOf, None, "has a word that also means rejected");
    }
}

fn check_words(place: &str, words: &[String], checks: &mut Checks) {
    if words.is_empty() || words.iter().any(|word| word.trim().is_empty()) {
        checks.fail(place, Rule::Required, None, "must have at least one word, and no empty one");
    }
}

fn have_a_common_word(charged: &[String], rejected: &[String]) -> bool {
    charged.iter().any(|word| rejected.iter().any(|other| same_word(word, other)))
}

/// An endpoint may have one list of its own, and the other from the whole dialect or from a base. Read last, when all lists are
/// known.
fn check_endpoint_words(dialect: &Dialect, endpoints: &[&'static Endpoint], checks: &mut Checks) {
    for endpoint in endpoints {
        let read = dialect.endpoint(endpoint);
        let Some(own) = WordList::ALL.into_iter().find(|list| read.words(*list).is_some()) else { continue };
        let [charged, rejected] = WordList::ALL.map(|list| dialect.words_at(read, list));
        if have_a_common_word(charged, rejected) {
            let other = if own == WordList::Charged { "rejected" } else { "charged" };
            let place = format!("dialect.endpoints.{}.{}", endpoint.name, own.name());
            checks.fail(&place, Rule::OneOf, None, &format!("has a word that also means {other}"));
        }
    }
}

fn read_identifier(value: Json<'_>, checks: &mut Checks) -> Option<MbankIdentifier> {
    let place = "dialect.mbank_identifier";
    let named = object(place, value, checks)?;
    check_keys(place, &named, &["pointers", "confirm_field"], checks);
    let place = "dialect.mbank_identifier.pointers";
    let pointers = pointers(place, named.get("pointers"), checks);
    if pointers.as_ref().is_some_and(Vec::is_empty) {
        checks.fail(place, Rule::Required, None, "must have at least one pointer");
    }
    let confirm_field = read_confirm_field(named.get("confirm_field"), checks);
    Some(MbankIdentifier { pointers: pointers?, confirm_field: confirm_field? })
}

/// `null` means that the identifier is not sent. A missing field is an error, because either could be meant.
fn read_confirm_field(value: Option<&Json<'_>>, checks: &mut Checks) -> Option<Option<String>> {
    let field = "dialect.mbank_identifier.confirm_field";
    if value.is_some_and(|value| value.is_null()) {
        return Some(None);
    }
    let name = match value.map(|value| quoted(*value)) {
        Some(None) => {
            checks.fail(field, Rule::Format, None, "must be a text in quotes, or null");
            return None;
        }
        name => name.flatten().unwrap_or_default(),
    };
    if !checks.required(field, &name) {
        return None;
    }
    if name == OTP {
        checks.fail(field, Rule::OneOf, None, "is the name of a field that the request has already");
    }
    Some(Some(name))
}

fn read_check_method(value: Json<'_>, checks: &mut Checks) -> Option<&'static Method> {
    let named = object("dialect.megapay", value, checks)?;
    check_keys("dialect.megapay", &named, &["check_method"], checks);
    let place = "dialect.megapay.check_method";
    match named.get("check_method") {
        Some(method) => one_of(place, *method, &CHECK_METHODS, checks),
        None => {
            checks.break_rule(place, Rule::Required, None);
            None
        }
    }
}

fn read_callback(value: Json<'_>, checks: &mut Checks) -> Option<Vec<String>> {
    let named = object("dialect.callback", value, checks)?;
    check_keys("dialect.callback", &named, &["transaction_id"], checks);
    let value = named.get("transaction_id").filter(|value| !value.is_null())?;
    pointers("dialect.callback.transaction_id", Some(value), checks)
}

fn read_decline_reasons(value: Json<'_>, dialect: &mut Dialect, checks: &mut Checks) {
    let place = "dialect.decline_reasons";
    let Some(named) = object(place, value, checks) else { return };
    check_keys(place, &named, &DeclineReasons::names(), checks);
    for (name, value) in named.iter().filter(|(_, value)| !value.is_null()) {
        let place = place_of(place, name);
        let Some(listed) = texts(&place, *value, checks) else { continue };
        if listed.iter().any(|text| text.trim().is_empty()) {
            checks.fail(&place, Rule::Format, None, "has an empty text, which every response contains");
        }
        dialect.decline_reasons.replace(name, listed);
    }
}

/// A required list of JSON pointers.
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

/// A transaction may also be read from the QR code in the same response.
fn check_places(place: &str, field: ResponseField, places: &[String], checks: &mut Checks) {
    let is_tag = |text: &String| field == ResponseField::TransactionId && text.starts_with(ELQR);
    let (tags, pointers): (Vec<String>, Vec<String>) = places.iter().cloned().partition(is_tag);
    check_pointers(place, &pointers, checks);
    let tags = || tags.iter().filter_map(|text| text.strip_prefix(ELQR));
    if !tags().all(may_name_a_payment) {
        let sentence = "has an elqr: without the tag of a field that could name a payment, such as elqr:32.11";
        checks.fail(place, Rule::Format, None, sentence);
    }
    if let Some(tag) = tags().find(|tag| is_same_in_every_code(tag)) {
        let sentence = format!(
            "has {ELQR}{tag}, which names the service and is the same in every code: two payments would share one transaction"
        );
        checks.fail(place, Rule::OneOf, None, &sentence);
    }
}

/// The syntax of a JSON pointer (RFC 6901): empty, or begins with a slash; a tilde is followed by 0 or 1.
fn is_json_pointer(text: &str) -> bool {
    let tildes_are_escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    (text.is_empty() || text.starts_with('/')) && tildes_are_escapes
}

fn write_endpoint(read: EndpointDialect<'_>) -> BTreeMap<String, EndpointValue> {
    let owned = |texts: &mut dyn Iterator<Item = &str>| EndpointValue::List(texts.map(str::to_owned).collect());
    let mut named = BTreeMap::new();
    for field in read.endpoint.response_fields {
        named.insert(field.name().to_owned(), owned(&mut read.pointers(*field)));
    }
    for list in CodeList::iter() {
        named.insert(list.name().to_owned(), owned(&mut read.codes(list)));
    }
    for list in WordList::ALL {
        if let Some(words) = read.words(list) {
            named.insert(list.name().to_owned(), EndpointValue::List(words.to_vec()));
        }
    }
    if read.any_number()
        && let Some(any) = name_in(&ANY_NUMBER, Some(true))
    {
        named.insert(REPORTED_NUMBERS.to_owned(), EndpointValue::Word(any));
    }
    named
}

fn name_in<T: Copy + PartialEq>(known: &[(&'static str, T)], value: Option<T>) -> Option<&'static str> {
    known.iter().find(|(_, means)| value == Some(*means)).map(|(name, _)| *name)
}

/// Writes the whole dialect, the defaults of these endpoints included.
pub(crate) fn write(dialect: &Dialect, endpoints: &[&'static Endpoint]) -> String {
    // Inserted one by one: collecting into a map adds two sort functions, 8 KB of code.
    let mut named = BTreeMap::new();
    for endpoint in endpoints {
        named.insert(endpoint.name.to_owned(), write_endpoint(dialect.endpoint(endpoint)));
    }
    let mut reasons = BTreeMap::new();
    for (name, texts) in dialect.decline_reasons.lists() {
        reasons.insert(name.to_owned(), texts.to_vec());
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
        megapay: dialect
            .megapay_check_method
            .as_ref()
            .map(|method| MegapayForm { check_method: name_in(&CHECK_METHODS, Some(method)) }),
        callback: Some(CallbackForm { transaction_id: dialect.callback_transaction_id.clone() }),
        decline_reasons: reasons,
    };
    // A map with text keys and text values always has a JSON form.
    serde_json::to_string_pretty(&form).unwrap_or_default()
}
