//! The dialect that fits: the given one, with the changes learned from responses. The meaning of a status word or a refusal
//! cannot be learned: a person provides it.

use kassa::{Decimal, Dialect, DialectReading, Elqr, PaymentError};
use serde_json::{Map, Value, json};

/// The key whose value is compared as a whole.
const WHOLE: &str = "mbank_identifier";
const MESSAGES: [&str; 8] = ["message", "msg", "text", "reason", "errormessage", "resulttext", "resultmessage", "note"];
const STATES: [&str; 6] = ["status", "state", "paymentstatus", "paymentstate", "transactionstatus", "operationstatus"];
/// Objects that contain the result of a request, whatever its members are named.
const RESULTS: [&str; 4] = ["result", "response", "status", "head"];
const LONGEST_CODE: usize = 8;
/// The beginning of a PNG in base64.
const PNG: &str = "iVBORw0KGgo";

/// The request's values, which identify its echo in a response.
#[derive(Clone, Default)]
pub(super) struct Known {
    pub(super) order_number: Option<String>,
    pub(super) amounts: Vec<Decimal>,
    /// Our own addresses, which are not pages for the payer.
    pub(super) addresses: Vec<String>,
}

/// A string, a number or a boolean in a response.
pub(super) struct Leaf {
    pub(super) pointer: String,
    /// The unchanged name of the member.
    pub(super) key: String,
    /// Its value as text.
    pub(super) text: String,
    /// As JSON.
    pub(super) json: String,
    /// The letters and digits of the name and of its object's name, in lower case.
    name: String,
    parent: String,
}

/// A dialect under construction.
#[derive(Clone)]
pub(super) struct Proposal {
    form: Value,
    dialect: Dialect,
}

impl Proposal {
    pub(super) fn new(given: &Dialect) -> Self {
        Self { form: serde_json::from_str(&given.to_json()).unwrap_or_default(), dialect: given.clone() }
    }

    pub(super) fn dialect(&self) -> &Dialect {
        &self.dialect
    }

    /// Makes a change, unless the result is not a valid dialect.
    fn change(&mut self, change: impl FnOnce(&mut Value)) -> bool {
        let mut form = self.form.clone();
        change(&mut form);
        let Ok(dialect) = Dialect::from_json(&form.to_string()) else { return false };
        let is_another = dialect != self.dialect;
        (self.form, self.dialect) = (form, dialect);
        is_another
    }

    /// Appends a text to a list of an endpoint, so that the entries of the base keep their precedence.
    pub(super) fn put(&mut self, endpoint: &str, list: &str, text: &str) -> bool {
        self.change(|form| {
            if let Some(known) =
                form.pointer_mut(&format!("/endpoints/{endpoint}/{list}")).and_then(Value::as_array_mut)
                && !known.iter().any(|known| known.as_str() == Some(text))
            {
                known.push(text.into());
            }
        })
    }

    /// Lists a code as a success. A masked code, or one with characters other than letters and digits, is not listed.
    pub(super) fn put_success_code(&mut self, endpoint: &str, code: &str) -> bool {
        is_code(code) && self.put(endpoint, "success_codes", code)
    }

    /// Whether a list of the whole dialect has this status word.
    pub(super) fn has_word(&self, list: &str, word: &str) -> bool {
        let known = self.form.get(list).and_then(Value::as_array);
        known.is_some_and(|known| known.iter().filter_map(Value::as_str).any(|known| same_word(known, word)))
    }

    /// Adds a status word to a list of the whole dialect.
    pub(super) fn put_word(&mut self, list: &str, word: &str) -> bool {
        self.change(|form| {
            if let Some(known) = form.get_mut(list).and_then(Value::as_array_mut)
                && !known.iter().any(|known| known.as_str() == Some(word))
            {
                known.push(word.into());
            }
        })
    }

    /// Whether an endpoint's responses are read by this status word: by the endpoint's own list,
    /// else by that of the whole dialect.
    pub(super) fn has_word_at(&self, endpoint: &str, list: &str, word: &str) -> bool {
        let own = self.form.pointer(&format!("/endpoints/{endpoint}/{list}")).and_then(Value::as_array);
        own.map_or_else(|| self.has_word(list, word), |own| own.iter().any(|known| is_word(known, word)))
    }

    /// Removes a status word from a list of the whole dialect, and from the endpoints' own lists. An endpoint whose
    /// own list has no other word uses that of the whole dialect. The list of the whole dialect keeps its last
    /// word, because a dialect needs one.
    pub(super) fn withdraw_word(&mut self, list: &str, word: &str) -> bool {
        self.change(|form| {
            if let Some(known) = form.get_mut(list).and_then(Value::as_array_mut)
                && !known.iter().all(|known| is_word(known, word))
            {
                known.retain(|known| !is_word(known, word));
            }
            let endpoints = form.get_mut("endpoints").and_then(Value::as_object_mut);
            for endpoint in endpoints.into_iter().flat_map(Map::values_mut).filter_map(Value::as_object_mut) {
                let Some(own) = endpoint.get_mut(list).and_then(Value::as_array_mut) else { continue };
                own.retain(|known| !is_word(known, word));
                if own.is_empty() {
                    endpoint.remove(list);
                }
            }
        })
    }

    /// Sets the place of the mobile bank's identifier, and the field of the confirmation that carries it; `None` for neither.
    pub(super) fn set_identifier(&mut self, pointer: Option<&str>, confirm_field: Option<&str>) -> bool {
        self.change(|form| {
            let named = form.pointer("/mbank_identifier/pointers").cloned();
            let mut pointers: Vec<Value> = named.and_then(|named| named.as_array().cloned()).unwrap_or_default();
            if let Some(pointer) = pointer.map(Value::from).filter(|pointer| !pointers.contains(pointer)) {
                pointers.push(pointer);
            }
            if let Some(form) = form.as_object_mut() {
                form.insert(WHOLE.to_owned(), json!({"pointers": pointers, "confirm_field": confirm_field}));
            }
        })
    }

    /// The field of the confirmation that carries the identifier; `None` if the dialect has no identifier.
    pub(super) fn confirm_field(&self) -> Option<Option<String>> {
        let identifier = self.form.get(WHOLE).filter(|identifier| identifier.is_object())?;
        Some(identifier.get("confirm_field").and_then(Value::as_str).map(str::to_owned))
    }

    /// Adopts another proposal's settings of the identifier.
    pub(super) fn adopt_identifier(&mut self, other: &Self) {
        let identifier = other.form.get(WHOLE).cloned().unwrap_or_default();
        self.change(|form| {
            if let Some(form) = form.as_object_mut() {
                form.insert(WHOLE.to_owned(), identifier);
            }
        });
    }

    /// Whether a report of this endpoint may name a number that is not the payment's own.
    pub(super) fn takes_any_number(&self, endpoint: &str) -> bool {
        self.form.pointer(&format!("/endpoints/{endpoint}/numbers")).and_then(Value::as_str) == Some("any")
    }

    /// Searches a response for the fields that the dialect does not find. Returns the learned places, in words.
    pub(super) fn learn(&mut self, endpoint: &str, raw: &str, found: &DialectReading, known: &Known) -> Vec<String> {
        let leaves = leaves(raw);
        let fields: Vec<String> = self
            .form
            .pointer(&format!("/endpoints/{endpoint}"))
            .and_then(Value::as_object)
            .map(|lists| lists.keys().cloned().collect())
            .unwrap_or_default();
        let mut learned = Vec::new();
        for field in fields.iter().filter(|field| !found.fields.iter().any(|found| found.name == **field)) {
            let Some(leaf) = place(field, &leaves, known) else { continue };
            if self.put(endpoint, field, &leaf.pointer) {
                learned.push(format!("{field} probably stands at {}", leaf.pointer));
            }
        }
        learned
    }

    /// The file: the nearest known dialect, and the differences.
    pub(super) fn file(&self) -> String {
        let mut files = Vec::new();
        for name in Dialect::names() {
            files.extend(self.relative_to(name));
        }
        files.sort_by_key(String::len);
        files.into_iter().next().unwrap_or_else(|| pretty(&self.form))
    }

    /// The dialect relative to a base; `None` if it cannot be made from that base.
    fn relative_to(&self, name: impl AsRef<str>) -> Option<String> {
        let name = name.as_ref();
        let base: Value = serde_json::from_str(&Dialect::named(name).ok()?.to_json()).ok()?;
        let mut file = Map::from_iter([("base".to_owned(), Value::from(name))]);
        if let Some(Value::Object(differing)) = difference("", &base, &self.form) {
            file.extend(differing);
        }
        let text = pretty(&Value::Object(file));
        Dialect::from_json(&text).is_ok_and(|dialect| dialect == self.dialect).then_some(text)
    }
}

fn pretty(form: &Value) -> String {
    let text = serde_json::to_string_pretty(form).unwrap_or_default();
    format!("{text}\n")
}

/// The differences from the base.
fn difference(name: &str, base: &Value, wanted: &Value) -> Option<Value> {
    match (base, wanted) {
        _ if base == wanted => None,
        (Value::Object(base), Value::Object(wanted)) if name != WHOLE => {
            let differing = wanted.iter().filter_map(|(name, wanted)| {
                let base = base.get(name).unwrap_or(&Value::Null);
                Some((name.clone(), difference(name, base, wanted)?))
            });
            Some(Value::Object(differing.collect()))
        }
        _ => Some(wanted.clone()),
    }
}

/// Everything in a response that has a value, in its order; empty if it is not JSON.
pub(super) fn leaves(raw: &str) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    if let Ok(document) = serde_json::from_str::<Value>(raw) {
        collect(&document, &[], &mut leaves);
    }
    leaves
}

fn collect(value: &Value, path: &[String], leaves: &mut Vec<Leaf>) {
    let inside = |key: &str| {
        let mut inside = path.to_vec();
        inside.push(key.to_owned());
        inside
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| collect(value, &inside(key), leaves)),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(item, &inside(&at.to_string()), leaves);
            }
        }
        Value::Null => {}
        _ => leaves.push(Leaf {
            pointer: path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect(),
            key: path.last().cloned().unwrap_or_default(),
            text: value.as_str().map_or_else(|| value.to_string(), str::to_owned),
            json: value.to_string(),
            name: plain(path.last()),
            parent: plain(path.iter().nth_back(1)),
        }),
    }
}

fn plain(part: Option<&String>) -> String {
    let letters = part.into_iter().flat_map(|part| part.chars()).filter(|sign| sign.is_alphanumeric());
    letters.collect::<String>().to_lowercase()
}

/// The most probable place of a field. The gateway's own numbers are not guessed, because queries use them.
fn place<'a>(field: &str, leaves: &'a [Leaf], known: &Known) -> Option<&'a Leaf> {
    let mut all = leaves.iter();
    match field {
        "code" => {
            let is_code = |leaf: &&Leaf| is_code(&leaf.text);
            let is_named = |leaf: &&Leaf| leaf.name.ends_with("code") && !leaf.name.contains("currency");
            let is_result =
                |leaf: &&Leaf| RESULTS.contains(&&*leaf.parent) && leaf.text.bytes().all(|byte| byte.is_ascii_digit());
            all.clone()
                .find(|leaf| is_code(leaf) && is_named(leaf))
                .or_else(|| all.find(|leaf| is_code(leaf) && is_result(leaf)))
        }
        "reason" => all.find(|leaf| MESSAGES.contains(&&*leaf.name)),
        "status" => all.find(|leaf| STATES.contains(&&*leaf.name)),
        "order_number" => all.find(|leaf| known.order_number.as_ref() == Some(&leaf.text)),
        "amount" => all.find(|leaf| {
            let is_named = ["amount", "sum", "total"].iter().any(|name| leaf.name.contains(name));
            is_named && leaf.text.parse::<Decimal>().is_ok_and(|amount| known.amounts.contains(&amount))
        }),
        "currency" => all.find(|leaf| leaf.text.eq_ignore_ascii_case("KGS")),
        "confirmation_url" | "pay_form_url" => all.find(|leaf| {
            let is_page = leaf.text.starts_with("https://") || leaf.text.starts_with("http://");
            is_page && !known.addresses.contains(&leaf.text)
        }),
        "image" => all.find(|leaf| leaf.text.starts_with(PNG)),
        "qr_payload" => {
            let is_code = |leaf: &&Leaf| !leaf.text.starts_with(PNG) && Elqr::parse(&leaf.text).is_ok();
            let is_named = |leaf: &&Leaf| {
                leaf.name.starts_with("qr") && leaf.text.len() > LONGEST_CODE && !leaf.text.starts_with(PNG)
            };
            all.clone().find(is_code).or_else(|| all.find(is_named))
        }
        _ => None,
    }
}

fn is_code(text: &str) -> bool {
    (1..=LONGEST_CODE).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Status words are compared without regard to letter case.
pub(super) fn same_word(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Whether a member of a list of words is this one.
fn is_word(known: &Value, word: &str) -> bool {
    known.as_str().is_some_and(|known| same_word(known, word))
}

/// A reading of a response; `None` if the endpoint is unknown.
pub(super) fn reading(dialect: &Dialect, endpoint: &str, raw: &str) -> Option<DialectReading> {
    let reading: Result<DialectReading, PaymentError> = dialect.explain(endpoint, raw);
    reading.ok()
}

/// The value of a field, if the dialect finds one.
pub(super) fn field(dialect: &Dialect, endpoint: &str, raw: &str, name: &str) -> Option<String> {
    let found = reading(dialect, endpoint, raw)?.fields.into_iter().find(|field| field.name == name);
    found.map(|field| field.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposal_holds_nearest_base_and_differences() {
        for (given, base) in [("interface", "interface"), ("finipay", "finipay")] {
            let mut proposal = Proposal::new(&Dialect::named(given).unwrap());
            assert_eq!(serde_json::from_str::<Value>(&proposal.file()).unwrap(), json!({"base": base}));
            assert!(proposal.put("mbank_payment", "success_codes", "0"));
            assert!(proposal.put_word("charged_words", "PAID"));
            assert!(proposal.set_identifier(Some("/data/id"), Some("orderNumber")));
            let file: Value = serde_json::from_str(&proposal.file()).unwrap();
            assert_eq!(file["base"], base);
            let codes = file["endpoints"]["mbank_payment"]["success_codes"].as_array().unwrap();
            assert_eq!(codes.last(), Some(&json!("0")));
            let pointers = file["mbank_identifier"]["pointers"].as_array().unwrap();
            assert_eq!(pointers.last(), Some(&json!("/data/id")));
            assert_eq!(file["mbank_identifier"]["confirm_field"], "orderNumber");
            assert_eq!(&Dialect::from_json(&proposal.file()).unwrap(), proposal.dialect());
        }
        // A code means one thing.
        let mut proposal = Proposal::new(&Dialect::default());
        assert!(proposal.put("mbank_payment", "refusal_codes", "0"));
        assert!(!proposal.put("mbank_payment", "success_codes", "0"));
    }

    #[test]
    fn proposal_keeps_base_dialect_locations_first() {
        let finipay: Value = serde_json::from_str(&Dialect::named("finipay").unwrap().to_json()).unwrap();
        let mut proposal = Proposal::new(&Dialect::named("finipay").unwrap());
        assert!(proposal.put("mbank_payment", "gateway_number", "/other/number"));
        assert!(proposal.set_identifier(Some("/other/number"), None));
        let form: Value = serde_json::from_str(&proposal.dialect().to_json()).unwrap();
        for place in ["/endpoints/mbank_payment/gateway_number", "/mbank_identifier/pointers"] {
            let mut expected = finipay.pointer(place).unwrap().as_array().unwrap().clone();
            expected.push(json!("/other/number"));
            assert_eq!(form.pointer(place), Some(&Value::from(expected)), "{place}");
        }
        assert!(!proposal.put_success_code("mbank_payment", "*") && !proposal.put_success_code("qr_data", "1*"));
    }

    #[test]
    fn proposal_withdraws_status_word_in_any_case() {
        let mut proposal = Proposal::new(&Dialect::default());
        assert!(proposal.put_word("charged_words", "Paid"));
        assert!(proposal.withdraw_word("charged_words", "PAID"));
        assert_eq!(proposal.dialect(), &Dialect::default());
        // A list of words is never empty.
        assert!(!proposal.withdraw_word("charged_words", "CHARGE"));
    }

    #[test]
    fn probe_locates_fields_by_name_and_value() {
        let raw = r#"{"head": {"resultCode": "0", "currencyCode": "KGS"}, "body": {"no": "o-1", "sum": 1.00, "state": "NEW"}}"#;
        let leaves = leaves(raw);
        let known = Known { order_number: Some("o-1".to_owned()), amounts: vec![Decimal::ONE], ..Known::default() };
        let found = |field| place(field, &leaves, &known).map(|leaf| leaf.pointer.as_str());
        assert_eq!(found("code"), Some("/head/resultCode"));
        assert_eq!(found("currency"), Some("/head/currencyCode"));
        assert_eq!(found("order_number"), Some("/body/no"));
        assert_eq!(found("amount"), Some("/body/sum"));
        assert_eq!(found("status"), Some("/body/state"));
        assert_eq!(found("gateway_number"), None);
    }
}
