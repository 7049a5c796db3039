//! Serialization of a dialect: its JSON form. It is validated strictly, so that a misspelled name is an error and not
//! ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoEnumIterator;

use super::{
    Dialect, EndpointDialect, MbankIdentifier, Overrides, QrAmountUnit, QrNumbers, code_list::CodeList, same_word,
};
use crate::{
    config::endpoint::Endpoint,
    values::{byte_order_mark::without_mark, error::PaymentError, json::Document, rules::Checks, violation::Rule},
};

/// Reserved names: the fields that a confirm request has already. An identifier must not overwrite them.
const CONFIRM_FIELDS: [&str; 2] = ["orderNumber", "otp"];

#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Form {
    endpoints: BTreeMap<String, BTreeMap<String, Vec<String>>>,
    charged_words: Option<Vec<String>>,
    rejected_words: Option<Vec<String>>,
    qr_amount_unit: Option<UnitForm>,
    qr_numbers: Option<QrNumbersForm>,
    mbank_identifier: Option<IdentifierForm>,
    callback: Option<CallbackForm>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UnitForm {
    Som,
    Tyiyn,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum QrNumbersForm {
    None,
    TransactionId,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct IdentifierForm {
    pointers: Vec<String>,
    confirm_field: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallbackForm {
    transaction_id: Vec<String>,
}

/// Reads a dialect, which may name these endpoints and no others.
pub(crate) fn read(text: &str, endpoints: &[&'static Endpoint]) -> Result<Dialect, PaymentError> {
    let malformed = |problem: String| {
        PaymentError::invalid("dialect", Rule::Format, None, &format!("is not understood: {problem}"))
    };
    let text = without_mark(text);
    // serde's derived reader would also accept an array in place of an object, and a name that is given twice.
    if !Document::parse(text).map_err(malformed)?.root().is_object() {
        return Err(malformed("it must be a JSON object".to_owned()));
    }
    let form: Form = serde_json::from_str(text).map_err(|problem| malformed(problem.to_string()))?;
    let mut checks = Checks::default();
    let mut dialect = Dialect::default();
    check_endpoint_names(&form, endpoints, &mut checks);
    for endpoint in endpoints {
        if let Some(named) = form.endpoints.get(endpoint.name) {
            read_endpoint(endpoint, named, &mut dialect, &mut checks);
        }
    }
    read_words(form.charged_words, form.rejected_words, &mut dialect, &mut checks);
    dialect.qr_amount_unit = form.qr_amount_unit.map(|unit| match unit {
        UnitForm::Som => QrAmountUnit::Som,
        UnitForm::Tyiyn => QrAmountUnit::Tyiyn,
    });
    dialect.qr_numbers = form.qr_numbers.map(|numbers| match numbers {
        QrNumbersForm::None => QrNumbers::None,
        QrNumbersForm::TransactionId => QrNumbers::TransactionId,
    });
    dialect.mbank_identifier = form.mbank_identifier.map(|named| read_identifier(named, &mut checks));
    if let Some(callback) = form.callback {
        check_pointers("dialect.callback.transaction_id", &callback.transaction_id, &mut checks);
        dialect.callback_transaction_id = callback.transaction_id;
    }
    checks.finish()?;
    Ok(dialect)
}

fn check_endpoint_names(form: &Form, endpoints: &[&'static Endpoint], checks: &mut Checks) {
    let known: Vec<_> = endpoints.iter().map(|endpoint| endpoint.name).collect();
    for name in form.endpoints.keys().filter(|name| !known.contains(&name.as_str())) {
        checks.fail(&format!("dialect.endpoints.{name}"), Rule::OneOf, Some(&known.join(", ")), "is not an endpoint");
    }
}

fn read_endpoint(
    endpoint: &'static Endpoint,
    named: &BTreeMap<String, Vec<String>>,
    dialect: &mut Dialect,
    checks: &mut Checks,
) {
    let mut overrides = Overrides::default();
    for (name, values) in named {
        let place = format!("dialect.endpoints.{}.{name}", endpoint.name);
        if let Ok(list) = name.parse::<CodeList>() {
            overrides.set_codes(endpoint, list, values.clone());
        } else if let Some(field) = endpoint.reply_fields.iter().find(|field| field.name() == name) {
            check_pointers(&place, values, checks);
            overrides.set_pointers(*field, values.clone());
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

fn read_identifier(named: IdentifierForm, checks: &mut Checks) -> MbankIdentifier {
    if named.pointers.is_empty() {
        checks.fail("dialect.mbank_identifier.pointers", Rule::Required, None, "must have at least one pointer");
    }
    check_pointers("dialect.mbank_identifier.pointers", &named.pointers, checks);
    let field = "dialect.mbank_identifier.confirm_field";
    if checks.required(field, &named.confirm_field) && CONFIRM_FIELDS.contains(&named.confirm_field.as_str()) {
        checks.fail(field, Rule::OneOf, None, "is the name of a field that the request has already");
    }
    MbankIdentifier { pointers: named.pointers, confirm_field: named.confirm_field }
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
        qr_amount_unit: dialect.qr_amount_unit.map(|unit| match unit {
            QrAmountUnit::Som => UnitForm::Som,
            QrAmountUnit::Tyiyn => UnitForm::Tyiyn,
        }),
        qr_numbers: dialect.qr_numbers.map(|numbers| match numbers {
            QrNumbers::None => QrNumbersForm::None,
            QrNumbers::TransactionId => QrNumbersForm::TransactionId,
        }),
        mbank_identifier: dialect.mbank_identifier.clone().map(|identifier| IdentifierForm {
            pointers: identifier.pointers,
            confirm_field: identifier.confirm_field,
        }),
        callback: Some(CallbackForm { transaction_id: dialect.callback_transaction_id.clone() }),
    };
    // A map with text keys and text values always has a JSON form.
    serde_json::to_string_pretty(&form).unwrap_or_default()
}
