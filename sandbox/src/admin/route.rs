//! A route of the admin interface: its path, body and description; its extractors, and its response, JSON or field errors.

use std::{convert::Infallible, fmt::Display, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::{self, FromRequest, FromRequestParts, Request},
    http::{HeaderName, HeaderValue, Method, StatusCode, Uri, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
    routing::{MethodFilter, MethodRouter, on},
};
use percent_encoding::percent_decode_str;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::{
    encoding::FormPairs,
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
    /// The JSON Schema of the body, if any.
    pub(crate) body: Option<fn() -> Value>,
    pub(crate) needs_body: bool,
    /// A body that the route accepts.
    pub(crate) example: &'static str,
    pub(crate) success: StatusCode,
    /// The JSON Schema of a success response's body, if any.
    pub(crate) responds: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(crate) rejections: &'static [RejectionKind],
    pub(super) handler: fn(MethodFilter) -> MethodRouter<Arc<State>>,
}

/// An error that only some routes return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RejectionKind {
    /// 404.
    NotFound,
    /// 409.
    AlreadyFinal,
    /// 409.
    TooFar,
}

impl Route {
    /// The method, as axum names it.
    pub(super) fn filter(&self) -> MethodFilter {
        match self.method {
            Method::GET => MethodFilter::GET,
            Method::PATCH => MethodFilter::PATCH,
            Method::DELETE => MethodFilter::DELETE,
            _ => MethodFilter::POST,
        }
    }

    /// The id of the operation in the description: method and path, with hyphens for slashes.
    pub(crate) fn operation_id(&self) -> String {
        let path = self.path.replace(['{', '}'], "").replace('/', "-");
        format!("{}{path}", self.method.as_str().to_ascii_lowercase())
    }

    /// The names of the path's parameters.
    pub(crate) fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter(|part| part.starts_with('{')).map(|part| part.trim_matches(['{', '}']))
    }

    pub(super) const fn new(
        method: Method,
        path: &'static str,
        summary: &'static str,
        handler: fn(MethodFilter) -> MethodRouter<Arc<State>>,
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
            responds: None,
            rejections: &[],
            handler,
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

    pub(super) const fn responds(mut self, success: StatusCode, responds: fn(&mut SchemaGenerator) -> Schema) -> Self {
        self.success = success;
        self.responds = Some(responds);
        self
    }

    pub(super) const fn rejections(mut self, rejections: &'static [RejectionKind]) -> Self {
        self.rejections = rejections;
        self
    }
}

/// A handler that runs on a blocking thread, with the input that `T` extracts from the request.
pub(super) fn handler<T, Via>(
    method: MethodFilter,
    work: fn(&State, T) -> Result<JsonResponse, AdminError>,
) -> MethodRouter<Arc<State>>
where
    T: FromRequest<Arc<State>, Via> + Send + 'static,
    Via: 'static,
{
    let respond = async move |extract::State(state): extract::State<Arc<State>>, input: T| {
        spawn_blocking(move || work(&state, input)).await.unwrap_or_else(|error| Err(AdminError::internal(&error)))
    };
    on(method, respond)
}

/// The order number in the query, if any.
pub(crate) struct OrderQuery(pub(super) Option<String>);

impl<S: Sync> FromRequestParts<S> for OrderQuery {
    type Rejection = AdminError;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, AdminError> {
        let mut query = query(&parts.uri);
        let order = query.text(ORDER_NUMBER);
        query.finish().map_err(AdminError::invalid)?;
        Ok(Self(order))
    }
}

/// Middleware of routes without query parameters: any parameter is an error.
pub(super) async fn reject_query(request: Request, next: Next) -> Response {
    match query(request.uri()).finish() {
        Ok(()) => next.run(request).await,
        Err(errors) => AdminError::invalid(errors).into_response(),
    }
}

fn query(uri: &Uri) -> Members {
    let pairs = FormPairs::parse(uri.query().unwrap_or_default().as_bytes());
    Members::new(pairs.into_iter().map(|(name, value)| (name, Value::from(value))))
}

/// The parameter of a path: its third segment, in every path that has one. Unlike axum's `Path`,
/// it decodes lossily: no payment number is invalid UTF-8, so such a number is not found.
pub(crate) struct PathParameter(pub(crate) String);

impl<S: Sync> FromRequestParts<S> for PathParameter {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let segment = parts.uri.path().split('/').nth(3).unwrap_or_default();
        Ok(Self(percent_decode_str(segment).decode_utf8_lossy().into_owned()))
    }
}

/// The members of a body; an empty body has none.
impl<S: Send + Sync> FromRequest<S> for Members {
    type Rejection = AdminError;

    async fn from_request(request: Request, state: &S) -> Result<Self, AdminError> {
        let body = Bytes::from_request(request, state).await;
        let body = body.map_err(|_| AdminError::invalid(vec![FieldError::new("body", "could not be read")]))?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self::new([]));
        }
        Self::from_json(&body).map_err(|error| AdminError::invalid(vec![error]))
    }
}

/// JSON, or an empty body.
pub(crate) struct JsonResponse {
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
pub(crate) struct AdminError {
    status: StatusCode,
    pub(crate) errors: Vec<FieldError>,
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
