//! Errors, told apart by what the caller can do next.

use std::{fmt, time::Duration};

use crate::{payment_ref::PaymentRef, status::StatusReport, violation::Violation};

/// Why a call gave no answer, told by **what it did to the money** and what to do next.
///
/// Only [`OutcomeUnknown`](Self::OutcomeUnknown) means that this call may have moved money; every other variant says that it
/// did not. No variant ever holds a card number, a CVC, a one-time password or a password: where the gateway echoes one in its
/// reply, it is masked in `body`, `reason` and `detail`.
///
/// ```
/// use kassa::PaymentError;
///
/// fn advise(error: &PaymentError) -> &'static str {
///     match error {
///         PaymentError::OutcomeUnknown { .. } => "watch the payment; never send it again",
///         _ if error.is_retryable() => "try again",
///         PaymentError::Refused { .. } => "tell the payer",
///         _ => "read the error: nothing happened to the money",
///     }
/// }
/// let error = PaymentError::Unavailable { detail: "connection refused".into(), retry_after: None };
/// assert_eq!(advise(&error), "try again");
/// assert!(!error.payment_may_exist());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaymentError {
    /// The input breaks rules. **Nothing was sent.** Fix the named fields: all violations are there at once.
    Invalid {
        /// Every rule that is broken, in the order of the interface's table.
        violations: Vec<Violation>,
    },
    /// The configuration is wrong: **nothing happened.** A bad setting, a certificate that fails, or an address that is not
    /// the gateway (404, 405 or 407 without the gateway's envelope).
    Misconfigured {
        /// What is wrong.
        detail: String,
    },
    /// The gateway did not accept the credentials (401, 403): **nothing happened.**
    Unauthorized {
        /// What the gateway said.
        detail: String,
    },
    /// **Nothing happened, try again**: no connection was made, the gateway asked to wait (429), or a request that moves no
    /// money failed on the way.
    Unavailable {
        /// What went wrong.
        detail: String,
        /// How long the gateway asked to wait, where it did.
        retry_after: Option<Duration>,
    },
    /// The gateway said no: **nothing happened.** Tell the payer.
    Refused {
        /// The HTTP status of the reply.
        http_status: u16,
        /// The gateway's code, where there is one.
        code: Option<String>,
        /// The gateway's own words, where there are any.
        reason: Option<String>,
        /// The reply's body, with secrets masked.
        body: String,
    },
    /// **The payment may have happened**: it was sent, and no verdict that can be trusted came back. Watch `payment`
    /// ([`Gateway::watch`](crate::Gateway::watch)); never send it again.
    OutcomeUnknown {
        /// What to ask about the payment with.
        payment: PaymentRef,
        /// The gateway's code, where a reply had one.
        code: Option<String>,
        /// The gateway's own words, where a reply had any.
        reason: Option<String>,
        /// Why the outcome is unknown.
        detail: String,
        /// The reply's body where one came, with secrets masked.
        body: Option<String>,
    },
    /// The answer of a request that moves no money could not be understood: **nothing happened.**
    Unexpected {
        /// What could not be understood.
        detail: String,
        /// The reply's body, with secrets masked.
        body: String,
    },
    /// A watch reached its deadline while the payment was still open. Keep watching, or let a person decide.
    DeadlineExpired {
        /// The last status that was seen, where there was one.
        last: Option<StatusReport>,
    },
}

impl PaymentError {
    /// True where **this call** may have moved money: for [`OutcomeUnknown`](Self::OutcomeUnknown) alone.
    pub fn payment_may_exist(&self) -> bool {
        matches!(self, Self::OutcomeUnknown { .. })
    }

    /// True where the same call may simply be made again, later: for [`Unavailable`](Self::Unavailable) alone.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// The variant's name, the same in every language.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "Invalid",
            Self::Misconfigured { .. } => "Misconfigured",
            Self::Unauthorized { .. } => "Unauthorized",
            Self::Unavailable { .. } => "Unavailable",
            Self::Refused { .. } => "Refused",
            Self::OutcomeUnknown { .. } => "OutcomeUnknown",
            Self::Unexpected { .. } => "Unexpected",
            Self::DeadlineExpired { .. } => "DeadlineExpired",
        }
    }

    /// The error in one English sentence or two: what happened, and what to do. The same text as its `Display`.
    pub fn describe(&self) -> String {
        self.to_string()
    }
}

impl std::error::Error for PaymentError {}

impl fmt::Display for PaymentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { violations } => {
                let texts: Vec<&str> = violations.iter().map(|violation| violation.text.as_str()).collect();
                write!(f, "Invalid input, nothing was sent: {}.", texts.join("; "))
            }
            Self::Misconfigured { detail } => write!(f, "Wrong configuration, nothing happened: {detail}."),
            Self::Unauthorized { detail } => {
                write!(f, "The gateway did not accept the credentials, nothing happened: {detail}.")
            }
            Self::Unavailable { detail, retry_after } => {
                write!(f, "Not available, nothing happened: {detail}.")?;
                match retry_after {
                    Some(wait) => write!(f, " Try again in {} s.", wait.as_secs()),
                    None => f.write_str(" Try again."),
                }
            }
            Self::Refused { http_status, code, reason, .. } => {
                let said = words_of_the_gateway(code.as_deref(), reason.as_deref());
                write!(f, "The gateway refused, nothing happened (HTTP {http_status}{said}).")
            }
            Self::OutcomeUnknown { payment, code, reason, detail, .. } => {
                let said = words_of_the_gateway(code.as_deref(), reason.as_deref());
                write!(
                    f,
                    "The outcome of {payment} is unknown, it may have happened: {detail}{said}. Watch it; never send it again."
                )
            }
            Self::Unexpected { detail, .. } => {
                write!(f, "The gateway's answer could not be understood, nothing happened: {detail}.")
            }
            Self::DeadlineExpired { last: Some(last) } => {
                write!(f, "The payment was still open at the deadline, last seen as {}. Keep watching it.", last.status)
            }
            Self::DeadlineExpired { last: None } => f.write_str(
                "The payment was still open at the deadline, and no status was ever seen. Keep watching it.",
            ),
        }
    }
}

fn words_of_the_gateway(code: Option<&str>, reason: Option<&str>) -> String {
    let code = code.map(|code| format!(", code {code}")).unwrap_or_default();
    let reason = reason.map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
    code + &reason
}
