//! What a route of the admin interface is: where it is, what it takes, how it answers, and how it is described.

use axum::http::{Method, StatusCode};
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

use crate::{
    admin::{
        answer::{Answer, Failure},
        call::Call,
    },
    state::State,
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
    /// The JSON Schema of the body, where there is one.
    pub(crate) body: Option<fn() -> Value>,
    pub(crate) needs_body: bool,
    /// A body that it takes.
    pub(crate) example: &'static str,
    pub(crate) success: StatusCode,
    /// What a success says, if anything.
    pub(crate) says: Option<fn(&mut SchemaGenerator) -> Schema>,
    pub(crate) refusals: &'static [Refused],
    pub(super) answer: fn(&State, &Call<'_>) -> Result<Answer, Failure>,
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
        answer: fn(&State, &Call<'_>) -> Result<Answer, Failure>,
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
            answer,
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
