//! What came of one payment.

use std::time::Duration;

use kassa::{Decimal, PaymentError, PaymentRef, StatusReport};
use serde_json::Value;

use crate::failure::{AS_EXPECTED, NOT_AS_EXPECTED, NOT_KNOWN, exit_code_of};

/// How a payment ended, as far as this run saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The money was taken.
    Charged,
    /// It ended without the money being taken.
    Rejected,
    /// The gateway tells of something else than was requested, or of nothing that proves it: a person has to look.
    PersonNeeded,
    /// Made, and left to a later run, as `--no-wait` asks.
    Created,
    /// It was still pending when this run stopped following it.
    Pending,
    /// It may exist, and no status was ever seen.
    Unknown,
    /// The gateway never took it on: nothing happened.
    NotMade,
}

impl Outcome {
    /// The word that programs see.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Charged => "charged",
            Self::Rejected => "rejected",
            Self::PersonNeeded => "person_needed",
            Self::Created => "created",
            Self::Pending => "pending",
            Self::Unknown => "unknown",
            Self::NotMade => "not_made",
        }
    }
}

/// A callback that came in.
#[derive(Clone, Debug)]
pub(crate) struct SeenCallback {
    pub(crate) order_number: String,
    /// As far as the callback gives them.
    pub(crate) status: Option<String>,
    pub(crate) amount: Option<Decimal>,
    /// `charged`, `rejected`, `pending`, `mismatch`, `unverifiable`, `duplicate` or `not_asked`.
    pub(crate) verdict: &'static str,
    /// The fields that a mismatch is about.
    pub(crate) fields: Vec<String>,
}

/// A time for people.
pub(crate) fn in_time(elapsed: Duration) -> String {
    if elapsed < Duration::from_secs(1) {
        format!("{} ms", elapsed.as_millis())
    } else {
        format!("{:.1} s", elapsed.as_secs_f64())
    }
}

/// What came of one payment.
pub(crate) struct Report {
    pub(crate) flow: &'static str,
    pub(crate) reference: String,
    /// The merchant's order number, or what stands for it: a QR transaction's id.
    pub(crate) order: Option<String>,
    pub(crate) payment: PaymentRef,
    pub(crate) amount: Option<String>,
    pub(crate) outcome: Outcome,
    /// The gateway's answer to the call that began it.
    pub(crate) answer: Option<Value>,
    /// The last status that was seen.
    pub(crate) status: Option<StatusReport>,
    /// What a call gave instead of an answer.
    pub(crate) error: Option<PaymentError>,
    /// Why following it ended without a final status.
    pub(crate) watch_error: Option<PaymentError>,
    pub(crate) callbacks: Vec<SeenCallback>,
    pub(crate) elapsed: Duration,
}

impl Report {
    /// The program's exit code for it.
    pub(crate) fn exit_code(&self) -> u8 {
        match self.outcome {
            Outcome::Charged | Outcome::Created => AS_EXPECTED,
            Outcome::Rejected | Outcome::NotMade => NOT_AS_EXPECTED,
            Outcome::Unknown | Outcome::PersonNeeded => NOT_KNOWN,
            // Why following it ended says nothing of the payment: it may be charged by now.
            Outcome::Pending => self.error.as_ref().map_or(NOT_KNOWN, exit_code_of),
        }
    }

    /// True where the gateway itself tells of the end that one of its callbacks told of.
    pub(crate) fn has_good_callback(&self) -> bool {
        self.callbacks.iter().any(|seen| matches!(seen.verdict, "charged" | "rejected"))
    }

    /// What happened, in a few words.
    pub(crate) fn what_happened(&self) -> String {
        let amount = self.amount.as_ref().map(|amount| format!(" {amount}")).unwrap_or_default();
        let reason = self.status.as_ref().and_then(|status| status.reason.clone());
        match (self.outcome, &self.error) {
            (Outcome::Charged, Some(PaymentError::OutcomeUnknown { .. })) => {
                format!("charged{amount}, found by asking")
            }
            (Outcome::Charged, _) => format!("charged{amount}"),
            (Outcome::Rejected, _) => {
                reason.map_or_else(|| "rejected".to_owned(), |reason| format!("rejected: {reason}"))
            }
            (Outcome::PersonNeeded, _) => "not proved: a person has to look".to_owned(),
            (Outcome::Created, _) => "created, not followed".to_owned(),
            (Outcome::Pending, Some(error)) => format!("still pending after {}", error.kind()),
            (Outcome::Pending, None) => "still pending".to_owned(),
            (Outcome::Unknown, _) => "unknown: it may have happened".to_owned(),
            (Outcome::NotMade, Some(error)) => format!("not made: {}", error.kind()),
            (Outcome::NotMade, None) => "not made".to_owned(),
        }
    }

    /// The callbacks in a few words, such as `1 charged`.
    pub(crate) fn callback_summary(&self) -> String {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for seen in &self.callbacks {
            match counts.iter_mut().find(|(verdict, _)| *verdict == seen.verdict) {
                Some((_, count)) => *count += 1,
                None => counts.push((seen.verdict, 1)),
            }
        }
        if counts.is_empty() {
            return "none".to_owned();
        }
        counts.iter().map(|(verdict, count)| format!("{count} {verdict}")).collect::<Vec<_>>().join(", ")
    }
}
