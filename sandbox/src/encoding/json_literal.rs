//! JSON string literals in texts that may be truncated or not JSON as a whole.

/// The content of a string, which may be truncated.
pub(crate) fn read(literal: &str) -> Option<String> {
    serde_json::from_str(literal).or_else(|_| serde_json::from_str(&format!("{literal}\""))).ok()
}

/// The readable content of a string: unknown escapes are kept as they are.
pub(crate) fn read_lossy(literal: &str) -> String {
    if let Some(text) = read(literal) {
        return text;
    }
    let quote = literal.chars().next().filter(|first| matches!(first, '"' | '\''));
    let content = quote.map_or(literal, |quote| literal[1..].strip_suffix(quote).unwrap_or(&literal[1..]));
    let mut text = String::with_capacity(content.len());
    let mut rest = content.chars();
    while let Some(character) = rest.next() {
        let escaped = if character == '\\' { rest.next() } else { None };
        text.push(match escaped {
            Some('u') => {
                let code = rest.as_str().get(..4).and_then(|digits| u32::from_str_radix(digits, 16).ok());
                if code.is_some() {
                    rest = rest.as_str()[4..].chars();
                }
                code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
            }
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some(escaped) => escaped,
            None => character,
        });
    }
    text
}

/// A text as a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The length of the string literal at the beginning of a text, with its quotes.
pub(crate) fn literal_length(text: &str) -> usize {
    let mut is_escaped = false;
    let quote = text.bytes().next().unwrap_or(b'"');
    let end = text.bytes().enumerate().skip(1).find(|(_, byte)| {
        let is_end = *byte == quote && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    });
    end.map_or(text.len(), |(end, _)| end + 1)
}
