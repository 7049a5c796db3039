//! The envelope: the places of the gateway's code and its text for people. All
//! responses of an endpoint have both, including those without a payment's status.

use std::collections::{BTreeMap, BTreeSet};

use strum::VariantArray;

use super::{
    Learner,
    endpoint::{Endpoint, Field, FieldOf},
    exchanges::{Kind, Observed, Value},
    report::{At, Finding, OpenPoint},
};

/// The maximum length of a code or status word.
pub(super) const LONGEST_WORD: usize = 40;

/// A place in all accepted responses of some endpoints.
#[derive(Default)]
struct Common {
    endpoints: BTreeSet<Endpoint>,
    values: BTreeSet<String>,
    at: Vec<At>,
    /// Whether responses without a payment's status have it, too.
    is_without_status: bool,
    is_text: bool,
}

impl Common {
    /// Whether its values vary, but not in every response like a time or a request number.
    fn is_of_few_values(&self) -> bool {
        self.values.len() > 1 && self.values.len() * 2 <= self.at.len()
    }

    fn is_of_codes(&self) -> bool {
        let is_sign = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_' | '.');
        self.values.iter().all(|value| value.len() <= LONGEST_WORD && value.chars().all(is_sign))
    }

    fn is_of_digits(&self) -> bool {
        self.values.iter().all(|value| value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-'))
    }
}

impl Learner<'_> {
    pub(super) fn learn_envelope(&mut self) {
        let common = self.common_places();
        self.envelope = common
            .iter()
            .filter(|(place, common)| common.is_without_status && !self.is_place_of_value(place))
            .map(|(place, _)| place.clone())
            .collect();
        for endpoint in Endpoint::VARIANTS.iter().copied() {
            if self.exchanges.read_at(endpoint).any(|seen| seen.is_object) {
                self.learn_code(endpoint, &common);
            }
        }
    }

    fn common_places(&self) -> BTreeMap<String, Common> {
        let mut common: BTreeMap<String, Common> = BTreeMap::new();
        for endpoint in Endpoint::VARIANTS.iter().copied() {
            let mut objects = self.exchanges.read_at(endpoint).filter(|seen| seen.is_object);
            let Some(first) = objects.next() else { continue };
            let mut places: BTreeSet<&str> = readable(first).map(|value| value.place.as_str()).collect();
            for seen in objects {
                let own: BTreeSet<&str> = readable(seen).map(|value| value.place.as_str()).collect();
                places.retain(|place| own.contains(place));
            }
            for place in places {
                common.entry(place.to_owned()).or_default().endpoints.insert(endpoint);
            }
        }
        for seen in self.exchanges.seen.iter().filter(|seen| seen.is_object) {
            let says_nothing = !seen.is_ok() && seen.endpoint != Endpoint::MbankConfirm
                || matches!(seen.endpoint, Endpoint::PayForm | Endpoint::QrData | Endpoint::QrImage);
            for value in readable(seen) {
                if let Some(common) = common.get_mut(&value.place) {
                    common.is_without_status |= says_nothing;
                    common.is_text |= value.kind == Kind::Text;
                    common.values.insert(value.text.clone());
                    common.at.push(seen.at);
                }
            }
        }
        common
    }

    /// Whether a place is that of an amount, a number or a similar value of any endpoint.
    fn is_place_of_value(&self, place: &str) -> bool {
        self.places.values().any(|known| known == place)
    }

    fn learn_code(&mut self, endpoint: Endpoint, common: &BTreeMap<String, Common>) {
        let field = FieldOf(endpoint, Field::Code);
        let here = |(_, common): &(&String, &Common)| common.endpoints.contains(&endpoint);
        if let Some(named) = self.answers.places.get(&field) {
            let at: Vec<At> = self
                .exchanges
                .read_at(endpoint)
                .filter(|seen| seen.value(named).is_some())
                .map(|seen| seen.at)
                .collect();
            if at.is_empty() {
                let point = OpenPoint::new(format!("--place {field}={named}"), "no response has a value there", at);
                self.findings.contradicted.push(point);
            } else {
                self.set(field, &named.clone(), "you named it", at);
            }
        } else if let Some(own) = common.get("/code").filter(|own| own.endpoints.contains(&endpoint)) {
            self.set(field, "/code", "as the interface", own.at.clone());
        } else {
            let is_code = |(place, common): &(&String, &Common)| {
                self.envelope.contains(*place) && common.is_of_few_values() && common.is_of_codes()
            };
            let mut found: Vec<_> = common.iter().filter(here).filter(is_code).collect();
            // If a code and a word mean the same, the digits are the code.
            if found.iter().filter(|(_, common)| common.is_of_digits()).count() == 1 {
                found.retain(|(_, common)| common.is_of_digits());
            }
            match found.as_slice() {
                [(place, common)] => {
                    let because =
                        "in every response of the endpoint, with few values, as in errors or in other endpoints";
                    self.set(field, &(*place).clone(), because, common.at.clone());
                }
                [] => {
                    let because = "no code was found: the core then accepts no card payment, and trusts no error of it";
                    let point = OpenPoint::new(field, because, Vec::new());
                    self.findings.missing.push(point.with("record errors too: query a number that does not exist"));
                }
                several => {
                    let places: Vec<_> = several.iter().map(|(place, _)| place.as_str()).collect();
                    let because = format!("{} could each be the code", places.join(" and "));
                    let at = several.iter().flat_map(|(_, common)| common.at.clone()).collect();
                    let mut point = OpenPoint::new(field, because, at);
                    for place in places {
                        point = point.with(format!("--place {field}={place}"));
                    }
                    self.findings.ambiguous.push(point);
                }
            }
        }
        self.learn_reason(endpoint, common);
    }

    /// Learns the text for people beside the code. It decides nothing, so if there are several, it is skipped.
    fn learn_reason(&mut self, endpoint: Endpoint, common: &BTreeMap<String, Common>) {
        let field = FieldOf(endpoint, Field::Reason);
        let Some(code) = self.place(FieldOf(endpoint, Field::Code)).map(str::to_owned) else { return };
        let parent = |place: &str| place.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        let found: Vec<_> = common
            .iter()
            .filter(|(place, common)| {
                let is_beside = parent(place) == parent(&code) && **place != code;
                !is_named_like_status(place)
                    && is_beside
                    && common.endpoints.contains(&endpoint)
                    && self.envelope.contains(*place)
            })
            .filter(|(_, common)| common.is_text && common.is_of_few_values() && !common.is_of_digits())
            .collect();
        let named = self.answers.places.get(&field);
        let own = found.iter().find(|(place, _)| named.map_or("/message", String::as_str) == place.as_str());
        if let Some((place, common)) = own.or(found.first().filter(|_| found.len() == 1)) {
            self.set(field, &(*place).clone(), "the text beside the code", common.at.clone());
        }
    }

    /// Accepts a place.
    pub(super) fn set(&mut self, field: FieldOf, place: &str, because: &str, at: Vec<At>) {
        self.findings.learned.push(Finding::new(field, place, because, at));
        self.places.insert(field, place.to_owned());
        if !field.1.shown().contains(&place) {
            self.draft.places.insert(field, place.to_owned());
        }
    }

    /// The code of a response.
    pub(super) fn code<'s>(&self, seen: &'s Observed) -> Option<&'s str> {
        let place = self.place(FieldOf(seen.endpoint, Field::Code))?;
        seen.value(place).map(|value| value.text.as_str())
    }
}

/// Whether the last name of a place is a usual name of a status.
pub(super) fn is_named_like_status(place: &str) -> bool {
    let name = place.rsplit('/').next().unwrap_or(place).to_lowercase();
    name.contains("stat") || matches!(name.as_str(), "st" | "result" | "статус" | "состояние" | "абалы")
}

fn readable(seen: &Observed) -> impl Iterator<Item = &Value> {
    seen.response.iter().filter(|value| value.is_readable())
}
