//! The dialect file, in the form of `docs/dialect.md`. Values that equal the interface's are omitted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{
    Learner,
    endpoint::{Endpoint, Field, FieldOf},
    values::Unit,
    words::{CHARGED, ProvenWords, REJECTED},
};

/// The differences from the interface.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) places: BTreeMap<FieldOf, String>,
    pub(super) codes: BTreeMap<(Endpoint, &'static str), Vec<String>>,
    pub(super) any_numbers: BTreeSet<Endpoint>,
    /// The place of the identifier, and the field of the confirmation.
    pub(super) identifier: Option<(String, String)>,
    pub(super) qr_numbers: Option<&'static str>,
    pub(super) unit: Option<Unit>,
    pub(super) callback_transaction: Vec<String>,
    pub(super) megapay_check: Option<String>,
}

/// One of the two lists of status words.
struct List {
    key: &'static str,
    shown: &'static str,
    of: fn(&ProvenWords) -> &BTreeMap<String, String>,
}

const LISTS: [List; 2] = [
    List { key: "charged_words", shown: CHARGED, of: |words| &words.charged },
    List { key: "rejected_words", shown: REJECTED, of: |words| &words.rejected },
];

impl Learner<'_> {
    /// The dialect as JSON.
    pub(super) fn dialect(&self) -> Value {
        let draft = &self.draft;
        let mut endpoints: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
        for (FieldOf(endpoint, field), place) in &draft.places {
            endpoints.entry(endpoint.name()).or_default().insert(field.name().to_owned(), json!([place]));
        }
        for ((endpoint, list), codes) in &draft.codes {
            endpoints.entry(endpoint.name()).or_default().insert((*list).to_owned(), json!(codes));
        }
        for endpoint in &draft.any_numbers {
            endpoints.entry(endpoint.name()).or_default().insert("numbers".to_owned(), json!("any"));
        }
        let mut dialect = Map::new();
        for list in &LISTS {
            let whole = self.words_of_all(list);
            for endpoint in Endpoint::QUERIES {
                let own = self.words_of(endpoint, list);
                if own != whole {
                    let words: Vec<_> = own.into_values().collect();
                    endpoints.entry(endpoint.name()).or_default().insert(list.key.to_owned(), json!(words));
                }
            }
            if whole != shown(list) {
                dialect.insert(list.key.to_owned(), json!(whole.into_values().collect::<Vec<_>>()));
            }
        }
        if !endpoints.is_empty() {
            dialect.insert("endpoints".to_owned(), json!(endpoints));
        }
        if let Some((place, field)) = &draft.identifier {
            dialect.insert("mbank_identifier".to_owned(), json!({"pointers": [place], "confirm_field": field}));
        }
        for (key, word) in [("qr_amount_unit", draft.unit.map(<&str>::from)), ("qr_numbers", draft.qr_numbers)] {
            if let Some(word) = word {
                dialect.insert(key.to_owned(), json!(word));
            }
        }
        if !draft.callback_transaction.is_empty() {
            dialect.insert("callback".to_owned(), json!({"transaction_id": draft.callback_transaction}));
        }
        if let Some(method) = &draft.megapay_check {
            dialect.insert("megapay".to_owned(), json!({"check_method": method}));
        }
        Value::Object(dialect)
    }

    /// The words of a query, in lower case with their spelling: the proven ones, else the interface's.
    fn words_of(&self, endpoint: Endpoint, list: &List) -> BTreeMap<String, String> {
        let is_read = |_: &&ProvenWords| {
            let place = self.place(FieldOf(endpoint, Field::Status));
            let is_written = self.draft.places.contains_key(&FieldOf(endpoint, Field::Status));
            is_written || place.is_some_and(|place| Field::Status.shown().contains(&place))
        };
        let proven = self.words.get(&endpoint).filter(is_read).map(list.of).filter(|words| !words.is_empty());
        proven.cloned().unwrap_or_else(|| shown(list))
    }

    /// The words of the whole dialect, used for callbacks: words that are proven for each query that has them, and that are
    /// in no query's other list.
    fn words_of_all(&self, list: &List) -> BTreeMap<String, String> {
        let all = || Endpoint::QUERIES.iter().filter_map(|endpoint| Some((*endpoint, self.words.get(endpoint)?)));
        let is_refuted = |word: &str| {
            all().any(|(endpoint, words)| {
                let is_other = LISTS.iter().any(|other| other.key != list.key && (other.of)(words).contains_key(word));
                is_other || (!(list.of)(words).contains_key(word) && self.has_recorded(endpoint, word))
            })
        };
        let proven: BTreeMap<String, String> = all().flat_map(|(_, words)| (list.of)(words).clone()).collect();
        let words: BTreeMap<_, _> = proven.into_iter().filter(|(word, _)| !is_refuted(word)).collect();
        if words.is_empty() { shown(list) } else { words }
    }

    fn has_recorded(&self, endpoint: Endpoint, word: &str) -> bool {
        self.exchanges.at(endpoint).filter_map(|seen| self.word(seen)).any(|own| own.to_lowercase() == word)
    }
}

fn shown(list: &List) -> BTreeMap<String, String> {
    BTreeMap::from([(list.shown.to_lowercase(), list.shown.to_owned())])
}
