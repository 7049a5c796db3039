//! What status words mean. **No word means that money was taken without evidence**: the interface's own word in its own place, a
//! person's list of orders that separates the words, or a person's yes. What a payment left again, or had before its payer confirmed,
//! never does. `docs/recordings.md#the-rule-of-evidence` is this rule for people.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Learner,
    answers::{Meaning, same_word},
    candidates::candidates,
    endpoint::{Endpoint, Field, FieldOf},
    exchanges::Seen,
    report::{At, Finding, OpenPoint},
    status_place::SHOWN,
};

/// The words of the interface.
pub(super) const CHARGED: &str = "CHARGE";
pub(super) const REJECTED: &str = "Reject";
/// How many orders that a person lists as approved must have ended with a word.
const APPROVED_ORDERS: usize = 2;

/// Parts of words for a step on the way, in small letters. They keep a word out of the dialect until a person confirms it by name, and
/// never put one in.
const ON_THE_WAY: [&str; 26] = [
    "process",
    "pend",
    "accept",
    "creat",
    "wait",
    "hold",
    "author",
    "new",
    "init",
    "regist",
    "progress",
    "queue",
    "submit",
    "sent",
    "verif",
    "confirm",
    "open",
    "schedul",
    "await",
    "обраб",
    "ожид",
    "создан",
    "принят",
    "күт",
    "кабыл",
    "жүр",
];
/// Parts of words for a payment that failed.
const FAILED: [&str; 14] = [
    "fail",
    "reject",
    "declin",
    "denied",
    "cancel",
    "expir",
    "error",
    "refus",
    "timeout",
    "abort",
    "отказ",
    "отклон",
    "отмен",
    "ошиб",
];

/// The words of a query that are proven, in small letters, with their spelling.
#[derive(Debug, Default)]
pub(super) struct ProvenWords {
    pub(super) charged: BTreeMap<String, String>,
    pub(super) rejected: BTreeMap<String, String>,
}

/// What was recorded of the words of a query.
#[derive(Default)]
struct Recorded {
    words: BTreeMap<String, Word>,
    /// The words of each payment as they came, each change once.
    lines: BTreeMap<usize, Vec<(String, At)>>,
}

#[derive(Default)]
struct Word {
    spelling: String,
    at: Vec<At>,
    payments: BTreeSet<usize>,
}

/// Why a word cannot have a meaning.
struct Refutation {
    because: String,
    at: Vec<At>,
    /// Whether saying what another word means would settle it.
    is_by_unknown_word: Option<String>,
}

impl Recorded {
    fn last_of(&self, payment: usize) -> Option<&str> {
        Some(self.lines.get(&payment)?.last()?.0.as_str())
    }

    /// The payments of a list whose last word is this one.
    fn ended_with(&self, word: &str, payments: &BTreeSet<usize>) -> Vec<usize> {
        payments.iter().copied().filter(|payment| self.last_of(*payment) == Some(word)).collect()
    }

    fn ended_otherwise(&self, word: &str, payments: &BTreeSet<usize>) -> bool {
        payments.iter().any(|payment| self.last_of(*payment).is_some_and(|last| last != word))
    }

    /// Whether one of the payments had another word before.
    fn was_reached(&self, payments: &[usize]) -> bool {
        payments.iter().any(|payment| self.lines.get(payment).is_some_and(|line| line.len() > 1))
    }

    /// What came after a word in the same payment.
    fn left_for(&self, word: &str) -> Vec<(&str, At)> {
        let after = |line: &Vec<(String, At)>| line.iter().position(|(known, _)| known == word).map(|index| index + 1);
        let rest = |line| Some(self.lines.get(line)?.get(after(self.lines.get(line)?)?..)?.iter());
        let all = self.lines.keys().filter_map(rest).flatten();
        all.filter(|(other, _)| other != word).map(|(other, at)| (other.as_str(), *at)).collect()
    }

    fn at(&self, word: &str, payments: &[usize], learner: &Learner<'_>) -> Vec<At> {
        let about =
            |at: &&At| learner.exchanges.seen.iter().any(|seen| seen.at == **at && payments.contains(&seen.payment));
        self.words.get(word).map(|word| word.at.iter().filter(about).copied().collect()).unwrap_or_default()
    }
}

impl Learner<'_> {
    pub(super) fn learn_words(&mut self) {
        for endpoint in Endpoint::QUERIES {
            if self.has_seen(endpoint) {
                self.learn_status_place(endpoint);
                self.judge_words(endpoint);
            }
        }
        self.learn_status_of_creations();
        self.report_unheard_answers();
    }

    /// Where responses that create or confirm a payment have a status word. It decides nothing, so nothing is said if it is not clear.
    fn learn_status_of_creations(&mut self) {
        let queries = self.exchanges.seen.iter().filter_map(|seen| self.word(seen));
        let known: BTreeSet<String> = queries.map(str::to_lowercase).collect();
        for endpoint in [Endpoint::CardPayment, Endpoint::MbankPayment, Endpoint::MbankConfirm, Endpoint::MegapayPay] {
            let mut found = candidates(self.exchanges.read_at(endpoint), |_, value| {
                Some(known.contains(&value.text.to_lowercase()))
            });
            found.retain(|candidate| candidate.differs.is_empty() && !self.envelope.contains(&candidate.place));
            if let [only] = found.as_slice() {
                let because = "a status word that queries have, too";
                self.set(FieldOf(endpoint, Field::Status), &only.place, because, only.fits.clone());
            }
        }
    }

    /// The status word of a query's response.
    pub(super) fn word<'s>(&self, seen: &'s Seen) -> Option<&'s str> {
        let place =
            self.place(FieldOf(seen.endpoint, Field::Status)).filter(|_| Endpoint::QUERIES.contains(&seen.endpoint))?;
        seen.value(place).filter(|_| seen.is_read()).map(|value| value.text.as_str())
    }

    /// Whether it is proven that a word of a query means that the money was taken.
    pub(super) fn is_charged(&self, endpoint: Endpoint, word: &str) -> bool {
        self.words.get(&endpoint).is_some_and(|words| words.charged.contains_key(&word.to_lowercase()))
    }

    fn recorded_words(&self, endpoint: Endpoint) -> Recorded {
        let mut recorded = Recorded::default();
        for seen in self.exchanges.read_at(endpoint) {
            let Some(spelling) = self.word(seen) else { continue };
            let key = spelling.to_lowercase();
            let word = recorded.words.entry(key.clone()).or_default();
            spelling.clone_into(&mut word.spelling);
            word.at.push(seen.at);
            word.payments.insert(seen.payment);
            let line = recorded.lines.entry(seen.payment).or_default();
            if line.last().is_none_or(|(last, _)| *last != key) {
                line.push((key, seen.at));
            }
        }
        recorded
    }

    fn judge_words(&mut self, endpoint: Endpoint) {
        let Some(place) = self.place(FieldOf(endpoint, Field::Status)).map(str::to_owned) else { return };
        let recorded = self.recorded_words(endpoint);
        let mut proven = ProvenWords::default();
        for (key, word) in &recorded.words {
            if let Some((because, at)) = self.proof_of_charge(endpoint, &place, key, &recorded) {
                let name = format!("{endpoint}.charged_words");
                self.findings.learned.push(Finding::new(name, format!("{:?}", word.spelling), because, at));
                proven.charged.insert(key.clone(), word.spelling.clone());
            } else if let Some((because, at)) = self.proof_of_rejection(endpoint, &place, key, &recorded) {
                let name = format!("{endpoint}.rejected_words");
                self.findings.learned.push(Finding::new(name, format!("{:?}", word.spelling), because, at));
                proven.rejected.insert(key.clone(), word.spelling.clone());
            } else {
                self.report_unproven(endpoint, &place, key, word, &recorded);
            }
        }
        self.report_missing_words(endpoint, &recorded, &proven);
        self.write_status(endpoint, &place, &recorded, &proven);
        self.words.insert(endpoint, proven);
    }

    /// Why a word means that the money was taken; nothing without evidence.
    fn proof_of_charge(
        &self,
        endpoint: Endpoint,
        place: &str,
        word: &str,
        recorded: &Recorded,
    ) -> Option<(String, Vec<At>)> {
        let said = self.answers.word(endpoint, word);
        if said.is_some_and(|said| said != Meaning::Charged) {
            return None;
        }
        let refuted = self.refuted_charge(endpoint, word, recorded);
        let is_own = place == SHOWN && same_word(word, CHARGED);
        let is_by_unknown_word = refuted.as_ref().is_some_and(|refuted| refuted.is_by_unknown_word.is_some());
        if refuted.is_some() && !(is_own && is_by_unknown_word) {
            return None;
        }
        let all = || recorded.words.get(word).map(|word| word.at.clone()).unwrap_or_default();
        if is_own {
            return Some(("the interface's own word, in the interface's own place".to_owned(), all()));
        }
        if said == Some(Meaning::Charged) {
            return Some((
                "you confirmed it, and no payment had it before it was paid or left it again".to_owned(),
                all(),
            ));
        }
        let ended = recorded.ended_with(word, &self.approved);
        let is_separated = recorded.ended_otherwise(word, &self.declined);
        let is_proven = ended.len() >= APPROVED_ORDERS && is_separated && recorded.was_reached(&ended);
        (is_proven && !looks_like(word, &ON_THE_WAY) && !looks_like(word, &FAILED)).then(|| {
            let because = format!(
                "the last word of {}, which you listed as approved, and of no declined order",
                self.names(&ended)
            );
            (because, recorded.at(word, &ended, self))
        })
    }

    /// Why a word cannot mean that the money was taken, whatever a person says.
    fn refuted_charge(&self, endpoint: Endpoint, word: &str, recorded: &Recorded) -> Option<Refutation> {
        let payments = &recorded.words.get(word)?.payments;
        let declined: Vec<usize> = payments.intersection(&self.declined).copied().collect();
        if !declined.is_empty() {
            let because = format!("it was the word of {}, which you listed as declined", self.names(&declined));
            return Some(Refutation { because, at: recorded.at(word, &declined, self), is_by_unknown_word: None });
        }
        let is_early =
            |seen: &&Seen| self.word(seen).is_some_and(|own| own.to_lowercase() == word) && self.is_unconfirmed(seen);
        let early: Vec<At> = self.exchanges.read_at(endpoint).filter(is_early).map(|seen| seen.at).collect();
        if !early.is_empty() {
            let because = "payments had it before their payer confirmed them".to_owned();
            return Some(Refutation { because, at: early, is_by_unknown_word: None });
        }
        let left = recorded.left_for(word);
        let is_failure = |other: &str| {
            let said = self.answers.word(endpoint, other);
            let is_listed = recorded.words.get(other).is_some_and(|other| !other.payments.is_disjoint(&self.declined));
            said == Some(Meaning::Rejected)
                || (said.is_none() && (looks_like(other, &FAILED) || same_word(other, REJECTED) || is_listed))
        };
        let refutation = |(other, at): &(&str, At), is_by_unknown_word: Option<String>| {
            let spelling = recorded.words.get(*other).map_or(*other, |word| word.spelling.as_str());
            let because = format!("a payment left it for {spelling:?} later");
            Refutation { because, at: vec![*at], is_by_unknown_word: is_by_unknown_word.map(|_| spelling.to_owned()) }
        };
        if let Some(failure) = left.iter().find(|(other, _)| is_failure(other)) {
            return Some(refutation(failure, None));
        }
        let is_open =
            |other: &str| !matches!(self.answers.word(endpoint, other), Some(Meaning::Open | Meaning::Charged));
        let unknown = left.iter().find(|(other, _)| is_open(other))?;
        Some(refutation(unknown, Some(unknown.0.to_owned())))
    }

    /// Whether the payer of a mobile-bank or wallet payment had not confirmed it when it was queried.
    fn is_unconfirmed(&self, query: &Seen) -> bool {
        let payment = self.exchanges.payment(query);
        let confirmation = match payment.created_by {
            Some(Endpoint::MbankPayment) => Endpoint::MbankConfirm,
            Some(Endpoint::MegapayCheck) => Endpoint::MegapayPay,
            _ => return false,
        };
        let mut earlier = payment.exchanges.iter().map(|index| &self.exchanges.seen[*index]);
        !earlier.any(|seen| seen.endpoint == confirmation && seen.at < query.at)
    }

    fn proof_of_rejection(
        &self,
        endpoint: Endpoint,
        place: &str,
        word: &str,
        recorded: &Recorded,
    ) -> Option<(String, Vec<At>)> {
        let said = self.answers.word(endpoint, word);
        if said.is_some_and(|said| said != Meaning::Rejected) {
            return None;
        }
        let payments = &recorded.words.get(word)?.payments;
        if !payments.is_disjoint(&self.approved) || !recorded.left_for(word).is_empty() {
            return None;
        }
        let all = || recorded.words.get(word).map(|word| word.at.clone()).unwrap_or_default();
        if place == SHOWN && same_word(word, REJECTED) {
            return Some(("the interface's own word, in the interface's own place".to_owned(), all()));
        }
        if said == Some(Meaning::Rejected) {
            return Some(("you confirmed it, and no payment left it again".to_owned(), all()));
        }
        let ended = recorded.ended_with(word, &self.declined);
        let is_separated = recorded.ended_otherwise(word, &self.approved);
        (!ended.is_empty() && is_separated && recorded.was_reached(&ended) && !looks_like(word, &ON_THE_WAY)).then(
            || {
                let because = format!(
                    "the last word of {}, which you listed as declined, and of no approved order",
                    self.names(&ended)
                );
                (because, recorded.at(word, &ended, self))
            },
        )
    }

    /// A word without a proven meaning: contradicted answers, and those that only a person can give.
    fn report_unproven(&mut self, endpoint: Endpoint, place: &str, key: &str, word: &Word, recorded: &Recorded) {
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
                let because = "an approved order had it, or a payment left it again";
                let subject = format!("--confirm {endpoint}:{spelling}=rejected");
                self.findings.contradicted.push(OpenPoint::new(subject, because, word.at.clone()));
            }
            (None, Some(refuted)) if place == SHOWN && same_word(key, CHARGED) => {
                let because =
                    format!("{:?} means something else here than in the interface: {}", spelling, refuted.because);
                self.base_refuted
                    .insert(endpoint, OpenPoint::new(format!("{endpoint}: {spelling:?}"), because, refuted.at));
            }
            (None, refuted) => {
                let ends: Vec<usize> =
                    word.payments.iter().copied().filter(|one| recorded.last_of(*one) == Some(key)).collect();
                let is_listed = ends.iter().any(|one| self.approved.contains(one) || self.declined.contains(one));
                if ends.is_empty() || (looks_like(key, &ON_THE_WAY) && !is_listed) {
                    return;
                }
                let because = format!("the last word of {}", self.names(&ends));
                let mut point =
                    OpenPoint::new(format!("{spelling:?} of {endpoint}"), because, recorded.at(key, &ends, self));
                if refuted.is_none() {
                    point = point.with(format!("--confirm {endpoint}:{spelling}=charged     if the money was taken"));
                }
                point =
                    point.with(format!("--confirm {endpoint}:{spelling}=rejected    if it was not, and will not be"));
                self.findings
                    .needs_yes
                    .push(point.with(format!("--confirm {endpoint}:{spelling}=open        otherwise")));
            }
            _ => {}
        }
    }

    fn report_missing_words(&mut self, endpoint: Endpoint, recorded: &Recorded, proven: &ProvenWords) {
        let at: Vec<At> = recorded.words.values().flat_map(|word| word.at.clone()).collect();
        let words: Vec<_> = recorded.words.values().map(|word| format!("{:?}", word.spelling)).collect();
        let seen = format!("only {} recorded", words.join(", "));
        if proven.charged.is_empty() {
            let point = OpenPoint::new(format!("{endpoint}: no proven word of a charge"), seen.clone(), at.clone());
            self.findings.missing.push(point.with(
                "pay two orders of different amounts, query each before and after, and list them: --approved ORDER,ORDER",
            ));
        }
        if proven.rejected.is_empty() {
            let point = OpenPoint::new(format!("{endpoint}: no proven word of a rejection"), seen, at);
            self.findings
                .missing
                .push(point.with(
                    "let the gateway decline an order, query it before and after, and list it: --declined ORDER",
                ));
        }
    }

    /// Puts the place and the words into the dialect. A place other than the interface's comes only with a proven word, because the
    /// interface's words would count there.
    fn write_status(&mut self, endpoint: Endpoint, place: &str, recorded: &Recorded, proven: &ProvenWords) {
        if place == SHOWN {
            if let Some(point) = self.base_refuted.remove(&endpoint).filter(|_| proven.charged.is_empty()) {
                self.findings.forbidden.push(point);
            }
            return;
        }
        let has_own_rejection = recorded.words.contains_key(&REJECTED.to_lowercase()) && proven.rejected.is_empty();
        if !proven.charged.is_empty() && !has_own_rejection {
            self.draft.places.insert(FieldOf(endpoint, Field::Status), place.to_owned());
        }
    }

    /// Answers about words that were not recorded.
    fn report_unheard_answers(&mut self) {
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

    fn names(&self, payments: &[usize]) -> String {
        const SHOWN_NAMES: usize = 4;
        let shown: Vec<_> =
            payments.iter().take(SHOWN_NAMES).map(|index| self.exchanges.payments[*index].name()).collect();
        let more = payments.len().saturating_sub(SHOWN_NAMES);
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    }
}

fn looks_like(word: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| word.contains(part))
}
