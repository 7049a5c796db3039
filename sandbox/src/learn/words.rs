//! The meaning of status words. **A word gets a meaning only by a person's confirmation**, unless it is the interface's own word
//! in its own place: in a recording, a hold, a refund and an intermediate step all look like a charge. The recording and the
//! lists of orders select the words to confirm, and can contradict: a word that a payment left again, or had before its payer
//! confirmed, never means charged, whatever a person says. `docs/recordings.md#the-rule-of-evidence` explains the rule for users.

mod report;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Learner,
    answers::{Meaning, same_word},
    candidates::candidates,
    endpoint::{Endpoint, Field, FieldOf},
    envelope::LONGEST_WORD,
    exchanges::{Observed, Value},
    report::{At, Finding, OpenPoint},
    status_place::SHOWN,
};

/// The words of the interface.
pub(super) const CHARGED: &str = "CHARGE";
pub(super) const REJECTED: &str = "Reject";
const NO_REJECTION: &str = "an approved order had it, or a payment left it again";
const OWN_WORD: &str = "the interface's own word, in the interface's own place";

/// Parts of words for an intermediate step, in lower case. They need confirmation only if a listed order ended with one.
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
/// Parts of words for a failed payment. If a payment has one later, its charge was not final.
const FAILED: [&str; 17] = [
    "fail",
    "unpaid",
    "not paid",
    "unsuccess",
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

/// The proven words of a query, in lower case with their spelling.
#[derive(Debug, Default)]
pub(super) struct ProvenWords {
    pub(super) charged: BTreeMap<String, String>,
    pub(super) rejected: BTreeMap<String, String>,
}

/// A failure of a payment, reported by a query or a callback.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) at: At,
    /// `None` for a callback.
    query: Option<Endpoint>,
    word: String,
}

/// The recorded words in one place of a query's responses.
#[derive(Default)]
struct Recorded {
    place: String,
    words: BTreeMap<String, Word>,
    /// The words of each payment in order, without repetitions.
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
    /// Whether the meaning of another word would decide it.
    is_by_unknown_word: Option<String>,
}

impl Refutation {
    fn new(because: impl Into<String>, at: Vec<At>) -> Self {
        Self { because: because.into(), at, is_by_unknown_word: None }
    }
}

impl Recorded {
    fn last_of(&self, payment: usize) -> Option<&str> {
        Some(self.lines.get(&payment)?.last()?.0.as_str())
    }

    /// The payments whose last word is this one.
    fn ended_with(&self, word: &str) -> Vec<usize> {
        self.lines.keys().copied().filter(|payment| self.last_of(*payment) == Some(word)).collect()
    }

    /// The words after a word in the same payment.
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
            }
        }
        self.find_failures();
        for endpoint in Endpoint::QUERIES {
            if self.has_seen(endpoint) {
                self.judge_words(endpoint);
                self.check_interface_words(endpoint);
            }
        }
        self.learn_status_of_creations();
        self.report_unheard_answers();
    }

    /// Learns the place of the status word in responses that create or confirm
    /// a payment. It decides nothing, so an unclear place is not reported.
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
    pub(super) fn word<'s>(&self, seen: &'s Observed) -> Option<&'s str> {
        let place =
            self.place(FieldOf(seen.endpoint, Field::Status)).filter(|_| Endpoint::QUERIES.contains(&seen.endpoint))?;
        seen.value(place).filter(|_| seen.is_read()).map(|value| value.text.as_str())
    }

    /// Whether it is proven that a word of a query means charged.
    pub(super) fn is_charged(&self, endpoint: Endpoint, word: &str) -> bool {
        self.words.get(&endpoint).is_some_and(|words| words.charged.contains_key(&word.to_lowercase()))
    }

    /// The words in one place. Failed responses count, too, because the payment had these words.
    fn recorded_words(&self, endpoint: Endpoint, place: &str) -> Recorded {
        let mut recorded = Recorded { place: place.to_owned(), ..Recorded::default() };
        for seen in self.exchanges.at(endpoint) {
            let Some(spelling) = seen.value(place).map(|value| value.text.as_str()) else { continue };
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
        let recorded = self.recorded_words(endpoint, &place);
        let mut proven = ProvenWords::default();
        for (key, word) in &recorded.words {
            if let Some(because) = self.proof_of_charge(endpoint, key, &recorded) {
                let at = word.at.clone();
                let name = format!("{endpoint}.charged_words");
                self.findings.learned.push(Finding::new(name, format!("{:?}", word.spelling), because, at));
                proven.charged.insert(key.clone(), word.spelling.clone());
            } else if let Some(because) = self.proof_of_rejection(endpoint, key, &recorded) {
                let at = word.at.clone();
                let name = format!("{endpoint}.rejected_words");
                self.findings.learned.push(Finding::new(name, format!("{:?}", word.spelling), because, at));
                proven.rejected.insert(key.clone(), word.spelling.clone());
            } else {
                self.report_unproven(endpoint, key, word, &recorded);
            }
        }
        self.report_missing_words(endpoint, &recorded, &proven);
        self.write_status(endpoint, &place, &recorded, &proven);
        self.words.insert(endpoint, proven);
    }

    /// Why a word means charged: it is the interface's own in its own place, or a person confirmed it, and no recording contradicts.
    fn proof_of_charge(&self, endpoint: Endpoint, word: &str, recorded: &Recorded) -> Option<&'static str> {
        let said = self.answers.word(endpoint, word);
        if said.is_some_and(|said| said != Meaning::Charged) || self.refuted_charge(endpoint, word, recorded).is_some()
        {
            return None;
        }
        if recorded.place == SHOWN && same_word(word, CHARGED) {
            return Some(OWN_WORD);
        }
        said.map(|_| "you confirmed it, and no payment had it before it was paid or left it again")
    }

    /// Why a word cannot mean charged, whatever a person says.
    fn refuted_charge(&self, endpoint: Endpoint, word: &str, recorded: &Recorded) -> Option<Refutation> {
        let payments = &recorded.words.get(word)?.payments;
        let declined: Vec<usize> = payments.intersection(&self.declined).copied().collect();
        if !declined.is_empty() {
            let because = format!("it was the word of {}, which you listed as declined", self.names(&declined));
            return Some(Refutation::new(because, recorded.at(word, &declined, self)));
        }
        let has_it = |seen: &&Observed| seen.value(&recorded.place).is_some_and(|own| own.text.to_lowercase() == word);
        let is_early = |seen: &&Observed| has_it(seen) && self.is_unconfirmed(seen);
        let early: Vec<At> = self.exchanges.at(endpoint).filter(is_early).map(|seen| seen.at).collect();
        if !early.is_empty() {
            return Some(Refutation::new("payments had it before their payer confirmed them", early));
        }
        if let Some(failure) = self.exchanges.at(endpoint).filter(has_it).find_map(|seen| self.failed_elsewhere(seen)) {
            let because = format!("another query or a callback about the same payment said {:?} later", failure.word);
            return Some(Refutation::new(because, vec![failure.at]));
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

    /// A failure of the same payment that another query or a callback reported after this response.
    fn failed_elsewhere(&self, seen: &Observed) -> Option<&Failure> {
        let mut failures = self.failures.get(&seen.payment).into_iter().flatten();
        failures.find(|failure| failure.at > seen.at && failure.query != Some(seen.endpoint))
    }

    /// All reported failures: words that look like one, the interface's word, words
    /// that a person confirmed as one, and the last words of declined orders.
    fn find_failures(&mut self) {
        let mut of_declined: BTreeSet<String> = BTreeSet::new();
        for endpoint in Endpoint::QUERIES {
            let recorded = self.recorded_words(endpoint, self.place(FieldOf(endpoint, Field::Status)).unwrap_or(SHOWN));
            of_declined
                .extend(self.declined.iter().filter_map(|payment| recorded.last_of(*payment)).map(str::to_owned));
        }
        let is_failure = |query: Option<Endpoint>, value: &Value| {
            let text = value.text.to_lowercase();
            let said = match query {
                Some(endpoint) => self.answers.word(endpoint, &text),
                None => Endpoint::QUERIES.iter().find_map(|endpoint| self.answers.word(*endpoint, &text)),
            };
            let is_short = value.is_readable() && text.chars().count() <= LONGEST_WORD && value.address().is_none();
            let looks_so = || looks_like(&text, &FAILED) || same_word(&text, REJECTED) || of_declined.contains(&text);
            said == Some(Meaning::Rejected) || (said.is_none() && is_short && looks_so())
        };
        let mut failures: BTreeMap<usize, Vec<Failure>> = BTreeMap::new();
        for seen in self.exchanges.seen.iter().filter(|seen| Endpoint::QUERIES.contains(&seen.endpoint)) {
            let place = self.place(FieldOf(seen.endpoint, Field::Status)).unwrap_or(SHOWN);
            if let Some(value) = seen.value(place).filter(|value| is_failure(Some(seen.endpoint), value)) {
                let failure = Failure { at: seen.at, query: Some(seen.endpoint), word: value.text.clone() };
                failures.entry(seen.payment).or_default().push(failure);
            }
        }
        for callback in &self.exchanges.callbacks {
            let found = callback.values.iter().find(|value| is_failure(None, value));
            if let (Some(payment), Some(value)) = (callback.payment, found) {
                let failure = Failure { at: callback.at, query: None, word: value.text.clone() };
                failures.entry(payment).or_default().push(failure);
            }
        }
        self.failures = failures;
    }

    /// Whether the payer of an MBank or MegaPay payment had not confirmed it when it was queried. A
    /// confirmation does not count if another one was accepted after it, as after a wrong password.
    fn is_unconfirmed(&self, query: &Observed) -> bool {
        let payment = self.exchanges.payment(query);
        let confirmation = match payment.created_by {
            Some(Endpoint::MbankPayment) => Endpoint::MbankConfirm,
            Some(Endpoint::MegapayCheck) => Endpoint::MegapayPay,
            _ => return false,
        };
        let all = payment.exchanges.iter().map(|index| &self.exchanges.seen[*index]);
        let last = all.filter(|seen| seen.endpoint == confirmation && seen.is_ok()).map(|seen| seen.at).max();
        last.is_none_or(|last| last > query.at)
    }

    /// Why a word means not charged and final, with the same rules as for a charge.
    fn proof_of_rejection(&self, endpoint: Endpoint, word: &str, recorded: &Recorded) -> Option<&'static str> {
        let said = self.answers.word(endpoint, word);
        if said.is_some_and(|said| said != Meaning::Rejected) || self.is_no_rejection(word, recorded) {
            return None;
        }
        if recorded.place == SHOWN && same_word(word, REJECTED) {
            return Some(OWN_WORD);
        }
        said.map(|_| "you confirmed it, and no payment left it again")
    }

    /// Whether an approved order had the word, or a payment left it again.
    fn is_no_rejection(&self, word: &str, recorded: &Recorded) -> bool {
        let payments = recorded.words.get(word).map(|word| &word.payments);
        payments.is_some_and(|payments| !payments.is_disjoint(&self.approved)) || !recorded.left_for(word).is_empty()
    }

    /// Sets the place in the dialect. A place other than the interface's is set
    /// only with a proven word, because the interface's words would count there.
    fn write_status(&mut self, endpoint: Endpoint, place: &str, recorded: &Recorded, proven: &ProvenWords) {
        let has_own_rejection = recorded.words.contains_key(&REJECTED.to_lowercase()) && proven.rejected.is_empty();
        if place != SHOWN && !proven.charged.is_empty() && !has_own_rejection {
            self.draft.places.insert(FieldOf(endpoint, Field::Status), place.to_owned());
        }
    }

    /// Whether the interface's own words, which count in its own place by
    /// default, mean something else here. Then no dialect can be written.
    fn check_interface_words(&mut self, endpoint: Endpoint) {
        if self.draft.places.contains_key(&FieldOf(endpoint, Field::Status)) {
            return;
        }
        let recorded = self.recorded_words(endpoint, SHOWN);
        let is_learned_there = self.place(FieldOf(endpoint, Field::Status)) == Some(SHOWN);
        for (own, meaning) in [(CHARGED, Meaning::Charged), (REJECTED, Meaning::Rejected)] {
            let key = own.to_lowercase();
            let proven = self.words.get(&endpoint).filter(|_| is_learned_there);
            let list = proven.map(|words| if meaning == Meaning::Charged { &words.charged } else { &words.rejected });
            let is_replaced = list.is_some_and(|list| !list.is_empty() && !list.contains_key(&key));
            let Some(word) = recorded.words.get(&key).filter(|_| !is_replaced) else { continue };
            let said = self.answers.word(endpoint, &key);
            let refuted = match meaning {
                Meaning::Charged => self.refuted_charge(endpoint, &key, &recorded),
                _ => self.is_no_rejection(&key, &recorded).then(|| Refutation::new(NO_REJECTION, word.at.clone())),
            };
            let contradicted =
                said.filter(|said| *said != meaning).map(|_| Refutation::new("you said so", word.at.clone()));
            if let Some(refuted) = refuted.or(contradicted) {
                let because =
                    format!("{:?} means something else here than in the interface: {}", word.spelling, refuted.because);
                let mut point = OpenPoint::new(format!("{endpoint}: {:?}", word.spelling), because, refuted.at);
                if let Some(other) = refuted.is_by_unknown_word {
                    point = point.with(format!("--confirm {endpoint}:{other}=open    if the money stayed taken"));
                }
                self.findings.forbidden.push(point);
            }
        }
    }
}

fn looks_like(word: &str, parts: &[&str]) -> bool {
    parts.iter().any(|part| word.contains(part))
}
