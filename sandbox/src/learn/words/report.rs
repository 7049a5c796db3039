//! The report about status words: those that need a person's confirmation, contradicted answers, and payments to record.

use std::collections::BTreeSet;

use super::{NO_REJECTION, ON_THE_WAY, ProvenWords, Recorded, Word, looks_like};
use crate::learn::{
    Learner,
    answers::{Meaning, same_word},
    endpoint::Endpoint,
    report::{At, OpenPoint},
};

impl Learner<'_> {
    /// Reports a word without a proven meaning: contradicted answers, and those that only a person can give.
    pub(super) fn report_unproven(&mut self, endpoint: Endpoint, key: &str, word: &Word, recorded: &Recorded) {
        let said = self.answers.word(endpoint, key);
        let refuted = self.refuted_charge(endpoint, key, recorded);
        let spelling = &word.spelling;
        match (said, refuted) {
            (Some(Meaning::Charged), Some(refuted)) => {
                let subject = format!("--confirm {endpoint}:{spelling}=charged");
                let mut point = OpenPoint::new(subject, refuted.because, refuted.at);
                if let Some(other) = refuted.is_by_unknown_word {
                    point = point.with(format!("--confirm {endpoint}:{other}=open    if the money stayed taken"));
                }
                self.findings.contradicted.push(point);
            }
            (Some(Meaning::Rejected), _) => {
                let subject = format!("--confirm {endpoint}:{spelling}=rejected");
                self.findings.contradicted.push(OpenPoint::new(subject, NO_REJECTION, word.at.clone()));
            }
            (None, refuted) => {
                let ends = recorded.ended_with(key);
                let is_listed = ends.iter().any(|one| self.approved.contains(one) || self.declined.contains(one));
                if ends.is_empty() || (looks_like(key, &ON_THE_WAY) && !is_listed) {
                    return;
                }
                let mut because = format!("the last word of {}", self.listed_names(&ends));
                let mut to_do = Vec::new();
                match refuted {
                    Some(refuted) => because.push_str(&format!("; it does not mean a charge: {}", refuted.because)),
                    None => to_do
                        .push(format!("--confirm {endpoint}:{spelling}=charged     if the money was taken, for good")),
                }
                if !self.is_no_rejection(key, recorded) {
                    to_do.push(format!("--confirm {endpoint}:{spelling}=rejected    if it was not, and will not be"));
                }
                to_do.push(format!("--confirm {endpoint}:{spelling}=open        otherwise"));
                let at = recorded.at(key, &ends, self);
                let point = OpenPoint::new(format!("{spelling:?} of {endpoint}"), because, at);
                self.findings.needs_yes.push(OpenPoint { to_do, ..point });
            }
            _ => {}
        }
    }

    pub(super) fn report_missing_words(&mut self, endpoint: Endpoint, recorded: &Recorded, proven: &ProvenWords) {
        let at: Vec<At> = recorded.words.values().flat_map(|word| word.at.clone()).collect();
        let words: Vec<_> = recorded.words.values().map(|word| format!("{:?}", word.spelling)).collect();
        let seen = format!("only {} recorded", words.join(", "));
        if proven.charged.is_empty() {
            let point = OpenPoint::new(format!("{endpoint}: no proven word of a charge"), seen.clone(), at.clone());
            self.findings.missing.push(point.with(
                "pay two orders of different amounts, query each before and after, list them (--approved ORDER,ORDER), and confirm their word",
            ));
        }
        if proven.rejected.is_empty() {
            let point = OpenPoint::new(format!("{endpoint}: no proven word of a rejection"), seen, at);
            self.findings
                .missing
                .push(point.with(
                    "let the gateway decline an order, query it before and after, list it (--declined ORDER), and confirm its word",
                ));
        }
    }

    /// Reports answers about words that were not recorded.
    pub(super) fn report_unheard_answers(&mut self) {
        let is_heard = |subject: &str, endpoint: Option<Endpoint>| {
            let queries = self.exchanges.seen.iter().filter(|seen| endpoint.is_none_or(|known| known == seen.endpoint));
            queries.filter_map(|seen| self.word(seen)).any(|word| same_word(word, subject))
        };
        let words = self.answers.confirmations.iter().filter(|answer| {
            matches!(answer.meaning, Meaning::Charged | Meaning::Rejected | Meaning::Open)
                && !is_heard(&answer.subject, answer.endpoint)
        });
        let points: Vec<_> = words
            .map(|answer| {
                OpenPoint::new(format!("--confirm {}", answer.subject), "no response has this word", Vec::new())
            })
            .collect();
        self.findings.contradicted.extend(points);
    }

    /// Payments, with a note which of them a person listed.
    fn listed_names(&self, payments: &[usize]) -> String {
        let of = |listed: &BTreeSet<usize>, what: &str| {
            let found: Vec<usize> = payments.iter().copied().filter(|payment| listed.contains(payment)).collect();
            (!found.is_empty()).then(|| format!("{}, which you listed as {what}", self.names(&found)))
        };
        let rest = |payment: &&usize| !self.approved.contains(*payment) && !self.declined.contains(*payment);
        let rest: Vec<usize> = payments.iter().filter(rest).copied().collect();
        let parts = [
            of(&self.approved, "approved"),
            of(&self.declined, "declined"),
            (!rest.is_empty()).then(|| self.names(&rest)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; of ")
    }

    pub(super) fn names(&self, payments: &[usize]) -> String {
        const SHOWN_NAMES: usize = 4;
        let shown: Vec<_> =
            payments.iter().take(SHOWN_NAMES).map(|index| self.exchanges.payments[*index].name()).collect();
        let more = payments.len().saturating_sub(SHOWN_NAMES);
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    }
}
