//! Error responses: why an endpoint rejects a request, with HTTP status, code, message and data.

use axum::http::{HeaderValue, StatusCode, header};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    domain::{Language, PaymentStatus, codes},
    endpoints::Response,
    messages::Message,
    payments::transition::RegisterError,
    rules::Violation,
    store::StoreError,
    web::BodyError,
};

/// The challenge of HTTP Basic authentication.
const CHALLENGE: &str = "Basic realm=\"kassa-sandbox\", charset=\"UTF-8\"";

/// Why an endpoint rejects a request.
#[derive(Debug)]
pub(crate) enum Rejection {
    NotJson,
    NotObject,
    BodyTooLarge,
    BodyTooSlow,
    Invalid(Vec<Violation>),
    Unauthorized,
    WrongMethod {
        allowed: &'static str,
    },
    ReusedOrderNumber,
    NotFound,
    WrongOtp {
        order_number: String,
        status: PaymentStatus,
        attempts_left: u32,
    },
    NotAwaitingOtp {
        order_number: String,
        status: PaymentStatus,
    },
    /// A MegaPay PIN that has expired.
    PinExpired {
        order_number: String,
    },
    /// A fault is set.
    TooManyRequests {
        retry_after: Option<u32>,
    },
    /// A fault is set.
    Unavailable {
        retry_after: Option<u32>,
    },
    /// The outcome of the test card `error`.
    CardError,
    Internal(String),
}

impl From<StoreError> for Rejection {
    fn from(error: StoreError) -> Self {
        Self::Internal(error.to_string())
    }
}

impl From<RegisterError> for Rejection {
    fn from(error: RegisterError) -> Self {
        match error {
            RegisterError::ReusedOrderNumber => Self::ReusedOrderNumber,
            RegisterError::Store(error) => error.into(),
        }
    }
}

impl From<BodyError> for Rejection {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::BodyTooLarge,
            BodyError::TooSlow => Self::BodyTooSlow,
            BodyError::Broken => Self::NotJson,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct OtpState<'a> {
    /// The merchant's order number.
    #[serde(rename = "orderNumber")]
    order_number: &'a str,
    /// The payment's state.
    #[schemars(extend("enum" = PaymentStatus::ALL.map(PaymentStatus::as_str)))]
    status: &'a str,
    /// Remaining attempts. Absent if no attempt was made.
    #[serde(rename = "attemptsLeft", skip_serializing_if = "Option::is_none")]
    attempts_left: Option<u32>,
}

/// The JSON Schema of the data about a rejected one-time password.
pub(crate) fn otp_state_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<OtpState<'_>>()
}

/// The JSON Schema of a violation.
pub(crate) fn field_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "field": { "type": "string", "description": "Name of the field." },
            "message": { "type": "string", "description": "The violated rule." },
        },
        "required": ["field", "message"],
        "additionalProperties": false,
    })
}

impl Rejection {
    /// The response in the given language.
    pub(crate) fn response(&self, language: Language) -> Response {
        let nothing = Map::new();
        let say = |status, code, message: Message| Response::envelope(status, code, &language.say(message), &nothing);
        match self {
            Self::NotJson => say(StatusCode::BAD_REQUEST, codes::INVALID, Message::NotJson),
            Self::NotObject => say(StatusCode::BAD_REQUEST, codes::INVALID, Message::NotObject),
            Self::BodyTooLarge => say(StatusCode::PAYLOAD_TOO_LARGE, codes::TOO_LARGE, Message::BodyTooLarge),
            Self::BodyTooSlow => say(StatusCode::REQUEST_TIMEOUT, codes::TIMEOUT, Message::BodyTooSlow),
            Self::Invalid(violations) => invalid(language, violations),
            Self::Unauthorized => say(StatusCode::UNAUTHORIZED, codes::UNAUTHORIZED, Message::WrongCredentials)
                .with_header(header::WWW_AUTHENTICATE, HeaderValue::from_static(CHALLENGE)),
            Self::WrongMethod { allowed } => {
                say(StatusCode::METHOD_NOT_ALLOWED, codes::WRONG_METHOD, Message::WrongMethod(allowed))
                    .with_header(header::ALLOW, HeaderValue::from_static(allowed))
            }
            Self::ReusedOrderNumber => say(StatusCode::CONFLICT, codes::CONFLICT, Message::ReusedOrderNumber),
            Self::NotFound => say(StatusCode::NOT_FOUND, codes::NOT_FOUND, Message::PaymentNotFound),
            Self::WrongOtp { order_number, status, attempts_left } => Response::envelope(
                StatusCode::BAD_REQUEST,
                codes::WRONG_OTP,
                &language.say(Message::WrongOtp(*attempts_left)),
                &OtpState { order_number, status: status.as_str(), attempts_left: Some(*attempts_left) },
            ),
            Self::NotAwaitingOtp { order_number, status } => Response::envelope(
                StatusCode::CONFLICT,
                codes::CONFLICT,
                &language.say(Message::NotAwaitingOtp),
                &OtpState { order_number, status: status.as_str(), attempts_left: None },
            ),
            Self::PinExpired { order_number } => Response::envelope(
                StatusCode::BAD_REQUEST,
                codes::WRONG_OTP,
                &language.say(Message::PinExpired),
                &OtpState { order_number, status: PaymentStatus::Created.as_str(), attempts_left: None },
            ),
            Self::TooManyRequests { retry_after } => with_retry_after(
                say(StatusCode::TOO_MANY_REQUESTS, codes::TOO_MANY, Message::TooManyRequests),
                *retry_after,
            ),
            Self::Unavailable { retry_after } => with_retry_after(
                say(StatusCode::SERVICE_UNAVAILABLE, codes::UNAVAILABLE, Message::Unavailable),
                *retry_after,
            ),
            Self::CardError => say(StatusCode::INTERNAL_SERVER_ERROR, codes::INTERNAL, Message::ProcessingError),
            Self::Internal(detail) => {
                tracing::error!(%detail, "a request failed inside the sandbox");
                say(StatusCode::INTERNAL_SERVER_ERROR, codes::INTERNAL, Message::InternalError)
            }
        }
    }
}

fn with_retry_after(response: Response, seconds: Option<u32>) -> Response {
    match seconds {
        Some(seconds) => response.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)),
        None => response,
    }
}

/// HTTP 400 with a message that lists every field, and the same as data for programs.
fn invalid(language: Language, violations: &[Violation]) -> Response {
    let words: Vec<(&str, String)> =
        violations.iter().map(|violation| (violation.field.as_str(), language.explain(violation.problem))).collect();
    let sentence = words.iter().map(|(field, text)| format!("{field}: {text}")).collect::<Vec<_>>().join("; ");
    let errors: Vec<_> = words.iter().map(|(field, text)| json!({ "field": field, "message": text })).collect();
    Response::envelope(StatusCode::BAD_REQUEST, codes::INVALID, &sentence, &json!({ "errors": errors }))
}
