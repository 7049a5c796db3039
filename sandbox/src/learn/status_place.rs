//! The place of a query's status word: its few values change as payments proceed, and are shared by payments.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Learner,
    candidates::{Candidate, shown_place},
    endpoint::{Endpoint, Field, FieldOf},
    envelope::{LONGEST_WORD, is_named_like_status},
    exchanges::{Kind, Observed, Value},
    report::{At, Finding, OpenPoint},
};

/// The interface's place of the status word.
pub(super) const SHOWN: &str = "/data/status";

impl Learner<'_> {
    /// Learns the place of a query's status word. The dialect gets the place only with a proven word.
    pub(super) fn learn_status_place(&mut self, endpoint: Endpoint) {
        let field = FieldOf(endpoint, Field::Status);
        let exchanges = self.exchanges;
        let is_created = |seen: &&Observed| exchanges.payment(seen).created_by.is_some();
        let objects: Vec<&Observed> = exchanges.read_at(endpoint).collect();
        let about_known: Vec<&Observed> = objects.iter().copied().filter(is_created).collect();
        let reports = if about_known.is_empty() { &objects } else { &about_known };
        self.report_unreadable(endpoint);
        if reports.is_empty() {
            let point = OpenPoint::new(field, "no response is a JSON object with HTTP 2xx", Vec::new());
            self.findings.missing.push(point.with("query a payment that was created at the recorded gateway"));
            return;
        }
        let has = |place: &str| -> Vec<At> {
            reports.iter().filter(|seen| seen.value(place).is_some()).map(|seen| seen.at).collect()
        };
        if let Some(named) = self.answers.places.get(&field) {
            let at = has(named);
            if at.is_empty() {
                let subject = format!("--place {field}={named}");
                self.findings.contradicted.push(OpenPoint::new(subject, "no response has a value there", at));
            } else {
                self.found_status_place(field, named, "you named it", at);
            }
            return;
        }
        // Responses without a payment's status lack it.
        if !has(SHOWN).is_empty() {
            self.found_status_place(field, SHOWN, "as the interface", has(SHOWN));
            return;
        }
        let found = self.changing_places(endpoint, reports);
        let rivals = self.rivals(endpoint, reports);
        match found.as_slice() {
            [only]
                if rivals.is_empty()
                    && (is_named_like_status(&only.place) || self.is_all_there_is(&only.place, reports)) =>
            {
                let because = "it changes as payments proceed, and payments share its few values";
                self.found_status_place(field, &only.place, because, only.fits.clone());
            }
            [only] => {
                let mut because = format!(
                    "{} changes as payments go on, but nothing says that it is the status",
                    shown_place(&only.place)
                );
                if !rivals.is_empty() {
                    because.push_str(&format!("; {} changes, too", rivals.join(", ")));
                }
                let point = OpenPoint::new(field, because, only.fits.clone());
                self.findings.ambiguous.push(point.with(format!("--place {field}={}    if it is", only.place)));
            }
            [] => self.report_no_status(field, reports),
            several => self.report_ambiguous(field, several, "what changes as payments go on"),
        }
    }

    fn found_status_place(&mut self, field: FieldOf, place: &str, because: &str, at: Vec<At>) {
        self.findings.learned.push(Finding::new(field, shown_place(place), because, at));
        self.places.insert(field, place.to_owned());
    }

    fn changing_places(&self, endpoint: Endpoint, reports: &[&Observed]) -> Vec<Candidate> {
        let mut places: BTreeMap<&str, Vec<(&Observed, &Value)>> = BTreeMap::new();
        for seen in reports {
            for value in seen.response.iter().filter(|value| value.is_readable()) {
                places.entry(&value.place).or_default().push((seen, value));
            }
        }
        // Another endpoint's value there proves nothing: one's code may be the other's word.
        let is_own = |place: &str| self.places.iter().any(|(field, known)| field.0 == endpoint && known == place);
        let is_known = |place: &str| self.envelope.contains(place) || is_own(place);
        let candidate = |(place, values): (&str, Vec<(&Observed, &Value)>)| Candidate {
            place: place.to_owned(),
            fits: values.iter().map(|(seen, _)| seen.at).collect(),
            differs: Vec::new(),
            differs_by_zero: false,
            values: values.iter().map(|(_, value)| value.text.clone()).collect(),
        };
        let found = places
            .into_iter()
            .filter(|(place, values)| values.len() == reports.len() && !is_known(place) && is_alone(place, reports))
            .filter(|(_, values)| values.iter().all(|(_, value)| is_word(value)) && changes_like_status(values));
        found.map(candidate).collect()
    }

    /// Values that change like a status but are not candidates: booleans, which no dialect reads, and places of the envelope.
    fn rivals(&self, endpoint: Endpoint, reports: &[&Observed]) -> Vec<String> {
        let mut places: BTreeMap<&str, Vec<(&Observed, &Value)>> = BTreeMap::new();
        for seen in reports {
            for value in &seen.response {
                let is_boolean = matches!(value.text.as_str(), "true" | "false") && value.kind == Kind::Other;
                let is_in_envelope = self.envelope.contains(&value.place) && value.is_readable();
                if is_boolean || is_in_envelope {
                    places.entry(&value.place).or_default().push((seen, value));
                }
            }
        }
        let is_known = |place: &str| {
            [Field::Code, Field::Reason].iter().any(|field| self.place(FieldOf(endpoint, *field)) == Some(place))
        };
        let changes = |values: &Vec<(&Observed, &Value)>| {
            values.iter().all(|(_, value)| is_word(value)) && changes_like_status(values)
        };
        let found = places.into_iter().filter(|(place, values)| !is_known(place) && changes(values));
        found.map(|(place, _)| place.to_owned()).collect()
    }

    /// Whether the responses have only the word, the code and its text.
    fn is_all_there_is(&self, place: &str, reports: &[&Observed]) -> bool {
        let is_known = |other: &str| other == place || self.envelope.contains(other);
        reports.iter().flat_map(|seen| &seen.response).all(|value| is_known(&value.place))
    }

    fn report_no_status(&mut self, field: FieldOf, reports: &[&Observed]) {
        let at = reports.iter().map(|seen| seen.at).collect();
        let mut booleans: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for value in reports.iter().flat_map(|seen| &seen.response).filter(|value| value.kind == Kind::Other) {
            booleans.entry(&value.place).or_default().insert(&value.text);
        }
        let switch = booleans.iter().find(|(_, values)| values.contains("true") && values.contains("false"));
        if let Some((place, _)) = switch {
            let because = format!("{place} is true or false, and a dialect reads only strings and numbers");
            self.findings.inexpressible.push(OpenPoint::new(field, because, at));
        } else {
            let because = "no value in the responses changes like a status";
            let point = OpenPoint::new(field, because, at);
            self.findings.missing.push(point.with(
                "query a payment before and after it is paid, and one that is declined; two payments of each kind",
            ));
        }
    }

    /// Reports responses that no dialect can read: a word as the whole body, or JSON inside a string.
    fn report_unreadable(&mut self, endpoint: Endpoint) {
        let field = FieldOf(endpoint, Field::Status);
        let bare = |seen: &&Observed| seen.is_ok() && !seen.is_object && !seen.response.is_empty();
        let at: Vec<At> = self.exchanges.at(endpoint).filter(bare).map(|seen| seen.at).collect();
        if !at.is_empty() {
            let because =
                "the whole body is a word or a list, and the core reads the report of a query only from an object";
            self.findings.inexpressible.push(OpenPoint::new(field, because, at));
        }
        let is_nested = |value: &Value| value.kind == Kind::Text && value.text.trim_start().starts_with("{\"");
        let nested = self
            .exchanges
            .read_at(endpoint)
            .filter_map(|seen| Some((seen.at, seen.response.iter().find(|value| is_nested(value))?.place.clone())));
        let nested: Vec<(At, String)> = nested.collect();
        if let Some((_, place)) = nested.first() {
            let because = format!("{place} is JSON inside a string, which no pointer can reach");
            self.findings.inexpressible.push(OpenPoint::new(
                field,
                because,
                nested.iter().map(|(at, _)| *at).collect(),
            ));
        }
    }
}

/// Whether a place is not in a list of several elements, of which any could be the payment.
fn is_alone(place: &str, reports: &[&Observed]) -> bool {
    let parts: Vec<&str> = place.split('/').collect();
    let is_index = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    parts.iter().enumerate().filter(|(_, part)| is_index(part)).all(|(index, part)| {
        let second = format!("{}/1", parts[..index].join("/"));
        let is_second = |value: &Value| value.place == second || value.place.starts_with(&format!("{second}/"));
        *part == "0" && !reports.iter().flat_map(|seen| &seen.response).any(is_second)
    })
}

/// Whether a value can be a word: short, and not a time, an address or an amount with decimals.
fn is_word(value: &Value) -> bool {
    let digits = value.text.bytes().filter(u8::is_ascii_digit).count();
    let marks = value.text.chars().filter(|sign| matches!(sign, '-' | ':' | '.')).count();
    let is_time = digits >= 8 && (marks >= 2 || digits == value.text.len());
    let is_fraction = value.decimal().is_some() && value.text.contains('.');
    value.text.chars().count() <= LONGEST_WORD && !is_time && !is_fraction && value.address().is_none()
}

/// Whether values differ, are shared by payments, change within a payment, and never change back.
fn changes_like_status(values: &[(&Observed, &Value)]) -> bool {
    let mut payments: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    let mut lines: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for (seen, value) in values {
        payments.entry(&value.text).or_default().insert(seen.payment);
        let line = lines.entry(seen.payment).or_default();
        if line.last() != Some(&value.text.as_str()) {
            line.push(&value.text);
        }
    }
    let never_returns = lines.values().all(|line| line.iter().collect::<BTreeSet<_>>().len() == line.len());
    let is_shared = payments.values().any(|sharing| sharing.len() > 1);
    payments.len() > 1
        && payments.len() < values.len()
        && is_shared
        && never_returns
        && lines.values().any(|line| line.len() > 1)
}
