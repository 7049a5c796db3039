//! Compares what came out with what a vector expects.

use std::collections::BTreeSet;

use kassa::Decimal;
use serde_json::Value;

/// The places where the two differ. A missing key and a null are the same.
pub fn differences(expected: &Value, actual: &Value) -> Vec<String> {
    let mut found = Vec::new();
    compare("", expected, actual, &mut found);
    found
}

fn compare(place: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    let matches = match expected {
        Value::Object(map) if map.contains_key("$any") => !actual.is_null(),
        Value::Object(map) if map.contains_key("$one_of") => is_one_of(&map["$one_of"], actual),
        Value::Object(map) if map.contains_key("$like") => is_like(&map["$like"], actual),
        Value::Object(map) if map.contains_key("$decimal") => is_same_decimal(expected, actual),
        Value::Object(_) if actual.is_object() => return compare_objects(place, expected, actual, found),
        Value::Array(items) if actual.as_array().is_some_and(|others| others.len() == items.len()) => {
            for (at, item) in items.iter().enumerate() {
                compare(&format!("{place}[{at}]"), item, &actual[at], found);
            }
            true
        }
        _ => expected == actual,
    };
    if !matches {
        found.push(format!("{place}: expected {}, came {}", short(expected), short(actual)));
    }
}

fn compare_objects(place: &str, expected: &Value, actual: &Value, found: &mut Vec<String>) {
    let keys = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect()).unwrap_or_default();
    let all: BTreeSet<String> = BTreeSet::union(&keys(expected), &keys(actual)).cloned().collect();
    for key in all {
        compare(&format!("{place}.{key}"), &expected[&key], &actual[&key], found);
    }
}

fn is_one_of(choices: &Value, actual: &Value) -> bool {
    choices.as_array().into_iter().flatten().any(|choice| differences(choice, actual).is_empty())
}

fn is_same_decimal(expected: &Value, actual: &Value) -> bool {
    let read = |value: &Value| value["$decimal"].as_str().and_then(|text| Decimal::from_str_exact(text).ok());
    read(expected).is_some() && read(expected) == read(actual)
}

/// A star stands for any text.
fn is_like(pattern: &Value, actual: &Value) -> bool {
    let (Some(pattern), Some(text)) = (pattern.as_str(), actual.as_str()) else { return false };
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
