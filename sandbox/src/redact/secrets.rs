//! Redaction of texts of any form: masks card numbers, and members with card data
//! or a password, in JSON, forms and queries, including nested or truncated ones.

use url::form_urlencoded;

use crate::{
    encoding::json_literal::{literal_length, quoted, read},
    redact::without_card_numbers,
};

/// Replaces a value that is not stored.
const HIDDEN: &str = "***";
/// The nesting limit of texts within texts. Deeper texts are not stored.
const MAX_NESTING: u32 = 8;
/// Names of secrets by one of their words.
const WORDS: [&str; 7] = ["pan", "pin", "pincode", "csc", "cvn", "exp", "password"];
/// Names of secrets by the beginning of one of their words.
const BEGINNINGS: [&str; 5] = ["card", "cvc", "cvv", "otp", "expiry"];
/// The separators of pairs in forms, queries and lines.
const BETWEEN_PAIRS: [char; 6] = ['&', ';', '?', '#', '\n', '\r'];
const BEHIND_NAMES: [char; 2] = ['=', ':'];

/// The text without secrets.
pub(crate) fn without_secrets(text: &str) -> String {
    without_card_numbers(&without_secret_members(text))
}

/// Removes only the values of secret names; card numbers elsewhere stay.
pub(crate) fn without_secret_members(text: &str) -> String {
    in_text(text, MAX_NESTING)
}

fn in_text(text: &str, nesting: u32) -> String {
    if is_json(text) { in_json(text, nesting) } else { in_pairs(text, nesting) }
}

fn is_json(text: &str) -> bool {
    text.trim_start_matches(|character: char| character.is_whitespace() || character == '\u{feff}')
        .starts_with(['{', '[', '"'])
}

/// Handles each string: one before a colon is a name; any other may be a text with secrets of its own.
fn in_json(text: &str, nesting: u32) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('"') {
        masked.push_str(&rest[..start]);
        let (literal, behind) = rest[start..].split_at(literal_length(&rest[start..]));
        let Some(value) = behind.trim_start().strip_prefix(':').map(str::trim_start) else {
            masked.push_str(&in_literal(literal, nesting));
            rest = behind;
            continue;
        };
        masked.push_str(literal);
        masked.push_str(&behind[..behind.len() - value.len()]);
        rest = value;
        if read(literal).is_none_or(|name| is_secret(&name)) {
            masked.push_str(&quoted(HIDDEN));
            rest = &value[value_length(value)..];
        }
    }
    masked.push_str(rest);
    masked
}

fn in_literal(literal: &str, nesting: u32) -> String {
    match (read(literal), nesting.checked_sub(1)) {
        (Some(text), Some(nesting)) => {
            let masked = in_text(&text, nesting);
            if masked == text { literal.to_owned() } else { quoted(&masked) }
        }
        _ => quoted(HIDDEN),
    }
}

/// The length of the JSON value at the beginning of a text.
fn value_length(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(byte) = text.as_bytes().get(at) {
        match byte {
            b'"' => at += literal_length(&text[at..]) - 1,
            b'{' | b'[' => depth += 1,
            b'}' | b']' if depth == 0 => return at,
            b'}' | b']' => depth -= 1,
            b',' if depth == 0 => return at,
            _ => {}
        }
        at += 1;
        if depth == 0 && matches!(byte, b'"' | b'}' | b']') {
            return at;
        }
    }
    at
}

fn in_pairs(text: &str, nesting: u32) -> String {
    let mut masked = String::with_capacity(text.len());
    for piece in text.split_inclusive(BETWEEN_PAIRS) {
        let pair = piece.strip_suffix(BETWEEN_PAIRS).unwrap_or(piece);
        masked.push_str(&in_pair(pair, nesting));
        masked.push_str(&piece[pair.len()..]);
    }
    masked
}

fn in_pair(pair: &str, nesting: u32) -> String {
    let mut name_start = 0;
    for (at, _) in pair.match_indices(BEHIND_NAMES) {
        if is_secret(&decoded(&pair[name_start..at])) && !pair[at + 1..].trim().is_empty() {
            return format!("{}{HIDDEN}", &pair[..=at]);
        }
        name_start = at + 1;
    }
    let value_start = pair.find(BEHIND_NAMES).map_or(0, |at| at + 1);
    let (name, value) = pair.split_at(value_start);
    let inner = decoded(value);
    let is_encoded = inner != value;
    if !is_encoded && !is_json(value) {
        return pair.to_owned();
    }
    let masked = nesting.checked_sub(1).map_or(HIDDEN.to_owned(), |nesting| in_text(&inner, nesting));
    if masked == inner {
        return pair.to_owned();
    }
    let masked = if is_encoded { form_urlencoded::byte_serialize(masked.as_bytes()).collect() } else { masked };
    format!("{name}{masked}")
}

/// Text before it was encoded in a form or a query.
fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

fn is_secret(name: &str) -> bool {
    words(name)
        .iter()
        .any(|word| WORDS.contains(&word.as_str()) || BEGINNINGS.iter().any(|beginning| word.starts_with(beginning)))
}

/// The words of a name, in lower case: `cardNumber`, `card_number` and `payment[card-number]` share two.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        let begins = !character.is_alphanumeric() || (was_small && character.is_uppercase());
        if begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| character.is_alphanumeric()) {
            word.extend(character.to_lowercase());
        }
        was_small = character.is_lowercase();
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        for (text, masked) in [
            (r#"{"cvc": "9q7", "a": 1}"#, r#"{"cvc": "***", "a": 1}"#),
            (r#"{"a":[{"b":{"cvv2":917,"c":100.10}}]}"#, r#"{"a":[{"b":{"cvv2":"***","c":100.10}}]}"#),
            (r#"{"card":{"holder":"9q7","x":["}"]},"b":"c"}"#, r#"{"card":"***","b":"c"}"#),
            (r#"{"c\u0076c":"9q7"}"#, r#"{"c\u0076c":"***"}"#),
            (r#"{"userOTP" : [1,2], "x":null}"#, r#"{"userOTP" : "***", "x":null}"#),
            (r#"{"body":"{\"cvc\":\"9q7\"}"}"#, r#"{"body":"{\"cvc\":\"***\"}"}"#),
            (r#"{"url":"https://x.example/?otp=9q7&a=1"}"#, r#"{"url":"https://x.example/?otp=***&a=1"}"#),
            ("cvc=9q7&orderNumber=A-1", "cvc=***&orderNumber=A-1"),
            ("a=1&card%5Bc%76c%5D=9q7", "a=1&card%5Bc%76c%5D=***"),
            ("payload=%7B%22cvc%22%3A%229q7%22%7D&a=1", "payload=%7B%22cvc%22%3A%22***%22%7D&a=1"),
            ("next=%2Fx%3Fotp%3D9q7", "next=%2Fx%3Fotp%3D***"),
            ("/receiver/shop?pan=9q7&otp=9q7", "/receiver/shop?pan=***&otp=***"),
            ("order: A-1\r\ncvc: 9q7\r\n", "order: A-1\r\ncvc:***\r\n"),
            ("data: {\"otp\":\"9q7\"}", "data: {\"otp\":***"),
        ] {
            assert_eq!(without_secrets(text), masked, "{text}");
        }
    }

    #[test]
    fn truncated_text_keeps_no_secret() {
        let whole = r#"{"a":"b","in":"{\"cvc\":\"9q7\"}","card":{"c":"9q7"},"d":["x?otp=9q7"],"otp":"9q7"}"#;
        for end in 0..=whole.len() {
            let masked = without_secrets(&whole[..end]);
            assert!(!masked.contains("9q"), "{masked}");
        }
    }

    #[test]
    fn text_without_secrets_is_unchanged() {
        for text in [
            "",
            r#"{"orderNumber":"A-1","amount":100.10,"currency":"KGS","status":"CHARGE"}"#,
            r#"{"provider":"Cards","company":"\u0041"}"#,
            "[1, 2.50, {\"panel\": \"a:b=c\"}] tail",
            "orderNumber=A-1&amount=100.10&comment=%D0%B0+b",
            "<html><body class=\"x\">502 Bad Gateway</body></html>",
            "https://shop.example/done?cart=7#top",
        ] {
            assert_eq!(without_secrets(text), text);
        }
    }

    #[test]
    fn too_deeply_nested_text_is_dropped_cheaply() {
        let deep = format!("a=%{}63vc", "25".repeat(30_000));
        assert_eq!(without_secrets(&deep), "a=***");
        let nested = "{\"cvc\":".repeat(9_000);
        assert!(without_secrets(&nested).starts_with("{\"cvc\":\"***\""));
    }
}
