//! Errors of gateways that are not Kassa's own: of a test stub, or of whatever else stands behind a
//! [`PaymentGateway`](crate::PaymentGateway).

use std::time::Duration;

use crate::values::{error::PaymentError, payment_ref::PaymentRef, status::StatusReport, violation::Violation};

/// For a [`PaymentGateway`](crate::PaymentGateway) of your own, as a test stub is one. Variants cannot be written out,
/// because a later version may add fields to them.
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

    /// [`Misconfigured`](Self::Misconfigured), by a setting or an environment with which nothing can work.
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

    /// The same with the gateway's code, where the variant has one.
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

    /// The same with the gateway's own words, where the variant has them: [`Refused`](Self::Refused) and
    /// [`OutcomeUnknown`](Self::OutcomeUnknown).
    #[must_use]
    pub fn with_reason(mut self, given: impl Into<String>) -> Self {
        if let Self::Refused { reason, .. } | Self::OutcomeUnknown { reason, .. } = &mut self {
            *reason = Some(given.into());
        }
        self
    }

    /// The same with a response, where the variant has one: its HTTP status and its body.
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

    /// The same with how long the gateway asked to wait, where the variant is [`Unavailable`](Self::Unavailable).
    #[must_use]
    pub fn with_retry_after(mut self, given: Duration) -> Self {
        if let Self::Unavailable { retry_after, .. } = &mut self {
            *retry_after = Some(given);
        }
        self
    }
}
