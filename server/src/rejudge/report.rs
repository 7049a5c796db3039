//! The result: verdicts, the changes between two of them, and what could not be judged.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The verdict on one recorded response. `--write-verdicts` writes one per line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The payment's identifier, if the response comes from a server's database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
    /// The number of the exchange: within the recording, or among those of the payment.
    pub exchange: u64,
    /// When it began, as it was recorded.
    pub at: String,
    /// The endpoint's name in a dialect, or `callback`.
    pub endpoint: String,
    /// The number of the payment: an order number, or the transaction of a QR payment.
    #[serde(default)]
    pub number: Option<String>,
    /// The verdict, such as `charged` or `Refused`.
    pub verdict: String,
}

/// A verdict that changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerdictChange {
    /// The exchange, with the verdict before. The verdict is `not judged` if there was none.
    #[serde(flatten)]
    pub before: Verdict,
    /// The verdict now.
    pub after: String,
    /// Whether it is a change to or from *charged*.
    pub is_of_charge: bool,
    /// The cause of the verdict before: fields, codes and words. `None` if it comes from a file.
    pub why_before: Option<String>,
    /// The cause of the verdict now.
    pub why_after: Option<String>,
}

/// A line or an exchange that could not be judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotJudged {
    /// The line of the recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The payment's identifier, if it comes from a server's database.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payment: Option<String>,
    /// The number of the exchange, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange: Option<u64>,
    /// Why.
    pub why: String,
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RejudgeReport {
    /// Exchanges and lines that were read.
    pub read: u64,
    /// How many were judged.
    pub judged: u64,
    /// Of these, the status queries about a payment that the recording does not show: their reports were compared with nothing.
    pub compared_with_nothing: u64,
    /// How often each verdict was reached before, by its first word.
    pub before: BTreeMap<String, u64>,
    /// How often each verdict is reached now.
    pub after: BTreeMap<String, u64>,
    /// The verdicts that change: those to or from *charged* first, otherwise in their order.
    pub changes: Vec<VerdictChange>,
    /// The lines and exchanges that could not be judged, in order.
    pub not_judged: Vec<NotJudged>,
}

impl RejudgeReport {
    /// The changes to or from *charged*.
    pub fn of_charges(&self) -> usize {
        self.changes.iter().filter(|change| change.is_of_charge).count()
    }

    /// Adds the results of the next exchanges.
    pub(super) fn append(&mut self, mut next: Self) {
        self.read += next.read;
        self.judged += next.judged;
        self.compared_with_nothing += next.compared_with_nothing;
        for (all, counts) in [(&mut self.before, next.before), (&mut self.after, next.after)] {
            for (verdict, count) in counts {
                *all.entry(verdict).or_default() += count;
            }
        }
        self.changes.append(&mut next.changes);
        self.not_judged.append(&mut next.not_judged);
    }

    /// Sorts the changes: one that delivers goods without a charge, or the reverse, must not be listed below a thousand others.
    pub(super) fn finish(&mut self) {
        self.changes.sort_by_key(|change| !change.is_of_charge);
    }
}

/// The verdict of an exchange that was not judged on one side of the comparison.
pub(super) const NOT_JUDGED: &str = "not judged";

/// Whether a verdict says that the money was taken.
pub(super) fn is_charge(verdict: &str) -> bool {
    matches!(verdict, "charged" | "reports charged")
}

/// A verdict without the fields and numbers that it names.
pub(super) fn class(verdict: &str) -> &str {
    verdict.split([':', ',']).next().unwrap_or(verdict)
}
