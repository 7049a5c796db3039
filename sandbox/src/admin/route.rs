//! A route of the admin interface: its path, body and description; a request to it, and its response, JSON or field errors.

use std::fmt::Display;

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;

use crate::{
    faults::FaultError,
    payments::decide::DecisionError,
    rules::{FieldError, Members},
    state::State,
    store::StoreError,
};

/// The query parameter for one order.
pub(crate) const ORDER_NUMBER: &str = "order_number";

/// One method of one path.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// With parameters in braces.
    pub(crate) path: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
    /// Whether the query may name an order.
    pub(crate) takes_order: bool,
    /// The JSON Schema of the body, if there is one.
    pub(crate) body: Option<fn() -> Value>,
    pub(crate) needs_body: bool,
    /// A body that it takes.
    pub(crate) example: &'static str,
    pub(crate) success: StatusCode,
    /// The JSON Schema of the response to a success, if it has a body.
    pub(crate) says: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(crate) refusals: &'static [Refused],
    pub(super) handle: fn(&State, &RouteRequest<'_>) -> Result<JsonResponse, AdminError>,
}

/// A refusal that not every route has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// 404.
    NotFound,
    /// 409.
    AlreadyFinal,
    /// 409.
    TooFar,
}

impl Route {
    /// The parameters' values, where the segments are those of this path.
    pub(super) fn parameters<'a>(&self, segments: &'a [String]) -> Option<Vec<&'a str>> {
        let pattern: Vec<_> = self.path.split('/').skip(1).collect();
        let is_here = pattern.len() == segments.len()
            && pattern.iter().zip(segments).all(|(part, segment)| is_parameter(part) || part == segment);
        let values = pattern.iter().zip(segments).filter(|(part, _)| is_parameter(part));
        is_here.then(|| values.map(|(_, segment)| segment.as_str()).collect())
    }

    /// The names of the path's parameters.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter(|part| is_parameter(part)).map(|part| part.trim_matches(['{', '}']))
    }

    pub(super) const fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handle: fn(&State, &RouteRequest<'_>) -> Result<JsonResponse, AdminError>,
    ) -> Self {
        Self {
            method,
            path,
            summary,
            text: "",
            takes_order: false,
            body: None,
            needs_body: false,
            example: "",
            success: StatusCode::NO_CONTENT,
            says: None,
            refusals: &[],
            handle,
        }
    }

    pub(super) const fn text(mut self, text: &'static str) -> Self {
        self.text = text;
        self
    }

    pub(super) const fn by_order(mut self) -> Self {
        self.takes_order = true;
        self
    }

    pub(super) const fn body(mut self, body: fn() -> Value, example: &'static str) -> Self {
        self.body = Some(body);
        self.example = example;
        self
    }

    pub(super) const fn needs_body(mut self, body: fn() -> Value, example: &'static str) -> Self {
        self.needs_body = true;
        self.body(body, example)
    }

    pub(super) const fn says(mut self, success: StatusCode, says: fn(&mut SchemaGenerator) -> Schema) -> Self {
        self.success = success;
        self.says = Some(says);
        self
    }

    pub(super) const fn refusals(mut self, refusals: &'static [Refused]) -> Self {
        self.refusals = refusals;
        self
    }
}

fn is_parameter(part: &str) -> bool {
    part.starts_with('{')
}

/// What a route works with.
pub(super) struct RouteRequest<'a> {
    /// The values of the path's parameters.
    pub(super) parameters: Vec<&'a str>,
    /// The order asked about, if one is.
    pub(super) order: Option<String>,
    pub(super) body: &'a [u8],
}

/// The members of a body; an empty body has none.
pub(super) fn read_members(body: &[u8]) -> Result<Members, AdminError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Members::new([]));
    }
    Members::from_json(body).map_err(|error| AdminError::invalid(vec![error]))
}

/// JSON, or nothing at all.
pub(super) struct JsonResponse {
    status: StatusCode,
    body: String,
}

impl JsonResponse {
    pub(super) fn json(status: StatusCode, value: &impl Serialize) -> Result<Self, AdminError> {
        let body = serde_json::to_string(value).map_err(|error| AdminError::internal(&error))?;
        Ok(Self { status, body })
    }

    pub(super) fn nothing() -> Self {
        Self { status: StatusCode::NO_CONTENT, body: String::new() }
    }
}

impl IntoResponse for JsonResponse {
    fn into_response(self) -> Response {
        response(self.status, self.body, None)
    }
}

/// An error response: an HTTP status, and the field errors.
pub(super) struct AdminError {
    status: StatusCode,
    errors: Vec<FieldError>,
    header: Option<(HeaderName, HeaderValue)>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Errors<'a> {
    /// Errors by field.
    errors: &'a [FieldError],
}

/// The JSON Schema of every error response.
pub(crate) fn errors_schema(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<Errors<'_>>()
}

impl AdminError {
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
        let failure =
            Self::new(StatusCode::UNAUTHORIZED, "authorization", "must be a Bearer header with the admin token");
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
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "sandbox", "failed; the cause is in its log")
    }
}

impl From<StoreError> for AdminError {
    fn from(error: StoreError) -> Self {
        Self::internal(&error)
    }
}

impl From<FaultError> for AdminError {
    fn from(error: FaultError) -> Self {
        Self::invalid(error.errors)
    }
}

impl From<DecisionError> for AdminError {
    fn from(error: DecisionError) -> Self {
        match &error {
            DecisionError::NotFound => Self::not_found("number", &error.to_string()),
            DecisionError::AlreadyFinal(_) => Self::new(StatusCode::CONFLICT, "number", error.to_string()),
            DecisionError::NoAmount => Self::new(StatusCode::BAD_REQUEST, "amount", error.to_string()),
            DecisionError::Failed(detail) => Self::internal(detail),
        }
    }
}

impl IntoResponse for AdminError {
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
