//! The nine endpoints.

use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};
use time::Date;

use crate::{
    endpoints::{AskedFor, ENDPOINTS, Endpoint, Fields, Input},
    openapi::{
        envelope,
        operation::{add, with_text},
    },
};

pub(super) const TAG: &str = "gateway";
pub(super) const SECURITY: &str = "merchant";

/// Adds all of them.
pub(super) fn describe(generator: &mut SchemaGenerator, paths: &mut Map<String, Value>, today: Date) {
    for endpoint in &ENDPOINTS {
        let operation = operation(generator, endpoint, today);
        add(paths, endpoint.name.path(), endpoint.method.as_str(), operation);
    }
}

fn operation(generator: &mut SchemaGenerator, endpoint: &Endpoint, today: Date) -> Value {
    let asked_for = Fields::asked_for_by(endpoint.description.take);
    let operation = json!({
        "operationId": endpoint.name.as_str().replace('/', "-"),
        "tags": [TAG],
        "summary": endpoint.description.summary,
        "security": [{ SECURITY: [] }],
        "responses": envelope::responses(generator, &endpoint.description),
    });
    let mut operation = with_text(operation, endpoint.description.text);
    if endpoint.input != Input::Query {
        let is_required = endpoint.input == Input::Body;
        operation["requestBody"] = body(&asked_for, today, is_required, endpoint.description.example);
    }
    if endpoint.input != Input::Body {
        operation["parameters"] = parameters(&asked_for);
    }
    operation
}

fn body(asked_for: &AskedFor, today: Date, is_required: bool, example: &str) -> Value {
    let example: Value = serde_json::from_str(example).unwrap_or_default();
    json!({
        "required": is_required,
        "content": { "application/json": { "schema": object(asked_for, today), "example": example } },
    })
}

/// The fields as the members of an object that has no others.
fn object(asked_for: &AskedFor, today: Date) -> Value {
    let properties: Map<_, _> =
        asked_for.fields.iter().map(|field| (field.name.to_owned(), field.shape.schema())).collect();
    let required: Vec<_> = asked_for.fields.iter().filter(|field| field.is_required).map(|field| field.name).collect();
    let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !asked_for.spanning.is_empty() {
        object["allOf"] = asked_for.spanning.iter().map(|rule| rule.schema(today)).collect();
    }
    object
}

fn parameters(asked_for: &AskedFor) -> Value {
    let parameters = asked_for.fields.iter().map(|field| {
        json!({ "name": field.name, "in": "query", "required": field.is_required, "schema": field.shape.schema() })
    });
    parameters.collect()
}
