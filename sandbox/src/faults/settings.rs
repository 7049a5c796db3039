//! The settings of a fault: read from JSON or from the command line's `NAME,key=value,...`, and described as JSON Schema. The
//! schema is derived from the check itself, so that the two cannot differ.

use std::{str::FromStr, time::Duration};

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::{
    domain::{EndpointName, PaymentStatus, RejectReason, codes},
    faults::{Fault, FaultError, FaultName, fault::MAX_DELAY_MS},
    rules::{FieldError, Members, non_blank},
};

/// Any order number works.
const AN_ORDER: &str = "ORDER-1";

/// A setting that only some faults take: its name, a fault that has it, and its allowed values.
type OwnSetting = (&'static str, fn(Fault) -> Fault, fn() -> Value);

const OWN_SETTINGS: [OwnSetting; 4] = [
    ("delay_ms", |fault| fault.after(Duration::ZERO), || whole(0, MAX_DELAY_MS, "Delay in milliseconds.")),
    (
        "retry_after_s",
        |fault| fault.retry_after_seconds(1),
        || whole(0, u32::MAX.into(), "Value of `Retry-After`, in seconds."),
    ),
    ("status", |fault| fault.status("OTHER"), unknown_status),
    ("code", |fault| fault.code("999"), unknown_code),
];

/// The body that sets a fault: one form for each fault.
pub(crate) fn settings() -> Value {
    let forms: Vec<_> = FaultName::ALL.iter().flat_map(|name| forms(*name)).collect();
    json!({ "type": "object", "required": ["name"], "anyOf": forms })
}

/// The shown fields of a fault.
pub(crate) fn settings_shown(_: &mut SchemaGenerator) -> Schema {
    let mut properties = common();
    let names = json!({ "type": "string", "enum": words(FaultName::ALL), "description": "Name of the fault." });
    properties.insert("name".to_owned(), names);
    properties.insert("endpoint".to_owned(), endpoint_of(&EndpointName::ALL));
    properties.insert("order_number".to_owned(), order_number());
    for (name, _, schema) in OWN_SETTINGS {
        properties.insert(name.to_owned(), schema());
    }
    Schema::try_from(json!({ "type": "object", "properties": properties, "required": ["name"] })).unwrap_or_default()
}

/// The settings of a fault without an order number, and with one.
fn forms(name: FaultName) -> Vec<Value> {
    let with_order = |endpoint: Option<EndpointName>| {
        let fault = Fault::new(name).order(AN_ORDER);
        endpoint.into_iter().fold(fault, Fault::endpoint).check().is_ok()
    };
    let at = |endpoint: &EndpointName| Fault::new(name).endpoint(*endpoint).check().is_ok();
    let endpoints: Vec<_> = EndpointName::ALL.into_iter().filter(at).collect();
    let mut forms = vec![form(name, &endpoints, false)];
    if with_order(None) {
        let endpoints: Vec<_> = endpoints.into_iter().filter(|endpoint| with_order(Some(*endpoint))).collect();
        forms.push(form(name, &endpoints, true));
    }
    forms
}

fn form(name: FaultName, endpoints: &[EndpointName], has_order: bool) -> Value {
    let mut properties = common();
    properties.insert("name".to_owned(), json!({ "const": name.as_str() }));
    if !endpoints.is_empty() {
        properties.insert("endpoint".to_owned(), endpoint_of(endpoints));
    }
    let mut required = vec!["name"];
    let mut title = name.as_str().to_owned();
    if has_order {
        properties.insert("order_number".to_owned(), order_number());
        required.push("order_number");
        title.push_str(", for one order");
    }
    for (own, set, schema) in OWN_SETTINGS {
        if set(Fault::new(name)).check().is_ok() {
            properties.insert(own.to_owned(), schema());
        }
    }
    json!({
        "title": title, "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    })
}

/// The settings of every fault.
fn common() -> Map<String, Value> {
    let probability = json!({
        "type": "number", "minimum": 0, "maximum": 1, "description": "Probability that the fault strikes. Default: 1.",
    });
    [
        ("probability", probability),
        ("times", whole(1, u64::MAX, "Maximum number of times the fault strikes. Default: no limit.")),
        ("seed", whole(0, u64::MAX, "Seed of the fault's random numbers. Default: 0.")),
    ]
    .map(|(name, schema)| (name.to_owned(), schema))
    .into_iter()
    .collect()
}

fn whole(minimum: u64, maximum: u64, description: &str) -> Value {
    json!({ "type": "integer", "minimum": minimum, "maximum": maximum, "description": description })
}

fn endpoint_of(endpoints: &[EndpointName]) -> Value {
    let names: Vec<_> = endpoints.iter().map(|endpoint| endpoint.as_str()).collect();
    json!({ "type": "string", "enum": names, "description": "Endpoint to which the fault is limited." })
}

fn order_number() -> Value {
    let mut schema = non_blank();
    schema["description"] = json!("Order to which the fault is limited, by any of its numbers.");
    schema
}

fn words(names: &[FaultName]) -> Vec<&'static str> {
    names.iter().map(|name| name.as_str()).collect()
}

fn unknown_status() -> Value {
    unlike(
        &PaymentStatus::ALL.map(PaymentStatus::as_str),
        "Status word to return; must not be one of the sandbox's own.",
    )
}

fn unknown_code() -> Value {
    let own: Vec<_> = codes::ALL.into_iter().chain(RejectReason::ALL.map(RejectReason::code)).collect();
    unlike(&own, "Code to return; must not be one of the sandbox's own.")
}

fn unlike(own: &[&str], description: &str) -> Value {
    let mut schema = non_blank();
    schema["not"] = json!({ "enum": own });
    schema["description"] = json!(description);
    schema
}

/// The keys with numbers as values.
const NUMBERS: [&str; 5] = ["probability", "times", "seed", "delay_ms", "retry_after_s"];

impl Fault {
    /// From the members of a JSON object.
    pub(crate) fn from_members(mut members: Members) -> Result<Self, FaultError> {
        let name = members.word("name", FaultName::ALL, FaultName::as_str);
        if name.is_none() && members.is_sound("name") {
            members.reject("name", "is required");
        }
        // A placeholder: a fault without a name is rejected below.
        let mut fault = Self::new(name.unwrap_or(FaultName::Delay));
        if let Some(endpoint) = members.word("endpoint", &EndpointName::ALL, EndpointName::as_str) {
            fault = fault.endpoint(endpoint);
        }
        if let Some(number) = members.text("order_number") {
            fault = fault.order(number);
        }
        if let Some(probability) = members.number("probability") {
            fault = fault.probability(probability);
        }
        if let Some(times) = members.whole("times") {
            fault = fault.times(times);
        }
        if let Some(seed) = members.whole("seed") {
            fault = fault.seed(seed);
        }
        if let Some(delay) = members.whole("delay_ms") {
            fault = fault.after(Duration::from_millis(delay));
        }
        if let Some(seconds) = members.whole("retry_after_s") {
            match u32::try_from(seconds) {
                Ok(seconds) => fault = fault.retry_after_seconds(seconds),
                Err(_) => members.reject("retry_after_s", "must be at most 4294967295"),
            }
        }
        if let Some(status) = members.text("status") {
            fault = fault.status(status);
        }
        if let Some(code) = members.text("code") {
            fault = fault.code(code);
        }
        members.finish().map_err(|errors| FaultError { errors })?;
        fault.check()?;
        Ok(fault)
    }
}

impl FromStr for Fault {
    type Err = FaultError;

    /// Reads `NAME,key=value,...`, with the keys of the admin interface.
    fn from_str(text: &str) -> Result<Self, FaultError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let mut pairs = vec![("name".to_owned(), Value::from(name))];
        for part in parts {
            let Some((key, value)) = part.split_once('=') else {
                let error = FieldError::new(part, "must be written as key=value");
                return Err(FaultError { errors: vec![error] });
            };
            pairs.push((key.trim().to_owned(), value_of(key.trim(), value)));
        }
        Self::from_members(Members::new(pairs))
    }
}

fn value_of(key: &str, text: &str) -> Value {
    let number = serde_json::from_str(text).ok().filter(|value: &Value| NUMBERS.contains(&key) && value.is_number());
    number.unwrap_or_else(|| Value::from(text))
}
