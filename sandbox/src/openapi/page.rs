//! The description as a page, for people: made of the same document.

use std::collections::BTreeMap;

use askama::Template;
use axum::{http::StatusCode, response::Response};
use serde_json::{Map, Value};

use crate::{
    admin::ROUTES,
    flows::{ENDPOINTS, Input},
    gateway::Gateway,
    language::Language,
    openapi::document,
    web::{self, Document, Policy, Section, Staff},
};

pub(super) const PATH: &str = "/api";

#[derive(Template)]
#[template(path = "staff/api.html")]
struct Page {
    document: Document,
    staff: Staff,
    base_url: String,
    groups: Vec<Group>,
}

/// Operations that ask for the same credentials.
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
    answers: Vec<(String, String)>,
}

struct Field {
    name: String,
    place: &'static str,
    kind: String,
    is_required: bool,
    rule: String,
}

/// Shows it.
pub(super) fn show(gateway: &Gateway) -> Response {
    let described = document(gateway);
    let base_url = gateway.public_url.clone();
    let endpoints = ENDPOINTS.iter().map(|endpoint| {
        let curl = endpoint_curl(&base_url, endpoint.name.path(), endpoint.input, endpoint.description.example);
        operation(&described, endpoint.method.as_str(), endpoint.name.path(), curl)
    });
    let routes = ROUTES.iter().map(|route| {
        let curl = admin_curl(&base_url, route.method.as_str(), route.path, route.example);
        operation(&described, route.method.as_str(), route.path, curl)
    });
    let groups = vec![
        Group {
            id: "gateway",
            name: "The gateway",
            text: "The nine endpoints. They ask for the merchant's login and password by HTTP Basic authentication.",
            operations: endpoints.collect(),
        },
        Group {
            id: "admin",
            name: "The admin interface",
            text: "What happened, and what is to happen. It asks for the admin token, which is printed at the start, as a bearer token.",
            operations: routes.collect(),
        },
    ];
    let page = Page {
        document: Document::at(PATH, Language::English),
        staff: Staff::of(Section::Api, None),
        base_url,
        groups,
    };
    web::page(StatusCode::OK, Policy::Staff, &page)
}

fn operation(described: &Value, method: &str, path: &'static str, curl: String) -> Operation {
    let operation = &described["paths"][path][method.to_ascii_lowercase()];
    let text = |name: &str| plain(&operation[name]);
    let answers = operation["responses"].as_object().into_iter().flatten();
    Operation {
        id: text("operationId"),
        method: method.to_owned(),
        path,
        summary: text("summary"),
        text: text("description"),
        fields: fields(operation),
        curl,
        answers: answers.map(|(status, answer)| (status.clone(), plain(&answer["description"]))).collect(),
    }
}

/// A text without the marks of Markdown that stand in the document.
fn plain(text: &Value) -> String {
    text.as_str().unwrap_or_default().replace('`', "")
}

/// The parameters and the members of the body; those that are required come first.
fn fields(operation: &Value) -> Vec<Field> {
    let mut fields: Vec<_> = operation["parameters"].as_array().into_iter().flatten().map(parameter).collect();
    let body = &operation["requestBody"]["content"]["application/json"]["schema"];
    let required: Vec<_> = body["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let members = members(body).into_iter().map(|(name, schema)| Field {
        place: "body",
        kind: kind(&schema),
        is_required: required.contains(&name.as_str()),
        rule: rule(&schema),
        name,
    });
    fields.extend(members);
    fields.sort_by_key(|field| !field.is_required);
    fields
}

fn parameter(parameter: &Value) -> Field {
    let place = if parameter["in"] == "path" { "path" } else { "query" };
    let schema = &parameter["schema"];
    Field {
        name: parameter["name"].as_str().unwrap_or_default().to_owned(),
        place,
        kind: kind(schema),
        is_required: parameter["required"] == true,
        rule: rule(schema),
    }
}

/// The members of an object; where it has several forms, those of all of them.
fn members(body: &Value) -> BTreeMap<String, Value> {
    let mut members = BTreeMap::new();
    let forms = body["anyOf"].as_array().into_iter().flatten();
    for form in std::iter::once(body).chain(forms) {
        for (name, schema) in form["properties"].as_object().into_iter().flatten() {
            let known = members.entry(name.clone()).or_insert_with(|| schema.clone());
            join_words(known, schema);
        }
    }
    members
}

/// Adds the words that another form takes.
fn join_words(known: &mut Value, schema: &Value) {
    let words = |schema: &Value| -> Vec<Value> {
        let one = schema.get("const").cloned();
        schema["enum"].as_array().cloned().unwrap_or_default().into_iter().chain(one).collect()
    };
    let mut joined = words(known);
    for word in words(schema) {
        if !joined.contains(&word) {
            joined.push(word);
        }
    }
    if let (false, Some(known)) = (joined.is_empty(), known.as_object_mut()) {
        known.remove("const");
        known.insert("enum".to_owned(), Value::Array(joined));
    }
}

/// The type's name.
fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Value::String(name) => name.clone(),
        _ => "string".to_owned(),
    }
}

/// What a schema demands, in words.
fn rule(schema: &Value) -> String {
    let mut rules = Vec::new();
    let mut limit = |name: &str, words: &str| {
        if let Some(value) = schema.get(name) {
            rules.push(format!("{words} {value}"));
        }
    };
    limit("minimum", "at least");
    limit("maximum", "at most");
    if let (Some(least), Some(most)) = (schema["minLength"].as_u64(), schema["maxLength"].as_u64()) {
        rules.push(if least == most { format!("{least} characters") } else { format!("{least} to {most} characters") });
    }
    let choices = schema["enum"].as_array().or_else(|| schema["anyOf"][0]["enum"].as_array());
    if let Some(choices) = choices {
        let words: Vec<_> =
            choices.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect();
        rules.push(format!("one of {}", words.join(", ")));
    }
    let mut text = rules.join(", ");
    if let Some(description) = schema["description"].as_str() {
        text = if text.is_empty() { description.to_owned() } else { format!("{text}. {description}") };
    }
    text
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
                pairs.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
            format!("{curl}?{}", query.join("&"))
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
