//! The description of the interface: OpenAPI 3.1 under `/openapi.json`, and a page under `/api`.
//! It is generated from the tables and rules that answer requests, so that the two cannot differ.

mod field;
mod operations;

use std::sync::Arc;

use askama::Template;
use axum::{
    Router, extract,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use crate::{
    admin::ROUTES,
    callbacks::notice,
    domain::Language,
    endpoints::{ENDPOINTS, Input},
    openapi::field::{Field, MessageMembers},
    staff::layout::{Section, Staff},
    state::State,
    web::{self, Document, Policy},
};

/// The name of the callback's description.
const CALLBACK: &str = "paymentStatusChanged";

const ABOUT: &str = "A payment gateway on your own machine: the endpoints of the gateway's interface, and the \
    admin interface of the sandbox.\n\nThis document describes the default behavior. If the switch `acts_as` is \
    `finipay`, some responses are those that FINIPAY's public pages show; they are described next to the default ones. \
    Two variants are not described: with `other`, every response of the gateway's endpoints has another envelope, and faults \
    change responses arbitrarily. A path accepts only the methods listed here; for any other method it returns HTTP 405, \
    with the allowed methods in `Allow`.";

/// The document.
fn document(state: &State) -> Value {
    let mut generator = generator();
    let mut paths = Map::new();
    operations::describe_endpoints(&mut generator, &mut paths, state.clock().today());
    operations::describe_admin(&mut generator, &mut paths);
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
            { "name": operations::GATEWAY_TAG, "description": "The endpoints of the gateway's interface." },
            { "name": operations::ADMIN_TAG, "description": "Inspect and control the sandbox. Faults do not affect these endpoints." },
        ],
        "paths": paths,
        "webhooks": { CALLBACK: webhook(&callback.to_value()) },
        "components": {
            "schemas": generator.take_definitions(true),
            "securitySchemes": {
                operations::MERCHANT_SECURITY: {
                    "type": "http", "scheme": "basic", "description": "The merchant's login and password.",
                },
                operations::ADMIN_SECURITY: {
                    "type": "http", "scheme": "bearer", "description": "The admin token, printed at startup.",
                },
            },
        },
    })
}

/// A generator of schemas for serialization, with definitions where OpenAPI expects them.
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
            "summary": "Callback: the status of a payment changed",
            "description": "Sent to the callback URL of the payment until the response is 2xx. Callbacks are not \
                signed: query the payment's status before you trust one.",
            "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
            "responses": { "2XX": { "description": "Accepted. The callback is not sent again." } },
        },
    })
}

const PAGE_PATH: &str = "/api";

#[derive(Template)]
#[template(path = "staff/api.html")]
struct Page {
    document: Document,
    staff: Staff,
    base_url: String,
    groups: Vec<Group>,
    callback: Callback,
}

/// The callback to the merchant.
struct Callback {
    summary: String,
    text: String,
    fields: Vec<Field>,
    answers: Vec<Answer>,
}

/// Operations that require the same credentials.
struct Group {
    id: &'static str,
    name: &'static str,
    text: &'static str,
    operations: Vec<Operation>,
}

struct Operation {
    id: String,
    method: String,
    path: &'static str,
    summary: String,
    text: String,
    fields: Vec<Field>,
    curl: String,
    answers: Vec<Answer>,
    rejections: Vec<Answer>,
}

/// Responses with the same members, shown together.
struct Answer {
    /// The HTTP statuses, each with its description.
    statuses: Vec<(String, String)>,
    /// The label of its table.
    label: String,
    fields: Vec<Field>,
}

/// Renders the page.
fn show(state: &State) -> Response {
    let described = document(state);
    let base_url = state.public_url.clone();
    let requests =
        ENDPOINTS.iter().flat_map(|endpoint| endpoint.requests().map(move |(method, input)| (endpoint, method, input)));
    let endpoints = requests.map(|(endpoint, method, input)| {
        let curl = endpoint_curl(&base_url, endpoint.name.path(), input, endpoint.description.example);
        operation(&described, method.as_str(), endpoint.name.path(), curl)
    });
    let routes = ROUTES.iter().map(|route| {
        let curl = admin_curl(&base_url, route.method.as_str(), route.path, route.example);
        operation(&described, route.method.as_str(), route.path, curl)
    });
    let groups = vec![
        Group {
            id: "gateway",
            name: "The gateway",
            text: "The gateway's endpoints. They require the merchant's login and password (HTTP Basic authentication).",
            operations: endpoints.collect(),
        },
        Group {
            id: "admin",
            name: "The admin interface",
            text: "Inspects what happened, and controls what happens next. It requires the admin token, which is \
                printed at startup, as a bearer token.",
            operations: routes.collect(),
        },
    ];
    let page = Page {
        document: Document::at(PAGE_PATH, Language::English),
        staff: Staff::of(Section::Api, None),
        base_url,
        groups,
        callback: callback(&described),
    };
    web::page(StatusCode::OK, Policy::Staff, &page)
}

fn operation(described: &Value, method: &str, path: &'static str, curl: String) -> Operation {
    let operation = &described["paths"][path][method.to_ascii_lowercase()];
    let text = |name: &str| plain(&operation[name]);
    let is_answer = |status: &str| status.starts_with('2');
    Operation {
        id: text("operationId"),
        method: method.to_owned(),
        path,
        summary: text("summary"),
        text: text("description"),
        fields: field::of_request(operation),
        curl,
        answers: answers(described, operation, is_answer),
        rejections: answers(described, operation, |status| !is_answer(status)),
    }
}

fn callback(described: &Value) -> Callback {
    let operation = &described["webhooks"][CALLBACK]["post"];
    Callback {
        summary: plain(&operation["summary"]),
        text: plain(&operation["description"]),
        fields: MessageMembers::of(described, &operation["requestBody"]).fields(),
        answers: answers(described, operation, |_| true),
    }
}

fn answers(described: &Value, operation: &Value, is_wanted: impl Fn(&str) -> bool) -> Vec<Answer> {
    let mut kinds: Vec<(Vec<(String, String)>, MessageMembers)> = Vec::new();
    let answers = operation["responses"].as_object().into_iter().flatten();
    for (status, answer) in answers.filter(|(status, _)| is_wanted(status.as_str())) {
        let members = MessageMembers::of(described, answer);
        let status = (status.clone(), plain(&answer["description"]));
        match kinds.iter_mut().find(|(_, known)| known.has_the_members_of(&members)) {
            Some((statuses, known)) => {
                statuses.push(status);
                known.join(members);
            }
            None => kinds.push((vec![status], members)),
        }
    }
    let of = plain(&operation["summary"]);
    let answer = |(statuses, members): (Vec<(String, String)>, MessageMembers)| {
        let codes: Vec<_> = statuses.iter().map(|(status, _)| status.as_str()).collect();
        Answer { label: format!("Response {} of: {of}", codes.join(", ")), fields: members.fields(), statuses }
    };
    kinds.into_iter().map(answer).collect()
}

/// A text without the document's Markdown marks.
fn plain(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace('`', "")
}

fn endpoint_curl(base_url: &str, path: &str, input: Input, example: &str) -> String {
    let curl = format!("curl -u \"$LOGIN:$PASSWORD\" {base_url}{path}");
    let example: Value = serde_json::from_str(example).unwrap_or_default();
    match input {
        Input::Body => format!("{curl} -d '{}'", pretty(&example)),
        Input::BodyOrQuery => format!("{curl} -X GET -d '{}'", pretty(&example)),
        Input::Query => {
            let pairs = example.as_object().map(Map::iter).into_iter().flatten();
            let query: Vec<_> =
                pairs.map(|(name, value)| format!("{name}={}", value.to_string().trim_matches('"'))).collect();
            // Quoted, because an ampersand ends a shell command.
            format!("curl -u \"$LOGIN:$PASSWORD\" '{base_url}{path}?{}'", query.join("&"))
        }
    }
}

fn admin_curl(base_url: &str, method: &str, path: &str, example: &str) -> String {
    let path = path.replace("{number}", "ORDER-1").replace("{id}", "1");
    let method = if method == "GET" { String::new() } else { format!(" -X {method}") };
    let body = if example.is_empty() { String::new() } else { format!(" -d '{example}'") };
    format!("curl -H \"Authorization: Bearer $TOKEN\"{method} {base_url}{path}{body}")
}

fn pretty(example: &Value) -> String {
    serde_json::to_string_pretty(example).unwrap_or_default()
}

/// Its path.
const DOCUMENT_PATH: &str = "/openapi.json";

/// The routes of the page and the document.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    let router = Router::new().route(PAGE_PATH, get(show_page)).route(DOCUMENT_PATH, get(serve_document));
    router.with_state(Arc::clone(state))
}

/// Generated for each request on a blocking thread, because it takes a while.
async fn show_page(extract::State(state): extract::State<Arc<State>>) -> Response {
    web::respond_blocking(move || show(&state)).await
}

async fn serve_document(extract::State(state): extract::State<Arc<State>>) -> Response {
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    web::respond_blocking(move || (headers, document(&state).to_string()).into_response()).await
}
