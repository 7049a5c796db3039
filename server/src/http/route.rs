//! The definition of a route: path, permitted callers, request, response and description.

use std::sync::Arc;

use axum::{
    http::{Method, StatusCode},
    routing::{MethodFilter, MethodRouter},
};
use schemars::{Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::{
    access::Audience,
    field::{Field, Kind},
    problem::ProblemKind,
    request::{ApiState, JsonBody},
};
use crate::{checkouts::new_checkout::TakenMethods, server::LONGEST_KEY, values::error::Rule};

const KEY: Kind = Kind::Form {
    schema: || json!({ "pattern": format!("^[0-9A-Za-z_-]{{1,{LONGEST_KEY}}}$") }),
    check: |checks, name, text| {
        let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
        if text.is_empty() || text.len() > LONGEST_KEY || !is_plain {
            checks.fail(name, Rule::Format, "must be 1 to 64 letters, digits, hyphens and underscores");
        } else {
            checks.text(name, text, LONGEST_KEY);
        }
    },
};
/// The header of requests that move money.
pub(super) const IDEMPOTENCY_KEY: Field = Field::required("Idempotency-Key", KEY).about(
    "A key that the caller generates for this attempt. The same key with the same body returns the same payment.",
);

/// The body of a route's requests.
#[derive(Clone, Copy)]
pub(super) enum RequestBody {
    /// None, or an empty object.
    None,
    /// A JSON object.
    Json {
        /// Its JSON Schema.
        schema: fn(taken: TakenMethods) -> Value,
        /// A valid example.
        example: &'static str,
    },
    /// Any format.
    Any,
}

/// One method of one path.
pub(super) struct Route {
    pub(super) method: Method,
    /// With parameters in braces.
    pub(super) path: &'static str,
    /// Its name in generated clients.
    pub(super) id: &'static str,
    pub(super) access: Audience,
    pub(super) summary: &'static str,
    pub(super) text: &'static str,
    pub(super) query: &'static [Field],
    pub(super) body: RequestBody,
    /// Whether it needs an idempotency key.
    pub(super) needs_key: bool,
    pub(super) success: &'static [StatusCode],
    pub(super) schema: fn(&mut SchemaGenerator) -> Schema,
    /// Examples of the response, by name.
    pub(super) examples: Option<fn() -> Value>,
    /// The errors in addition to those of every route.
    pub(super) refusals: &'static [ProblemKind],
    pub(super) handler: fn(MethodFilter) -> MethodRouter<Arc<ApiState>>,
}

impl Route {
    pub(super) const fn new(
        method: Method,
        path: &'static str,
        id: &'static str,
        access: Audience,
        summary: &'static str,
        schema: fn(&mut SchemaGenerator) -> Schema,
        handler: fn(MethodFilter) -> MethodRouter<Arc<ApiState>>,
    ) -> Self {
        Self {
            method,
            path,
            id,
            access,
            summary,
            text: "",
            query: &[],
            body: RequestBody::None,
            needs_key: false,
            success: &[StatusCode::OK],
            schema,
            examples: None,
            refusals: &[],
            handler,
        }
    }

    pub(super) const fn text(mut self, text: &'static str) -> Self {
        self.text = text;
        self
    }

    pub(super) const fn query(mut self, query: &'static [Field]) -> Self {
        self.query = query;
        self
    }

    pub(super) const fn json<T: JsonBody>(mut self) -> Self {
        self.body = RequestBody::Json { schema: T::schema, example: T::EXAMPLE };
        self
    }

    pub(super) const fn any_body(mut self) -> Self {
        self.body = RequestBody::Any;
        self
    }

    pub(super) const fn needs_key(mut self) -> Self {
        self.needs_key = true;
        self
    }

    pub(super) const fn success(mut self, success: &'static [StatusCode]) -> Self {
        self.success = success;
        self
    }

    pub(super) const fn examples(mut self, examples: fn() -> Value) -> Self {
        self.examples = Some(examples);
        self
    }

    pub(super) const fn refusals(mut self, refusals: &'static [ProblemKind]) -> Self {
        self.refusals = refusals;
        self
    }

    /// The names of the path's parameters.
    pub(super) fn parameter_names(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter(|part| part.starts_with('{')).map(|part| part.trim_matches(['{', '}']))
    }
}
