//! Errors, by what the caller can do next (`docs/adr/0008-errors-by-what-the-caller-can-do.md`).

use std::time::Duration;

use strum::IntoStaticStr;
use thiserror::Error;

use crate::{
    payment_ref::{PaymentRef, report::StatusReport},
    violation::{Rule, Violation},
};

/// Why a call failed, by **what it did to the money** and what to do next.
///
/// Only [`OutcomeUnknown`](Self::OutcomeUnknown) means that this call may have moved money; every other variant says that it did not. No
/// variant ever holds a card number, a CVC, a one-time password or a password: if the gateway echoes one in its response, it is masked in
/// `body`, `reason` and `detail`.
///
/// ```
/// use kassa::PaymentError;
///
/// fn advise(error: &PaymentError) -> &'static str {
///     match error {
///         PaymentError::OutcomeUnknown { .. } => "watch the payment; never send it again",
///         _ if error.is_retryable() => "try again",
///         PaymentError::Refused { .. } => "tell the payer",
///         PaymentError::DeadlineExpired { .. } => "keep watching: the payment is still pending",
///         _ => "read the error: this call moved no money",
///     }
/// }
/// let error = PaymentError::refused(400).with_code("51");
/// assert_eq!(advise(&error), "tell the payer");
/// assert!(!error.payment_may_exist());
/// assert_eq!((error.http_status(), error.code()), (Some(400), Some("51")));
/// ```
///
/// In Rust, [`source`](std::error::Error::source) is always empty. `detail` contains the cause (a socket, TLS, a parser), so that errors can be
/// cloned, compared and stored, and never expose a URL with a number or a password. Match on the variant.
#[cfg_attr(feature = "uniffi", derive(uniffi::Error))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(tag = "kind"))]
#[derive(Clone, Debug, PartialEq, Eq, Error, IntoStaticStr)]
#[non_exhaustive]
pub enum PaymentError {
    /// The input breaks rules. **Nothing was sent.** Fix the named fields: the error has all violations at once.
    #[error("Invalid input, nothing was sent: {}.", sentences(violations))]
    #[non_exhaustive]
    Invalid {
        /// All violations, in the order of the request's fields in `docs/interface.md`.
        violations: Vec<Violation>,
    },
    /// The configuration is wrong: **nothing happened.** A bad setting, a certificate that fails, or an address that is
    /// not the gateway (404, 405 or 407 without the gateway's envelope).
    #[error("Wrong configuration, nothing happened: {detail}.")]
    #[non_exhaustive]
    Misconfigured {
        /// What is wrong.
        detail: String,
        /// The HTTP status of the response, if any.
        http_status: Option<u16>,
        /// The gateway's code, if the response has one.
        code: Option<String>,
        /// The body of the response, if any, with secrets masked.
        body: Option<String>,
    },
    /// The gateway did not accept the credentials (401, or 403 with the gateway's envelope): **nothing happened.**
    #[error("The gateway did not accept the credentials, nothing happened: {detail}.")]
    #[non_exhaustive]
    Unauthorized {
        /// The gateway's message.
        detail: String,
        /// The HTTP status of the response.
        http_status: u16,
        /// The gateway's code, if any.
        code: Option<String>,
        /// The response's body, with secrets masked.
        body: String,
    },
    /// **Nothing happened, try again**: no connection was made, the gateway's rate limit was met (429), or a request
    /// that moves no money failed on the way.
    #[error("Not available, nothing happened: {detail}. Try again{}.", in_seconds(*retry_after))]
    #[non_exhaustive]
    Unavailable {
        /// What went wrong.
        detail: String,
        /// The gateway's `Retry-After`, capped at one minute. Absent if it sent none.
        #[cfg_attr(
            feature = "serde",
            serde(rename = "retry_after_ms", default, with = "crate::serialized::optional_milliseconds")
        )]
        retry_after: Option<Duration>,
        /// The HTTP status of the response, if any.
        http_status: Option<u16>,
        /// The gateway's code, if the response has one.
        code: Option<String>,
        /// The body of the response, if any, with secrets masked.
        body: Option<String>,
    },
    /// The gateway refused the request: **nothing happened.** Tell the payer.
    #[error("The gateway refused, nothing happened (HTTP {http_status}{}).", words(code, reason))]
    #[non_exhaustive]
    Refused {
        /// The HTTP status of the response.
        http_status: u16,
        /// The gateway's code, if any.
        code: Option<String>,
        /// The gateway's message, if any.
        reason: Option<String>,
        /// The response's body, with secrets masked.
        body: String,
    },
    /// **The payment may have happened**: it was sent, and no trustworthy response arrived. Watch `payment`
    /// ([`Gateway::watch`](crate::Gateway::watch)); never send it again.
    #[error(
        "The outcome of {payment} is unknown, it may have happened: {detail}{}. Watch it; never send it again.",
        words(code, reason)
    )]
    #[non_exhaustive]
    OutcomeUnknown {
        /// The payment reference, for status queries.
        payment: Box<PaymentRef>,
        /// The HTTP status of the response, if any.
        http_status: Option<u16>,
        /// The gateway's code, if the response has one.
        code: Option<String>,
        /// The gateway's message, if the response has one.
        reason: Option<String>,
        /// Why the outcome is unknown.
        detail: String,
        /// The body of the response, if any, with secrets masked.
        body: Option<String>,
    },
    /// The response to a request that moves no money could not be understood: **nothing happened.**
    #[error("The gateway's answer could not be understood, nothing happened: {detail}.")]
    #[non_exhaustive]
    Unexpected {
        /// What could not be understood.
        detail: String,
        /// The HTTP status of the response.
        http_status: u16,
        /// The gateway's code, if any.
        code: Option<String>,
        /// The response's body, with secrets masked.
        body: String,
    },
    /// A watch reached its deadline while the payment was still pending. Keep watching, or let a person decide.
    #[error("The payment was still pending at the deadline, {}. Keep watching it.", last_seen(last.as_deref()))]
    #[non_exhaustive]
    DeadlineExpired {
        /// The last status that was seen, if any.
        last: Option<Box<StatusReport>>,
    },
}

impl PaymentError {
    /// True if **this call** may have moved money: only for [`OutcomeUnknown`](Self::OutcomeUnknown).
    pub fn payment_may_exist(&self) -> bool {
        matches!(self, Self::OutcomeUnknown { .. })
    }

    /// True if the same call can be made again later: only for [`Unavailable`](Self::Unavailable).
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Unavailable { .. })
    }

    /// The error in one English sentence or two: what happened, and what to do. The same text as its `Display`.
    pub fn describe(&self) -> String {
        self.to_string()
    }

    /// The HTTP status of the response, if any.
    pub fn http_status(&self) -> Option<u16> {
        match self {
            Self::Misconfigured { http_status, .. }
            | Self::Unavailable { http_status, .. }
            | Self::OutcomeUnknown { http_status, .. } => *http_status,
            Self::Unauthorized { http_status, .. }
            | Self::Refused { http_status, .. }
            | Self::Unexpected { http_status, .. } => Some(*http_status),
            Self::Invalid { .. } | Self::DeadlineExpired { .. } => None,
        }
    }

    /// The gateway's code, if the response has one.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Misconfigured { code, .. }
            | Self::Unauthorized { code, .. }
            | Self::Unavailable { code, .. }
            | Self::Refused { code, .. }
            | Self::OutcomeUnknown { code, .. }
            | Self::Unexpected { code, .. } => code.as_deref(),
            Self::Invalid { .. } | Self::DeadlineExpired { .. } => None,
        }
    }

    /// The body of the response, if any, with secrets masked.
    pub fn body(&self) -> Option<&str> {
        match self {
            Self::Misconfigured { body, .. } | Self::Unavailable { body, .. } | Self::OutcomeUnknown { body, .. } => {
                body.as_deref()
            }
            Self::Unauthorized { body, .. } | Self::Refused { body, .. } | Self::Unexpected { body, .. } => Some(body),
            Self::Invalid { .. } | Self::DeadlineExpired { .. } => None,
        }
    }

    /// The variant's name, the same in every language.
    pub fn kind(&self) -> &'static str {
        self.into()
    }
}

impl PaymentError {
    /// The error for an input with one thing wrong.
    pub(crate) fn invalid(field: &str, rule: Rule, limit: Option<&str>, sentence: &str) -> Self {
        Self::Invalid { violations: vec![Violation::new(field, rule, limit, sentence)] }
    }
}

/// The texts of violations, in one line.
pub(crate) fn sentences(violations: &[Violation]) -> String {
    violations.iter().map(|violation| violation.text.as_str()).collect::<Vec<_>>().join("; ")
}

fn in_seconds(retry_after: Option<Duration>) -> String {
    retry_after.map(|wait| format!(" in {} s", wait.as_secs())).unwrap_or_default()
}

fn words(code: &Option<String>, reason: &Option<String>) -> String {
    let code = code.as_ref().map(|code| format!(", code {code}")).unwrap_or_default();
    let reason = reason.as_ref().map(|reason| format!(", \"{reason}\"")).unwrap_or_default();
    code + &reason
}

fn last_seen(last: Option<&StatusReport>) -> String {
    last.map_or_else(|| "and no status was ever seen".to_owned(), |last| format!("last seen as {}", last.status))
}

// Errors of gateways that are not Kassa's own: of a test stub, or of another [`PaymentGateway`](crate::PaymentGateway).

/// For a [`PaymentGateway`](crate::PaymentGateway) of your own, such as a test stub. Variants cannot be constructed directly, because a
/// later version may add fields to them.
///
/// ```
/// use kassa::PaymentError;
///
/// let error = PaymentError::refused(400).with_code("51").with_reason("Insufficient funds");
/// assert_eq!((error.kind(), error.code()), ("Refused", Some("51")));
/// ```
impl PaymentError {
    /// [`Invalid`](Self::Invalid), with every rule that is broken.
    pub fn of_violations(violations: Vec<Violation>) -> Self {
        Self::Invalid { violations }
    }

    /// [`Misconfigured`](Self::Misconfigured), for a setting or an environment with which no call can succeed.
    pub fn misconfigured(detail: impl Into<String>) -> Self {
        Self::Misconfigured { detail: detail.into(), http_status: None, code: None, body: None }
    }

    /// [`Unauthorized`](Self::Unauthorized), with the HTTP status 401.
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::Unauthorized { detail: detail.into(), http_status: 401, code: None, body: String::new() }
    }

    /// [`Unavailable`](Self::Unavailable), with no response.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        Self::Unavailable { detail: detail.into(), retry_after: None, http_status: None, code: None, body: None }
    }

    /// [`Refused`](Self::Refused).
    pub fn refused(http_status: u16) -> Self {
        Self::Refused { http_status, code: None, reason: None, body: String::new() }
    }

    /// [`OutcomeUnknown`](Self::OutcomeUnknown), with no response.
    pub fn outcome_unknown(payment: PaymentRef, detail: impl Into<String>) -> Self {
        let (payment, detail) = (payment.into(), detail.into());
        Self::OutcomeUnknown { payment, http_status: None, code: None, reason: None, detail, body: None }
    }

    /// [`Unexpected`](Self::Unexpected), with the HTTP status 200.
    pub fn unexpected(detail: impl Into<String>) -> Self {
        Self::Unexpected { detail: detail.into(), http_status: 200, code: None, body: String::new() }
    }

    /// [`DeadlineExpired`](Self::DeadlineExpired), with the last status that was seen.
    pub fn deadline_expired(last: Option<StatusReport>) -> Self {
        Self::DeadlineExpired { last: last.map(Box::new) }
    }

    /// Sets the gateway's code, if the variant has one.
    #[must_use]
    pub fn with_code(mut self, given: impl Into<String>) -> Self {
        match &mut self {
            Self::Misconfigured { code, .. }
            | Self::Unauthorized { code, .. }
            | Self::Unavailable { code, .. }
            | Self::Refused { code, .. }
            | Self::OutcomeUnknown { code, .. }
            | Self::Unexpected { code, .. } => *code = Some(given.into()),
            Self::Invalid { .. } | Self::DeadlineExpired { .. } => {}
        }
        self
    }

    /// Sets the gateway's message, if the variant has one: [`Refused`](Self::Refused) and [`OutcomeUnknown`](Self::OutcomeUnknown).
    #[must_use]
    pub fn with_reason(mut self, given: impl Into<String>) -> Self {
        if let Self::Refused { reason, .. } | Self::OutcomeUnknown { reason, .. } = &mut self {
            *reason = Some(given.into());
        }
        self
    }

    /// Sets the HTTP status and the body of the response, if the variant has them.
    #[must_use]
    pub fn with_response(mut self, status: u16, given: impl Into<String>) -> Self {
        match &mut self {
            Self::Misconfigured { http_status, body, .. }
            | Self::Unavailable { http_status, body, .. }
            | Self::OutcomeUnknown { http_status, body, .. } => {
                (*http_status, *body) = (Some(status), Some(given.into()));
            }
            Self::Unauthorized { http_status, body, .. }
            | Self::Refused { http_status, body, .. }
            | Self::Unexpected { http_status, body, .. } => (*http_status, *body) = (status, given.into()),
            Self::Invalid { .. } | Self::DeadlineExpired { .. } => {}
        }
        self
    }

    /// Sets the gateway's `Retry-After`, if the variant is [`Unavailable`](Self::Unavailable).
    #[must_use]
    pub fn with_retry_after(mut self, given: Duration) -> Self {
        if let Self::Unavailable { retry_after, .. } = &mut self {
            *retry_after = Some(given);
        }
        self
    }
}
