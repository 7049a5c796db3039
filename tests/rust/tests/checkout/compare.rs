//! Whether a value is what is expected: every key that is expected must be there and match, others may be as they are.

use serde_json::Value;

pub fn matches(expected: &Value, found: &Value) -> bool {
    match expected {
        Value::Object(object) => match object.get("$like") {
            Some(pattern) => found.as_str().is_some_and(|text| is_like(pattern.as_str().unwrap(), text)),
            None => object.iter().all(|(key, expected)| matches(expected, &found[key])),
        },
        Value::Array(items) => found.as_array().is_some_and(|found| {
            items.len() == found.len() && items.iter().zip(found).all(|(expected, found)| matches(expected, found))
        }),
        _ => expected == found,
    }
}

/// `*` stands for any text.
fn is_like(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(after) = text.strip_prefix(first) else { return false };
    (0..=after.len()).any(|at| after.get(at..).is_some_and(|after| is_like(rest, after)))
}
