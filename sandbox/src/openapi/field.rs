//! Reads fields and members from the document's schemas for the page: name, type, rule.

use std::collections::BTreeMap;

use serde_json::Value;

/// A field of a request, or a member of a response or callback.
pub(super) struct Field {
    pub(super) name: String,
    /// Of a request: path, query or body.
    pub(super) place: &'static str,
    pub(super) kind: String,
    /// Of a response: whether it is always present.
    pub(super) is_required: bool,
    pub(super) rule: String,
}

/// The parameters and the members of the body, required ones first.
pub(super) fn of_request(operation: &Value) -> Vec<Field> {
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

/// The members of an object. If it has several forms, those of all.
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

/// The members of a response or callback, including nested ones: `data.errors[].field`.
pub(super) struct MessageMembers(Vec<Member>);

impl MessageMembers {
    pub(super) fn of(described: &Value, message: &Value) -> Self {
        Self(members_of(described, &message["content"]["application/json"]["schema"], ""))
    }

    pub(super) fn has_the_members_of(&self, other: &Self) -> bool {
        self.0.iter().map(|member| &member.name).eq(other.0.iter().map(|member| &member.name))
    }

    /// Merges the descriptions of another message with the same members.
    pub(super) fn join(&mut self, other: Self) {
        self.0 = merge_members(std::mem::take(&mut self.0), other.0);
    }

    pub(super) fn fields(self) -> Vec<Field> {
        let field = |member: Member| Field {
            place: "body",
            kind: kind(&member.schema),
            is_required: member.is_certain,
            rule: rule(&member.schema),
            name: member.name,
        };
        self.0.into_iter().map(field).collect()
    }
}

/// A member of a response or a callback.
struct Member {
    name: String,
    schema: Value,
    is_certain: bool,
}

fn members_of(described: &Value, schema: &Value, prefix: &str) -> Vec<Member> {
    let schema = resolved(described, schema);
    if let Some(forms) = schema["anyOf"].as_array() {
        let forms = forms.iter().map(|form| members_of(described, form, prefix));
        return forms.reduce(merge_members).unwrap_or_default();
    }
    if schema.get("items").is_some() {
        return members_of(described, &schema["items"], &format!("{prefix}[]"));
    }
    let mut members = Vec::new();
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let below = members_of(described, member, &path);
        let is_certain = schema["required"].as_array().is_some_and(|required| required.iter().any(|one| one == name));
        members.push(Member { name: path, schema: resolved(described, member).clone(), is_certain });
        members.extend(below);
    }
    members
}

/// The members of both forms; a member is required only if it is in both.
fn merge_members(mut one: Vec<Member>, other: Vec<Member>) -> Vec<Member> {
    for member in &mut one {
        member.is_certain &=
            other.iter().any(|other_member| other_member.name == member.name && other_member.is_certain);
    }
    for member in other {
        match one.iter_mut().find(|other_member| other_member.name == member.name) {
            Some(other_member) => join_words(&mut other_member.schema, &member.schema),
            None => one.push(Member { is_certain: false, ..member }),
        }
    }
    one
}

/// The schema itself, resolved if it is a reference.
fn resolved<'a>(described: &'a Value, schema: &'a Value) -> &'a Value {
    let name = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/components/schemas/"));
    name.map_or(schema, |name| &described["components"]["schemas"][name])
}

/// Adds the words and the description of another form.
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
    let texts = [&*known, schema].map(|schema| schema["description"].as_str().unwrap_or_default().to_owned());
    let Some(known) = known.as_object_mut() else {
        return;
    };
    if !joined.is_empty() {
        known.remove("const");
        known.insert("enum".to_owned(), Value::Array(joined));
    }
    if !texts[0].contains(&texts[1]) {
        let text = if texts[0].is_empty() { texts[1].clone() } else { texts.join("; ") };
        known.insert("description".to_owned(), Value::from(text));
    }
}

/// The type's name.
fn kind(schema: &Value) -> String {
    match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        Value::String(name) => name.clone(),
        _ if schema["anyOf"][0]["type"].is_string() => kind(&schema["anyOf"][0]),
        _ => "string".to_owned(),
    }
}

/// The rule of a schema, in words.
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
    // The document is Markdown, so code marks are removed for the page.
    let description = schema["description"].as_str().map(|text| text.replace('`', ""));
    if let Some(choices) = choices {
        let words: Vec<_> =
            choices.iter().map(|word| word.as_str().map_or_else(|| word.to_string(), str::to_owned)).collect();
        // Omitted if the description already has each of the words.
        if !words.iter().all(|word| description.as_ref().is_some_and(|text| text.contains(word.as_str()))) {
            rules.push(format!("one of {}", words.join(", ")));
        }
    }
    let mut text = rules.join(", ");
    if let Some(description) = description {
        text = if text.is_empty() { description } else { format!("{text}. {description}") };
    }
    text
}
