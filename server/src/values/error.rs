//! Errors of the server's interface, by what the caller can do next. None of them says that a payment failed: what became
//! of a payment is its state.

use crate::{
    values::cursor::Cursor,
    values::{
        states::{CheckoutState, PaymentState},
        violation::Violation,
    },
};

/// Why the server did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The input breaks rules. **Nothing was written and nothing sent.** All violations are there at once.
    #[error("Invalid input, nothing was done: {}.", sentences(violations))]
    #[non_exhaustive]
    Invalid {
        /// Every rule that is broken.
        violations: Vec<Violation>,
    },
    /// There is no such thing, or it is not the caller's.
    #[error("There is no such {what}.")]
    #[non_exhaustive]
    NotFound {
        /// What was looked for.
        what: &'static str,
    },
    /// The reference has been used for a checkout that asks for something else.
    #[error("This reference was used for another checkout: {} not what it was.", differing(differs))]
    #[non_exhaustive]
    ReferenceUsed {
        /// The fields in which it differs, such as `amount`: of what was asked for, and not of what is kept.
        differs: Vec<&'static str>,
    },
    /// The idempotency key has been used with another body.
    #[error("This idempotency key was used with another body.")]
    KeyReused,
    /// The checkout is not open, so that nothing can be begun or changed.
    #[error("The checkout is {state}.")]
    #[non_exhaustive]
    NotOpen {
        /// What it is instead.
        state: CheckoutState,
    },
    /// Another payment of the checkout may still take money: wait for its end.
    #[error("A payment of this checkout is {state}.")]
    #[non_exhaustive]
    UnderWay {
        /// Where it stands.
        state: PaymentState,
    },
    /// The payment awaits no one-time password.
    #[error("The payment awaits no one-time password: it is {state}.")]
    #[non_exhaustive]
    NotAwaited {
        /// Where it stands.
        state: PaymentState,
    },
    /// There is nothing for a person to decide: it has ended, or is being sent just now.
    #[error("There is nothing to decide of the payment: it is {state}.")]
    #[non_exhaustive]
    NotInDoubt {
        /// Where it stands.
        state: PaymentState,
    },
    /// The database was restored from a backup, and the event of this cursor is not in it any more.
    #[error(
        "The event of this cursor is not in the database, which was restored from a backup. Read on after {resume}; events that \
         you have seen come again under the same identifiers."
    )]
    #[non_exhaustive]
    HistoryGone {
        /// Where to read on: before everything that the restored history has and the lost one had not.
        resume: Cursor,
    },
    /// Too many wrong one-time passwords were given, or too many cards or payments were tried for one checkout.
    #[error("No attempts are left.")]
    NoAttemptsLeft,
    /// The database cannot be used, or the server is stopping. What was asked may have been written or not: ask again with
    /// the same key.
    #[error("Not available: {detail}. Try again with the same key.")]
    #[non_exhaustive]
    Unavailable {
        /// Why.
        detail: String,
    },
}

impl ServerError {
    /// The error for one field.
    pub fn invalid(violation: Violation) -> Self {
        Self::Invalid { violations: vec![violation] }
    }

    pub(crate) fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { detail: detail.into() }
    }
}

/// Fields as the subject of a sentence.
pub(crate) fn differing(fields: &[&str]) -> String {
    let verb = if fields.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", fields.join(", "))
}

fn sentences(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.text.as_str()).collect::<Vec<_>>().join("; ")
}
