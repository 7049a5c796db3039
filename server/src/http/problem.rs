//! Error responses as problem details (RFC 9457): what is wrong, field by field, and what to do.

use std::{
    sync::LazyLock,
    time::{Duration, Instant},
};

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use strum::{EnumIter, IntoStaticStr};

use crate::{
    net::{BodyError, retry_after},
    rate_limit::LogLimit,
    values::{
        error::{Rule, Violation},
        error::{ServerError, differing},
    },
};

/// Limits the log of failed requests: without the database there may be thousands a second.
static UNAVAILABLE: LazyLock<LogLimit> = LazyLock::new(LogLimit::default);

/// The kinds of problems. A kind's name is the end of its `type`, by which programs distinguish them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub(super) enum ProblemKind {
    Invalid,
    Unauthorized,
    NotFound,
    MethodNotAllowed,
    TooSlow,
    NotOpen,
    UnderWay,
    NotAwaited,
    NoAttemptsLeft,
    NotInDoubt,
    HistoryGone,
    TooLarge,
    UnsupportedMediaType,
    ReferenceUsed,
    KeyReused,
    TooManyRequests,
    Internal,
    Unavailable,
}

impl ProblemKind {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::Invalid => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::NotOpen | Self::UnderWay | Self::NotAwaited | Self::NoAttemptsLeft | Self::NotInDoubt => {
                StatusCode::CONFLICT
            }
            Self::HistoryGone => StatusCode::GONE,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::UnsupportedMediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::ReferenceUsed | Self::KeyReused => StatusCode::UNPROCESSABLE_ENTITY,
            Self::TooManyRequests => StatusCode::TOO_MANY_REQUESTS,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The summary of the kind, the same in every response.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Invalid => "The request is invalid. Nothing was changed.",
            Self::Unauthorized => "The API key or client token is missing, wrong, revoked or expired.",
            Self::NotFound => "Not found.",
            Self::MethodNotAllowed => "The method is not allowed for this path.",
            Self::TooSlow => "The request body did not arrive in time.",
            Self::NotOpen => "The checkout is not open.",
            Self::UnderWay => "Another payment of this checkout may still be charged. Wait for its outcome.",
            Self::NotAwaited => "The payment is not awaiting a one-time password.",
            Self::NoAttemptsLeft => "The maximum number of one-time passwords, cards or payments was reached.",
            Self::NotInDoubt => "The outcome of the payment is known or still being determined.",
            Self::HistoryGone => {
                "The database was restored and no longer contains the cursor's event. Continue reading after `next`."
            }
            Self::TooLarge => "The request body is too large.",
            Self::UnsupportedMediaType => "The request body must be application/json.",
            Self::ReferenceUsed => "The reference was already used for a checkout with other content.",
            Self::KeyReused => "The idempotency key was already used with a different request body.",
            Self::TooManyRequests => "Too many requests. Retry after the time in the Retry-After header.",
            Self::Internal => "Internal server error; the cause is in the server's log. Retry with the same key.",
            Self::Unavailable => "The server cannot process the request now. Retry with the same key.",
        }
    }
}

/// A problem response.
#[derive(Debug)]
pub(super) struct Problem {
    kind: ProblemKind,
    detail: Option<String>,
    violations: Vec<Violation>,
    /// The state of the checkout or payment that prevents the request.
    state: Option<&'static str>,
    /// The cursor from which to continue reading.
    next: Option<String>,
    retry_after: Option<Duration>,
}

/// An error, as problem details (RFC 9457).
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem", deny_unknown_fields)]
struct Body<'a> {
    /// Problem type: `urn:kassa:problem:` followed by a stable name.
    r#type: String,
    /// Summary of the problem type.
    title: &'a str,
    /// HTTP status code.
    status: u16,
    /// Explanation specific to this response. Absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    /// All violations found in the request. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<ViolationBody<'a>>,
    /// Current state of the checkout or payment that prevents the request. Absent for other problems.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
    /// Cursor from which to continue reading. Present only if the request's cursor is no longer in the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

/// A rule that a field violates.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Violation", deny_unknown_fields)]
struct ViolationBody<'a> {
    /// Name of the body field, parameter or header.
    field: &'a str,
    /// The violated rule.
    rule: &'static str,
    /// One sentence that describes the allowed values.
    text: &'a str,
}

/// The schema of every error response.
pub(super) fn schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Body<'_>>()
}

impl Problem {
    pub(super) fn new(kind: ProblemKind) -> Self {
        Self { kind, detail: None, violations: Vec::new(), state: None, next: None, retry_after: None }
    }

    pub(super) fn invalid(violations: Vec<Violation>) -> Self {
        Self { violations, ..Self::new(ProblemKind::Invalid) }
    }

    /// One rule that one field breaks.
    pub(super) fn field(field: &str, rule: Rule, sentence: &str) -> Self {
        Self::invalid(vec![Violation::new(field, rule, sentence)])
    }

    pub(super) fn retry_after(self, wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..self }
    }

    #[cfg(test)]
    pub(super) fn violations(&self) -> &[Violation] {
        &self.violations
    }

    fn with_detail(self, detail: String) -> Self {
        Self { detail: Some(detail), ..self }
    }

    fn with_state(self, state: &'static str) -> Self {
        Self { state: Some(state), ..self }
    }
}

impl From<BodyError> for Problem {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::new(ProblemKind::TooLarge),
            BodyError::TooSlow => Self::new(ProblemKind::TooSlow),
            BodyError::Broken => Self::field("body", Rule::Format, "was not received completely"),
        }
    }
}

impl From<ServerError> for Problem {
    fn from(error: ServerError) -> Self {
        let detail = error.to_string();
        match error {
            ServerError::Invalid { violations } => Self::invalid(violations),
            ServerError::NotFound { .. } => Self::new(ProblemKind::NotFound).with_detail(detail),
            ServerError::ReferenceUsed { differs } => {
                // The interface has it in seconds, as `lifetime_s`.
                let named = |field: &&'static str| if *field == "lifetime" { "lifetime_s" } else { *field };
                let fields: Vec<_> = differs.iter().map(named).collect();
                let detail =
                    format!("The checkout was opened with other content: {} not what it was.", differing(&fields));
                Self::new(ProblemKind::ReferenceUsed).with_detail(detail)
            }
            ServerError::KeyReused => Self::new(ProblemKind::KeyReused),
            ServerError::NotOpen { state } => {
                Self::new(ProblemKind::NotOpen).with_detail(detail).with_state(state.into())
            }
            ServerError::UnderWay { state } => {
                Self::new(ProblemKind::UnderWay).with_detail(detail).with_state(state.into())
            }
            ServerError::NotAwaited { state } => {
                Self::new(ProblemKind::NotAwaited).with_detail(detail).with_state(state.into())
            }
            ServerError::NotInDoubt { state } => {
                Self::new(ProblemKind::NotInDoubt).with_detail(detail).with_state(state.into())
            }
            ServerError::HistoryGone { resume } => {
                Self { next: Some(resume.to_string()), ..Self::new(ProblemKind::HistoryGone).with_detail(detail) }
            }
            ServerError::NoAttemptsLeft => Self::new(ProblemKind::NoAttemptsLeft),
            ServerError::Unavailable { detail } => {
                // Database errors are only for the operator.
                if let Some(repeated) = UNAVAILABLE.is_time(Instant::now()) {
                    tracing::error!(target: "kassa_server", detail, repeated, "a request could not be answered");
                }
                Self::new(ProblemKind::Unavailable).retry_after(Duration::from_secs(1))
            }
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.kind.status();
        let violations = self.violations.iter().map(|violation| ViolationBody {
            field: &violation.field,
            rule: violation.rule.into(),
            text: &violation.text,
        });
        let body = Body {
            r#type: format!("urn:kassa:problem:{}", <&str>::from(self.kind)),
            title: self.kind.title(),
            status: status.as_u16(),
            detail: self.detail.as_deref(),
            violations: violations.collect(),
            state: self.state,
            next: self.next.as_deref(),
        };
        let text = serde_json::to_string(&body).unwrap_or_default();
        let mut response = (status, [(header::CONTENT_TYPE, "application/problem+json")], text).into_response();
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after(wait));
        }
        if self.kind == ProblemKind::Unauthorized {
            let challenge = HeaderValue::from_static("Bearer realm=\"kassa\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        response
    }
}
