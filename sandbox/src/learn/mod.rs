//! `kassa-sandbox learn`: infers a gateway's names from recordings, and writes them as a dialect for Kassa's
//! core. Uncertain results are not written; the report lists the payment or confirmation that would decide them.

mod answers;
mod candidates;
mod codes;
mod dialect;
mod endpoint;
mod envelope;
mod exchanges;
mod report;
mod status_place;
mod values;
mod words;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use answers::Answers;
pub use answers::{Confirmation, NamedPlace};
use dialect::Draft;
use endpoint::{Endpoint, FieldOf, Role};
use exchanges::Exchanges;
use report::{Findings, OpenPoint};
use serde_json::Value;
use strum::VariantArray;
use words::{Failure, ProvenWords};

use crate::recording::{self, RecordingError};

/// The input of `learn`: recordings, and a person's answers about them.
#[derive(Debug, Clone, Default)]
pub struct LearnOptions {
    /// The recordings, in the order in which they were made.
    pub files: Vec<PathBuf>,
    /// Meanings of words, codes and keys, confirmed by a person.
    pub confirmations: Vec<Confirmation>,
    /// Places given by a person.
    pub places: Vec<NamedPlace>,
    /// Numbers of charged orders.
    pub approved: Vec<String>,
    /// Numbers of orders that were not charged and never will be.
    pub declined: Vec<String>,
}

/// Why nothing can be learned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LearnError {
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// An order listed by a person is not in the recordings.
    #[error("{option} names {number:?}, which is not an order in the recording")]
    UnknownOrder {
        /// `--approved` or `--declined`.
        option: &'static str,
        /// The number.
        number: String,
    },
    /// A listed number belongs to two payments: to one as the merchant's number, to the other as the gateway's.
    #[error(
        "{option} names {number:?}, which is a number of several payments in the recording; name another number of the order"
    )]
    AmbiguousOrder {
        /// `--approved` or `--declined`.
        option: &'static str,
        /// The number.
        number: String,
    },
    /// An order was listed as approved and as declined.
    #[error("--approved and --declined both name {number:?}")]
    ApprovedAndDeclined {
        /// The number.
        number: String,
    },
    /// No request went to an endpoint of the interface.
    #[error("no recorded request belongs to the gateway's interface: a dialect maps responses, not paths or requests")]
    NoEndpoint,
}

/// The result of `learn`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Learned {
    /// The dialect as JSON. `None` if every dialect would misread a word of this gateway: the report names the word.
    pub dialect: Option<String>,
    /// The report for people.
    pub report: String,
    /// The same as JSON.
    pub report_json: String,
    /// Whether the dialect covers everything that was recorded.
    pub is_whole: bool,
}

/// The state of learning.
struct Learner<'a> {
    exchanges: &'a Exchanges,
    answers: &'a Answers,
    /// The payments listed by a person, by index.
    approved: BTreeSet<usize>,
    declined: BTreeSet<usize>,
    findings: Findings,
    /// The place of each field, including places that equal the interface's.
    places: BTreeMap<FieldOf, String>,
    /// The places of codes and texts, which responses without a status have, too.
    envelope: BTreeSet<String>,
    words: BTreeMap<Endpoint, ProvenWords>,
    /// By index of the payment.
    failures: BTreeMap<usize, Vec<Failure>>,
    draft: Draft,
}

/// Learns the dialect of a recorded gateway.
///
/// # Errors
/// If a recording cannot be read, or an answer concerns an order that was not recorded.
pub fn learn(options: &LearnOptions) -> Result<Learned, LearnError> {
    let mut recordings = Vec::new();
    let mut heads = Vec::new();
    for file in &options.files {
        let recording = recording::read(file)?;
        let (count, unreadable) = (recording.exchanges.len(), recording.unreadable.len());
        let lost = if unreadable > 0 { format!(", {unreadable} lines unreadable") } else { String::new() };
        heads.push(format!("{}: {count} exchanges of {}{lost}", file.display(), recording.header.upstream));
        recordings.push(recording);
    }
    let exchanges = Exchanges::of(recordings);
    if exchanges.seen.is_empty() {
        return Err(LearnError::NoEndpoint);
    }
    let (approved, declined) = listed(options, &exchanges)?;
    let answers = Answers {
        confirmations: options.confirmations.clone(),
        places: options.places.iter().map(|named| (named.field, named.pointer.clone())).collect(),
    };
    let mut learner = Learner {
        exchanges: &exchanges,
        answers: &answers,
        approved,
        declined,
        findings: Findings::default(),
        places: BTreeMap::new(),
        envelope: BTreeSet::new(),
        words: BTreeMap::new(),
        failures: BTreeMap::new(),
        draft: Draft::default(),
    };
    learner.learn_values();
    learner.learn_envelope();
    learner.learn_words();
    learner.learn_codes();
    learner.learn_megapay();
    learner.report_not_recorded();
    let dialect = learner.findings.forbidden.is_empty().then(|| learner.dialect());
    let files: Vec<&Path> = options.files.iter().map(PathBuf::as_path).collect();
    let findings = &learner.findings;
    Ok(Learned {
        report: findings.text(&files, &heads),
        report_json: pretty(&findings.json(&files, &heads, dialect.as_ref())),
        is_whole: findings.are_whole(),
        dialect: dialect.as_ref().map(pretty),
    })
}

/// A value as the text of a file.
fn pretty(value: &Value) -> String {
    format!("{value:#}\n")
}

/// Finds the payments listed by a person.
fn listed(options: &LearnOptions, exchanges: &Exchanges) -> Result<(BTreeSet<usize>, BTreeSet<usize>), LearnError> {
    let find = |option: &'static str, numbers: &[String]| {
        let one = |number: &String| {
            let all = || exchanges.payments.iter().enumerate();
            // The merchant's own number first: the gateway's numbers may look the same.
            let own: Vec<usize> =
                all().filter(|(_, payment)| payment.own.as_ref() == Some(number)).map(|(index, _)| index).collect();
            let any: Vec<usize> =
                all().filter(|(_, payment)| payment.has_number(number)).map(|(index, _)| index).collect();
            match (own.as_slice(), any.as_slice()) {
                ([only], _) | ([], [only]) => Ok(*only),
                ([], []) => Err(LearnError::UnknownOrder { option, number: number.clone() }),
                _ => Err(LearnError::AmbiguousOrder { option, number: number.clone() }),
            }
        };
        numbers.iter().map(one).collect::<Result<BTreeSet<usize>, _>>()
    };
    let (approved, declined) = (find("--approved", &options.approved)?, find("--declined", &options.declined)?);
    match approved.intersection(&declined).next() {
        Some(index) => Err(LearnError::ApprovedAndDeclined { number: exchanges.payments[*index].name() }),
        None => Ok((approved, declined)),
    }
}

impl Learner<'_> {
    fn learn_megapay(&mut self) {
        let check = self.exchanges.read_at(Endpoint::MegapayCheck).next();
        if let Some(check) = check.filter(|check| matches!(check.method.as_str(), "GET" | "POST")) {
            let because = "the check was answered by this method";
            self.findings.learned.push(report::Finding::new(
                "megapay.check_method",
                &check.method,
                because,
                vec![check.at],
            ));
            self.draft.megapay_check = Some(check.method.clone());
        }
    }

    /// Reports what was not recorded, and the payment that would show it.
    fn report_not_recorded(&mut self) {
        let mut hints = Vec::new();
        for endpoint in Endpoint::VARIANTS.iter().copied().filter(|endpoint| !self.has_seen(*endpoint)) {
            let to_do = match endpoint {
                Endpoint::CardPayment => "pay by card",
                Endpoint::PaymentStatus => "query a payment by the gateway's number",
                Endpoint::MbankPayment | Endpoint::MbankConfirm => "pay by MBank, and confirm it",
                Endpoint::PayForm => "create two pay-forms",
                Endpoint::ProviderStatus => "query a payment by the merchant's number",
                Endpoint::QrImage => "create a QR picture",
                Endpoint::QrData => "create two QR codes as data",
                Endpoint::QrStatus => "query a QR payment",
                Endpoint::MegapayCheck | Endpoint::MegapayPay => "pay by MegaPay, if the gateway offers its requests",
            };
            let point =
                OpenPoint::new(endpoint, "not recorded: the dialect leaves it as the interface has it", Vec::new());
            hints.push(point.with(to_do));
        }
        let confirms: Vec<_> = self.exchanges.at(Endpoint::MbankConfirm).collect();
        let is_repeated = |payment: usize| confirms.iter().filter(|confirm| confirm.payment == payment).count() > 1;
        if !confirms.is_empty() && !confirms.iter().any(|confirm| is_repeated(confirm.payment)) {
            let point = OpenPoint::new("wrong one-time password", "no confirmation was sent twice", Vec::new());
            hints.push(point.with("confirm an MBank payment with a wrong one-time password, then with the right one"));
        }
        let creates = |role: Role| role == Role::Creates;
        if !self.exchanges.seen.iter().any(|seen| seen.is_repeat && creates(seen.endpoint.role())) {
            let point = OpenPoint::new("reused order number", "no order number was used twice", Vec::new());
            hints.push(point.with("in the test environment, create a payment with the number of a paid one"));
        }
        let charged: Vec<_> =
            self.words.iter().filter(|(_, words)| !words.charged.is_empty()).map(|(one, _)| *one).collect();
        if !charged.is_empty() && !self.has_left_a_charge() {
            let point = OpenPoint::new("refund", "no payment changed after it was charged", Vec::new());
            hints.push(point.with("refund a payment in the gateway's dashboard, and query it"));
        }
        for (path, at) in &self.exchanges.other_paths {
            let because = "not an endpoint of the interface: a dialect maps responses, not paths";
            hints.push(OpenPoint::new(path, because, at.clone()));
        }
        for (at, why) in &self.exchanges.unusable {
            hints.push(OpenPoint::new("unusable response", why.clone(), vec![*at]));
        }
        self.findings.hints.extend(hints);
    }

    /// Whether a payment had another word after one that means charged.
    fn has_left_a_charge(&self) -> bool {
        self.exchanges.payments.iter().any(|payment| {
            let all = payment.exchanges.iter().map(|index| &self.exchanges.seen[*index]);
            let words = all.filter_map(|seen| Some(self.is_charged(seen.endpoint, self.word(seen)?)));
            words.skip_while(|is_charged| !is_charged).any(|is_charged| !is_charged)
        })
    }
}
