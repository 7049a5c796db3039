//! Candidate places by their values: a place is learned if its values match the request, each time and for different payments.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Learner,
    endpoint::{Endpoint, FieldOf},
    exchanges::{Observed, Value},
    report::{At, Finding, OpenPoint},
};

/// A place in the responses of an endpoint, and how its values match.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) place: String,
    pub(super) fits: Vec<At>,
    pub(super) differs: Vec<At>,
    /// Whether each value that differs is zero, such as an amount that is not paid yet.
    pub(super) differs_by_zero: bool,
    /// The matching values.
    pub(super) values: BTreeSet<String>,
}

/// The conditions that make a place certain.
pub(super) struct Rule<'t> {
    /// The number of different values that must match.
    pub(super) values: usize,
    /// The kind of values, such as `the requested amount`.
    pub(super) because: &'t str,
    /// The payments to record if there are fewer.
    pub(super) payment: &'t str,
}

/// Searches values for candidate places. `fits` is `None` for a value about which nothing is known.
pub(super) fn candidates<'s>(
    seen: impl Iterator<Item = &'s Observed>,
    fits: impl Fn(&Observed, &Value) -> Option<bool>,
) -> Vec<Candidate> {
    let mut found: BTreeMap<&str, Candidate> = BTreeMap::new();
    for seen in seen {
        for value in seen.response.iter().filter(|value| value.is_readable()) {
            let Some(is_fitting) = fits(seen, value) else { continue };
            let candidate = found.entry(&value.place).or_insert_with(|| Candidate {
                place: value.place.clone(),
                fits: Vec::new(),
                differs: Vec::new(),
                differs_by_zero: true,
                values: BTreeSet::new(),
            });
            if is_fitting {
                candidate.fits.push(seen.at);
                candidate.values.insert(value.text.clone());
            } else {
                candidate.differs.push(seen.at);
                candidate.differs_by_zero &= value.decimal().is_some_and(|value| value.is_zero());
            }
        }
    }
    found.into_values().filter(|candidate| !candidate.fits.is_empty()).collect()
}

impl Learner<'_> {
    /// Decides the place of a field: that of the interface if it matches, else the only one that does. If several match, none is chosen.
    pub(super) fn settle(&mut self, field: FieldOf, found: Vec<Candidate>, rule: &Rule<'_>) -> Option<String> {
        if let Some(named) = self.answers.places.get(&field) {
            return self.settle_named(field, named, &found, rule);
        }
        let fitting: Vec<_> = found.into_iter().filter(|candidate| candidate.differs.is_empty()).collect();
        let shown = field.1.shown();
        if let Some(own) = shown.iter().find_map(|place| fitting.iter().find(|candidate| candidate.place == *place)) {
            let because = format!("as the interface: {}", rule.because);
            self.findings.learned.push(Finding::new(field, shown_place(&own.place), because, own.fits.clone()));
            self.places.insert(field, own.place.clone());
            return Some(own.place.clone());
        }
        let (strong, weak): (Vec<_>, Vec<_>) =
            fitting.into_iter().partition(|candidate| candidate.values.len() >= rule.values);
        match (strong.as_slice(), weak.as_slice()) {
            ([only], _) => {
                self.findings.learned.push(Finding::new(
                    field,
                    shown_place(&only.place),
                    rule.because,
                    only.fits.clone(),
                ));
                self.places.insert(field, only.place.clone());
                self.draft.places.insert(field, only.place.clone());
                Some(only.place.clone())
            }
            ([], []) => None,
            ([], some) => {
                let places: Vec<_> = some.iter().map(|candidate| shown_place(&candidate.place)).collect();
                let because = format!("only one value at {} was recorded ({})", places.join(", "), rule.because);
                let at = some.iter().flat_map(|candidate| candidate.fits.clone()).collect();
                self.findings.missing.push(OpenPoint::new(field, because, at).with(rule.payment));
                None
            }
            (several, _) => {
                self.report_ambiguous(field, several, rule.because);
                None
            }
        }
    }

    fn settle_named(&mut self, field: FieldOf, named: &str, found: &[Candidate], rule: &Rule<'_>) -> Option<String> {
        let candidate = found.iter().find(|candidate| candidate.place == named);
        let differs = candidate.map_or(&[][..], |candidate| &candidate.differs);
        let at: Vec<_> =
            self.exchanges.read_at(field.0).filter(|seen| seen.value(named).is_some()).map(|seen| seen.at).collect();
        let differs = if candidate.is_some_and(|candidate| candidate.differs_by_zero) { &[][..] } else { differs };
        if at.is_empty() || candidate.is_none() || !differs.is_empty() {
            let because = match (at.is_empty(), differs.is_empty()) {
                (true, _) => "no response has a value there".to_owned(),
                (false, true) => format!("the value there is never {}", rule.because),
                (false, false) => format!("the value there is not always {}", rule.because),
            };
            let at = if differs.is_empty() { at } else { differs.to_vec() };
            let subject = format!("--place {field}={named}");
            self.findings.contradicted.push(OpenPoint::new(subject, because, at));
            return None;
        }
        let because = format!("you named it, and it is {}", rule.because);
        self.findings.learned.push(Finding::new(field, shown_place(named), because, at));
        self.places.insert(field, named.to_owned());
        if !field.1.shown().contains(&named) {
            self.draft.places.insert(field, named.to_owned());
        }
        Some(named.to_owned())
    }

    pub(super) fn report_ambiguous(&mut self, field: FieldOf, several: &[Candidate], because: &str) {
        let places: Vec<_> = several.iter().map(|candidate| shown_place(&candidate.place)).collect();
        let at = several.iter().flat_map(|candidate| candidate.fits.clone()).collect();
        let because = format!("{} are each {because}", places.join(" and "));
        let mut point = OpenPoint::new(field, because, at);
        for candidate in several {
            point = point.with(format!("--place {field}={}", candidate.place));
        }
        self.findings.ambiguous.push(point);
    }

    /// The place of an endpoint's field: the learned one, else that of the interface.
    pub(super) fn place(&self, field: FieldOf) -> Option<&str> {
        self.places.get(&field).map(String::as_str)
    }

    /// Whether an endpoint was recorded.
    pub(super) fn has_seen(&self, endpoint: Endpoint) -> bool {
        self.exchanges.at(endpoint).next().is_some()
    }
}

/// A place in the report: the whole body has an empty pointer.
pub(super) fn shown_place(place: &str) -> String {
    if place.is_empty() { "the whole body".to_owned() } else { place.to_owned() }
}
