//! Strings of JSON as they are written, in texts that may be truncated or no JSON as a whole.

/// The content of a string, also of a truncated one.
pub(crate) fn read(literal: &str) -> Option<String> {
    serde_json::from_str(literal).or_else(|_| serde_json::from_str(&format!("{literal}\""))).ok()
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// How long the string is that a text begins with, its quotes included.
pub(crate) fn literal_length(text: &str) -> usize {
    let mut is_escaped = false;
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}
