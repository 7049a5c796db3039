//! What all operations of the document share.

use serde_json::{Map, Value, json};

/// A text for people, left out where there is none.
pub(super) fn with_text(mut operation: Value, text: &str) -> Value {
    if !text.is_empty() {
        operation["description"] = json!(text);
    }
    operation
}

/// Adds an operation to its path.
pub(super) fn add(paths: &mut Map<String, Value>, path: &str, method: &str, operation: Value) {
    let item = paths.entry(path).or_insert_with(|| json!({}));
    item[method.to_ascii_lowercase()] = operation;
}
