//! Refusals, in the form of RFC 9457 (problem details): what is wrong, field by field, and what to do.

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

/// Requests that could not be answered: while the database is away there may be thousands a second.
static UNAVAILABLE: LazyLock<LogLimit> = LazyLock::new(LogLimit::default);

/// The kinds of refusals. A kind's name is the end of its `type`, which programs look at.
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

    /// What it means, the same each time.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Invalid => "The request breaks rules; nothing was done.",
            Self::Unauthorized => "The key or token is missing, wrong, revoked or too old.",
            Self::NotFound => "There is no such thing.",
            Self::MethodNotAllowed => "The path does not take this method.",
            Self::TooSlow => "The body did not arrive in time.",
            Self::NotOpen => "The checkout is not open.",
            Self::UnderWay => "A payment of this checkout may still take money: wait for its end.",
            Self::NotAwaited => "The payment awaits no one-time password.",
            Self::NoAttemptsLeft => "Too many one-time passwords, cards or payments were tried.",
            Self::NotInDoubt => "What became of the payment is known, or is being found out.",
            Self::HistoryGone => {
                "The database was restored, and the cursor's event is not in it: read on after `next`."
            }
            Self::TooLarge => "The body is too large.",
            Self::UnsupportedMediaType => "The body must be application/json.",
            Self::ReferenceUsed => "This reference was used for another checkout.",
            Self::KeyReused => "This idempotency key was used with another body.",
            Self::TooManyRequests => "Too many requests: wait for as long as Retry-After says.",
            Self::Internal => "The server failed; its log says why. Try again with the same key.",
            Self::Unavailable => "The server cannot do this now. Try again with the same key.",
        }
    }
}

/// A refusal.
#[derive(Debug)]
pub(super) struct Problem {
    kind: ProblemKind,
    detail: Option<String>,
    violations: Vec<Violation>,
    /// Where the checkout or the payment stands that is in the way.
    state: Option<&'static str>,
    /// The cursor to go on from.
    next: Option<String>,
    retry_after: Option<Duration>,
}

/// What a refusal says.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem", deny_unknown_fields)]
struct Body<'a> {
    /// Its kind: `urn:kassa:problem:` and a name that never changes.
    r#type: String,
    /// What the kind means.
    title: &'a str,
    /// The HTTP status.
    status: u16,
    /// What happened this time.
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    /// The rules that are broken, all at once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    violations: Vec<ViolationBody<'a>>,
    /// Where the checkout or the payment stands that is in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
    /// The cursor to go on from, where that of the request is of a history that is gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<&'a str>,
}

/// A rule that one field breaks.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Violation", deny_unknown_fields)]
struct ViolationBody<'a> {
    /// The field of the body, the parameter or the header.
    field: &'a str,
    /// The rule.
    rule: &'static str,
    /// One sentence that says what it must be.
    text: &'a str,
}

/// What every refusal says.
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
            BodyError::Broken => Self::field("body", Rule::Format, "broke off"),
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
                // The interface counts it in seconds, and names it so.
                let named = |field: &&'static str| if *field == "lifetime" { "lifetime_s" } else { *field };
                let fields: Vec<_> = differs.iter().map(named).collect();
                let detail = format!("It was opened with other content: {} not what it was.", differing(&fields));
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
                // What a database says is for the operator.
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
