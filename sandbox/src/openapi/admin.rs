//! The admin interface.

use axum::http::StatusCode;
use schemars::SchemaGenerator;
use serde_json::{Map, Value, json};

use crate::{
    admin::{self, ORDER_NUMBER, ROUTES, Refused, Route},
    openapi::{
        envelope::{header, json_response, with_headers},
        operation::{add, with_text},
    },
    rules::non_blank,
};

pub(super) const TAG: &str = "admin";
pub(super) const SECURITY: &str = "admin";

/// Adds all routes.
pub(super) fn describe(generator: &mut SchemaGenerator, paths: &mut Map<String, Value>) {
    for route in &ROUTES {
        add(paths, route.path, route.method.as_str(), operation(generator, route));
    }
}

fn operation(generator: &mut SchemaGenerator, route: &Route) -> Value {
    let operation = json!({
        "operationId": id(route),
        "tags": [TAG],
        "summary": route.summary,
        "security": [{ SECURITY: [] }],
        "responses": responses(generator, route),
    });
    let mut operation = with_text(operation, route.text);
    if let Some(body) = route.body {
        let example: Value = serde_json::from_str(route.example).unwrap_or_default();
        operation["requestBody"] = json!({
            "required": route.needs_body,
            "content": { "application/json": { "schema": body(), "example": example } },
        });
    }
    let mut parameters: Vec<_> = route.parameter_names().map(|name| parameter(name, "path", true)).collect();
    if route.takes_order {
        parameters.push(parameter(ORDER_NUMBER, "query", false));
    }
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    operation
}

/// Of the method and the path, with what has no place in a name as hyphens.
fn id(route: &Route) -> String {
    let path = route.path.replace(['{', '}'], "").replace('/', "-");
    format!("{}{path}", route.method.as_str().to_ascii_lowercase())
}

fn parameter(name: &str, place: &str, is_required: bool) -> Value {
    json!({ "name": name, "in": place, "required": is_required, "schema": non_blank() })
}

fn responses(generator: &mut SchemaGenerator, route: &Route) -> Map<String, Value> {
    let errors = admin::errors_schema(generator).to_value();
    let refused = |description: &str| json_response(description, &errors);
    let mut responses = Map::new();
    let mut add = |status: StatusCode, response: Value| responses.insert(status.as_str().to_owned(), response);
    add(StatusCode::BAD_REQUEST, refused("What is wrong, field by field."));
    let challenge = header("WWW-Authenticate", "string");
    add(StatusCode::UNAUTHORIZED, with_headers(refused("Not the admin token."), &challenge));
    if route.refusals.contains(&Refused::NotFound) {
        add(StatusCode::NOT_FOUND, refused("There is none."));
    }
    if route.refusals.contains(&Refused::AlreadyFinal) {
        add(StatusCode::CONFLICT, refused("The payment is final already."));
    }
    if route.refusals.contains(&Refused::TooFar) {
        add(StatusCode::CONFLICT, refused("The clock cannot be that far ahead."));
    }
    add(StatusCode::INTERNAL_SERVER_ERROR, refused("The sandbox failed; its log says why."));
    let success = match route.says {
        Some(says) => json_response("Done.", &says(generator).to_value()),
        None => json!({ "description": "Done." }),
    };
    add(route.success, success);
    responses
}
