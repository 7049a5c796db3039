//! The description of the interface, as OpenAPI 3.1 under `/openapi.json`: made of the tables and rules that answer requests, so that
//! the two cannot differ.

mod admin;
mod endpoints;
mod envelope;
mod field;
mod page;

use std::sync::Arc;

use axum::{
    Router,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use tokio::task::spawn_blocking;

use crate::{callbacks::notice, state::State};

/// Where it is.
pub(crate) const PATH: &str = "/openapi.json";

/// The name of the callback's description.
const CALLBACK: &str = "paymentStatusChanged";

const ABOUT: &str = "The payment gateway's side on your own machine: nine endpoints as the gateway's interface describes them, and \
    the admin interface of the sandbox.\n\nWhat is described is what the sandbox does by itself. With the switch `dialect` set to \
    `other` every answer of the nine endpoints has another envelope, and a fault makes of an answer whatever it says. \
    A path takes the methods that stand here; every other one is answered with HTTP 405, whose `Allow` names them.";

/// Adds the document to the routes.
pub(crate) fn routes(router: Router, state: &Arc<State>) -> Router {
    let state = Arc::clone(state);
    let shown = Arc::clone(&state);
    let router = router.route(page::PATH, get(move || made(Arc::clone(&shown), page::show)));
    router.route(PATH, get(move || made(Arc::clone(&state), serve)))
}

/// Made anew each time, which takes a while: away from the network's threads.
async fn made(state: Arc<State>, make: fn(&State) -> Response) -> Response {
    match spawn_blocking(move || make(&state)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

fn serve(state: &State) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, document(state).to_string()).into_response()
}

/// The document.
pub(crate) fn document(state: &State) -> Value {
    let mut generator = generator();
    let mut paths = Map::new();
    endpoints::describe(&mut generator, &mut paths, state.clock().today());
    admin::describe(&mut generator, &mut paths);
    let callback = notice::schema(&mut generator);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Kassa sandbox",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": state.public_url }],
        "tags": [
            { "name": endpoints::TAG, "description": "The nine endpoints of the gateway's interface." },
            { "name": admin::TAG, "description": "What happened, and what is to happen. Faults touch nothing here." },
        ],
        "paths": paths,
        "webhooks": { CALLBACK: webhook(&callback.to_value()) },
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                endpoints::SECURITY: {
                    "type": "http", "scheme": "basic", "description": "The merchant's login and password.",
                },
                admin::SECURITY: {
                    "type": "http", "scheme": "bearer", "description": "The admin token, printed at the start.",
                },
            },
        },
    })
}

/// Schemas of what is written, with their definitions where OpenAPI keeps them.
fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

fn webhook(body: &Value) -> Value {
    json!({
        "post": {
            "summary": "A callback: a payment's status changed",
            "description": "Sent to the callback URL of the payment until it is answered with 2xx. No signature: ask for the \
                payment's status before you believe it.",
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": { "2XX": { "description": "Taken; it is not sent again." } },
        },
    })
}

/// A text for people, left out where there is none.
fn with_text(mut operation: Value, text: &str) -> Value {
    if !text.is_empty() {
        operation["description"] = json!(text);
    }
    operation
}

/// Adds an operation to its path.
fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method.to_ascii_lowercase()] = operation;
}
