//! The description of the interface, as OpenAPI 3.1: generated from the routing table, so that the two cannot differ. It includes
//! the webhooks to the shop: events, by the Standard Webhooks scheme.

use axum::{extract::State, http::StatusCode};
use schemars::{Schema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    access::Audience,
    examples,
    field::{CHECKOUT_ID, Field, PAYMENT_ID},
    problem::{self, ProblemKind},
    request::{Api, JsonResponse},
    route::{IDEMPOTENCY_KEY, RequestBody, Route},
};
use crate::{checkouts::new_checkout::TakenMethods, events::Body, webhooks::headers};

const ABOUT: &str = "The merchant's payment server. It holds the gateway credentials, records every payment before sending it, \
    tracks it to its outcome and notifies the shop.\n\nEvery request is safe to retry: requests that move money by their \
    `Idempotency-Key`, a new checkout by its `reference`, all others inherently. Errors are problem details \
    (RFC 9457, `application/problem+json`) that list every invalid field and the rule it violates.\n\nTimes are milliseconds \
    since the Unix epoch; amounts are decimal strings.";

/// The errors that every route can return.
const COMMON: [ProblemKind; 5] = [
    ProblemKind::Invalid,
    ProblemKind::TooManyRequests,
    ProblemKind::TooLarge,
    ProblemKind::TooSlow,
    ProblemKind::Internal,
];

pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    schemars::json_schema!({ "type": "object" })
}

pub(super) async fn serve(State(api): Api) -> JsonResponse {
    JsonResponse::text(api.description.clone())
}

/// The description of this server. Methods that a setting enables are described only if they are enabled.
pub(super) fn document(routes: &[Route], public_url: &str, taken: TakenMethods) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in routes {
        let operation = operation(&mut generator, route, taken);
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[route.method.as_str().to_ascii_lowercase()] = operation;
    }
    let webhooks = describe_webhooks(&mut generator);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Kassa server",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": public_url }],
        "tags": [
            { "name": "shop", "description": "Endpoints for the shop's back end." },
            { "name": "app", "description": "Endpoints for the payer's app." },
            { "name": "others", "description": "Endpoints for the gateway and for the operator of the server." },
        ],
        "paths": paths,
        "webhooks": webhooks,
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                "shop": { "type": "http", "scheme": "bearer", "description": "An API key, `ak_…`." },
                "app": { "type": "http", "scheme": "bearer", "description": "A client token, `ct_…`, for one checkout." },
            },
        },
    })
}

fn operation(generator: &mut SchemaGenerator, route: &Route, taken: TakenMethods) -> Value {
    let tag = match route.access {
        Audience::Shop => "shop",
        Audience::App => "app",
        Audience::Gateway | Audience::Public => "others",
    };
    let mut operation = json!({
        "operationId": route.id,
        "tags": [tag],
        "summary": route.summary,
        "responses": responses(generator, route),
    });
    if !route.text.is_empty() {
        operation["description"] = json!(route.text);
    }
    if tag != "others" {
        let mut security = Map::new();
        security.insert(tag.to_owned(), json!([]));
        operation["security"] = json!([security]);
    }
    match route.body {
        RequestBody::None => {}
        RequestBody::Json { schema, example } => {
            let example: Value = serde_json::from_str(example).unwrap_or_default();
            let is_required = example != json!({});
            operation["requestBody"] = json!({
                "required": is_required,
                "content": { "application/json": { "schema": schema(taken), "example": example } },
            });
        }
        RequestBody::Any => {
            operation["requestBody"] = json!({
                "description": "The callback, in the gateway's own format.",
                "content": { "application/json": { "schema": {} } },
            });
        }
    }
    let parameters = parameters(route);
    if !parameters.is_empty() {
        operation["parameters"] = json!(parameters);
    }
    operation
}

fn parameters(route: &Route) -> Vec<Value> {
    let path = route
        .parameter_names()
        .map(|name| json!({ "name": name, "in": "path", "required": true, "schema": path_schema(route, name) }));
    let query = route.query.iter().map(|field| parameter("query", field));
    let key = route.needs_key.then(|| parameter("header", &IDEMPOTENCY_KEY));
    path.chain(query).chain(key).collect()
}

fn parameter(place: &str, field: &Field) -> Value {
    json!({
        "name": field.name, "in": place, "required": field.is_required, "description": field.description,
        "schema": field.parameter_schema(),
    })
}

fn path_schema(route: &Route, name: &str) -> Value {
    match (name, route.access) {
        ("checkout", _) => CHECKOUT_ID.schema(),
        ("payment", Audience::App | Audience::Shop) => PAYMENT_ID.schema(),
        _ => json!({ "type": "string", "pattern": "^[0-9a-f]{32}$" }),
    }
}

fn responses(generator: &mut SchemaGenerator, route: &Route) -> Map<String, Value> {
    let mut content = json!({ "schema": (route.schema)(generator).to_value() });
    if let Some(examples) = route.examples {
        content["examples"] = examples();
    }
    let refusal = problem::schema(generator).to_value();
    let mut responses = Map::new();
    for status in route.success {
        let text = if *status == StatusCode::ACCEPTED { "In progress." } else { "Done." };
        responses.insert(
            status.as_str().to_owned(),
            json!({ "description": text, "content": { "application/json": content } }),
        );
    }
    let mut kinds: Vec<ProblemKind> = COMMON.to_vec();
    kinds.extend(route.refusals);
    kinds.push(ProblemKind::Unavailable);
    if matches!(route.access, Audience::Shop | Audience::App) {
        kinds.push(ProblemKind::Unauthorized);
    }
    if matches!(route.body, RequestBody::Json { .. }) {
        kinds.push(ProblemKind::UnsupportedMediaType);
    }
    for kind in kinds {
        let entry = responses.entry(kind.status().as_str()).or_insert_with(
            || json!({ "description": "", "content": { "application/problem+json": { "schema": refusal } } }),
        );
        let before = entry["description"].as_str().unwrap_or_default();
        let text = if before.is_empty() { kind.title().to_owned() } else { format!("{before} {}", kind.title()) };
        entry["description"] = json!(text);
        if matches!(kind, ProblemKind::TooManyRequests | ProblemKind::Unavailable) {
            entry["headers"] = json!({ "Retry-After": { "schema": { "type": "integer" } } });
        }
        if kind == ProblemKind::Unauthorized {
            entry["headers"] = json!({ "WWW-Authenticate": { "schema": { "type": "string" } } });
        }
    }
    responses
}

const SUMMARY: &str = "An event occurred";

const TEXT: &str = "Sent to `events.url`. Events of one checkout are delivered in order, each at least once. Any response other than \
    2xx within 15 seconds is a failure, including a redirect: the event is retried after 5 seconds, then at growing intervals. After \
    three days without a success, delivery for the checkout pauses until a new event occurs or the events are replayed. \
    Respond with 2xx to kinds that you do not know. 400, 406, 409, 415, 422 and 501 refuse this one event: after five such \
    responses it is skipped until it is replayed, unless it is `checkout.paid` or `checkout.overpaid`.\n\nVerify the signature with \
    a Standard Webhooks library before you trust the event, and store `webhook-id`: an event whose identifier you have seen \
    is a repeated delivery. Ignore unknown members: newer servers may send more.";

const ID: &str = "Identifier of the event, the same for every delivery attempt.";
const TIMESTAMP: &str = "Time of sending, in seconds since the Unix epoch.";
const SIGNATURE: &str =
    "`v1,` followed by the signature in base64; one signature for each valid secret, separated by spaces.";

pub(super) fn describe_webhooks(generator: &mut SchemaGenerator) -> Value {
    let schema = generator.subschema_for::<Body<'_>>();
    json!({
        "event": {
            "post": {
                "operationId": "event",
                "tags": ["shop"],
                "summary": SUMMARY,
                "description": TEXT,
                "parameters": [
                    header(headers::ID, ID, "string"),
                    header(headers::TIMESTAMP, TIMESTAMP, "integer"),
                    header(headers::SIGNATURE, SIGNATURE, "string"),
                ],
                "requestBody": {
                    "required": true,
                    "content": { "application/json": { "schema": schema, "examples": examples::events() } },
                },
                "responses": { "2XX": { "description": "Accepted. The event is resent only if the server did not receive this." } },
            },
        },
    })
}

fn header(name: &str, text: &str, kind: &str) -> Value {
    json!({ "name": name, "in": "header", "required": true, "description": text, "schema": { "type": kind } })
}
