//! Answers of the admin interface: JSON, or what is wrong with which field.

use std::fmt::Display;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;

use crate::{faults::FaultError, payments::decide::DecisionError, rules::FieldError, store::StoreError};

/// JSON, or nothing at all.
pub(super) struct Answer {
    status: StatusCode,
    body: String,
}

impl Answer {
    pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, Failure> {
        let body = serde_json::to_string(value).map_err(|error| Failure::internal(&error))?;
        Ok(Self { status, body })
    }

    pub(super) fn nothing() -> Self {
        Self { status: StatusCode::NO_CONTENT, body: String::new() }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        response(self.status, self.body, None)
    }
}

/// Why it says no: an HTTP status, and what is wrong with which field.
pub(super) struct Failure {
    status: StatusCode,
    errors: Vec<FieldError>,
    header: Option<(HeaderName, HeaderValue)>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Errors<'a> {
    /// What is wrong, field by field.
    errors: &'a [FieldError],
}

/// What every failure says.
pub(crate) fn errors_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Errors<'_>>()
}

impl Failure {
    fn new(status: StatusCode, field: &str, message: impl Into<String>) -> Self {
        Self { status, errors: vec![FieldError::new(field, message)], header: None }
    }

    /// What is wrong with which field.
    pub(super) fn into_errors(self) -> Vec<FieldError> {
        self.errors
    }

    pub(super) fn invalid(errors: Vec<FieldError>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, errors, header: None }
    }

    pub(super) fn unauthorized() -> Self {
        let challenge = (header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"kassa-sandbox admin\""));
        let failure = Self::new(StatusCode::UNAUTHORIZED, "authorization", "must be Bearer and the admin token");
        Self { header: Some(challenge), ..failure }
    }

    pub(super) fn not_found(field: &str, message: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, field, message)
    }

    pub(super) fn too_far(message: &str) -> Self {
        Self::new(StatusCode::CONFLICT, "ms", message)
    }

    pub(super) fn wrong_method(allowed: &str) -> Self {
        let failure = Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", format!("must be one of {allowed}"));
        Self { header: HeaderValue::from_str(allowed).ok().map(|allowed| (header::ALLOW, allowed)), ..failure }
    }

    pub(super) fn internal(error: &dyn Display) -> Self {
        tracing::error!(%error, "an admin request failed inside the sandbox");
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "sandbox", "failed; its log says why")
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::internal(&error)
    }
}

impl From<FaultError> for Failure {
    fn from(error: FaultError) -> Self {
        Self::invalid(error.errors)
    }
}

impl From<DecisionError> for Failure {
    fn from(error: DecisionError) -> Self {
        match &error {
            DecisionError::NotFound => Self::not_found("number", &error.to_string()),
            DecisionError::AlreadyFinal(_) => Self::new(StatusCode::CONFLICT, "number", error.to_string()),
            DecisionError::NoAmount => Self::new(StatusCode::BAD_REQUEST, "amount", error.to_string()),
            DecisionError::Failed(detail) => Self::internal(detail),
        }
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        let body = serde_json::to_string(&Errors { errors: &self.errors }).unwrap_or_default();
        response(self.status, body, self.header)
    }
}

fn response(status: StatusCode, body: String, header: Option<(HeaderName, HeaderValue)>) -> Response {
    let is_empty = body.is_empty();
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    if !is_empty {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.extend(header);
    response
}
