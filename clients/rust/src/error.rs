//! Why a call to the server, or the verification of an event, failed.

use std::{fmt, time::Duration};

use serde::Deserialize;
use thiserror::Error as ThisError;

/// Why a call failed. Its text never contains the API key or a secret.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// The API key is wrong or revoked (401). Make another one with `kassa-server keys new`.
    #[error("{0}")]
    WrongKey(Box<Problem>),
    /// There is no such checkout or payment (404).
    #[error("{0}")]
    NotFound(Box<Problem>),
    /// The stored state prevents the request (409, 422). [`Problem::state`] says in which state the checkout or payment is.
    /// `reference_used`: the reference belongs to a checkout with other content. To take another payment for the same order, use
    /// another reference, such as `order-17.2`.
    #[error("{0}")]
    Conflict(Box<Problem>),
    /// The server's database was restored from a backup that lacks the cursor's event (410).
    ///
    /// Read on from `next`. It lies an hour before the lost event, so known events can come again, and an outcome
    /// that the server finds again has a new identifier. Recognise by the order, not only by the event's identifier,
    /// what you have already delivered.
    #[error("{problem} Read on from the cursor {next:?}: events that you know can come again.")]
    HistoryGone {
        /// The server's problem details.
        problem: Box<Problem>,
        /// The cursor to continue from.
        next: String,
    },
    /// The server refused the request for another reason (4xx). Nothing was changed; a repetition does not help.
    #[error("{0}")]
    Refused(Box<Problem>),
    /// The server could not be reached, failed (500), or cannot answer now, after all attempts (408, 429, 502, 503, 504).
    ///
    /// The request may have been executed. You can repeat it: the same reference opens no second checkout.
    #[error("{detail}")]
    Unavailable {
        /// What happened, with the server's address.
        detail: String,
        /// The HTTP status of the last response. None if there was none.
        status: Option<u16>,
        /// How long the server asks to wait (`Retry-After`). None if it does not say.
        retry_after: Option<Duration>,
    },
    /// The response is not one of kassa-server. Usually something else answers at this address: a proxy, a login page.
    ///
    /// With a `status` of 500 or more, or of 200, the request may have been executed.
    #[error("HTTP {status}: {detail}. The response begins with: {text:?}")]
    BadResponse {
        /// What is wrong with it.
        detail: String,
        /// The HTTP status.
        status: u16,
        /// The first 200 characters, with secrets masked.
        text: String,
    },
}

impl Error {
    /// The server's problem details, if it refused the request.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::WrongKey(problem) | Self::NotFound(problem) | Self::Conflict(problem) | Self::Refused(problem) => {
                Some(problem)
            }
            Self::HistoryGone { problem, .. } => Some(problem),
            Self::Unavailable { .. } | Self::BadResponse { .. } => None,
        }
    }

    /// Whether the same request can succeed later.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable { .. } | Self::BadResponse { status: 500.., .. })
    }
}

/// Problem details (RFC 9457): why the server refused a request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The HTTP status, such as 400.
    pub status: u16,
    /// The problem's name, for programs: the last part of `type`, such as `invalid` or `reference_used`.
    pub kind: String,
    /// What is wrong, in a sentence.
    pub detail: String,
    /// Every rule that the request breaks.
    pub violations: Vec<FieldViolation>,
    /// The state of the checkout or payment that prevents the request, if that is why.
    pub state: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HTTP {} ({}): {}", self.status, self.kind, self.detail)?;
        if let Some(state) = &self.state {
            write!(f, " Its state is {state}.")?;
        }
        for (place, each) in self.violations.iter().enumerate() {
            f.write_str(if place == 0 { " " } else { "; " })?;
            // The server's sentences begin with their field.
            if !each.text.starts_with(&each.field) {
                write!(f, "{}: ", each.field)?;
            }
            f.write_str(&each.text)?;
        }
        Ok(())
    }
}

/// A rule that a field of the request breaks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct FieldViolation {
    /// The field of the body, the parameter or the header, by its name on the wire, such as `return_url`.
    pub field: String,
    /// The rule's name, for programs.
    pub rule: String,
    /// One sentence that says what is allowed.
    pub text: String,
}

/// Why an event is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EventErrorReason {
    /// A secret is not `whsec_` and base64 of 24 to 64 bytes, or there is none. A mistake in the shop's settings.
    MalformedSecret,
    /// `webhook-id`, `webhook-timestamp` or `webhook-signature` is missing.
    MissingHeader,
    /// `webhook-timestamp` is not a number of seconds.
    MalformedTimestamp,
    /// It was sent too long ago.
    TooOld,
    /// It was sent in the future: the clocks differ.
    TooNew,
    /// `webhook-signature` has no signature of the version `v1`.
    MalformedSignature,
    /// No secret made any of the signatures.
    WrongSignature,
    /// The signature is right, and the body is not an event.
    MalformedEvent,
}

/// The event is not accepted. **Do nothing that it says.** Log why, and answer with 401 without the reason.
///
/// [`EventErrorReason::MalformedSecret`] is the shop's own mistake: every event is refused. Answer with 500, and alert somebody.
#[derive(Clone, Debug, PartialEq, Eq, ThisError)]
#[error("{detail}")]
#[non_exhaustive]
pub struct EventError {
    /// Why, for programs.
    pub reason: EventErrorReason,
    /// Why, and what to do.
    pub detail: String,
}

impl EventError {
    pub(crate) fn new(reason: EventErrorReason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}
