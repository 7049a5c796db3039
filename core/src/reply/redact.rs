//! Redaction (masking): hides what was secret in a request wherever the gateway echoes it.

use std::borrow::Cow;

use crate::values::{money::read_amount, secret::Secret};

const MASK: &str = "***";

/// A password shorter than this could be an ordinary word of a reply, so it is only masked as a whole value.
const LONG_PASSWORD: usize = 8;

/// The secrets that must not come back out of a reply.
///
/// The card number (PAN) is masked wherever it occurs, also with spaces or hyphens between its digits, and so are a
/// long password and the token of HTTP Basic. The CVC, the one-time password and a short password are masked only where
/// they are a whole JSON value, because three digits occur in many amounts.
#[derive(Default)]
pub(crate) struct Redactor {
    pan: Option<Secret>,
    whole_values: Vec<Secret>,
    anywhere: Vec<Secret>,
}

impl Redactor {
    pub(crate) fn hide_pan(&mut self, pan: Secret) {
        self.pan = Some(pan);
    }

    pub(crate) fn hide_value(&mut self, value: Secret) {
        self.whole_values.push(value);
    }

    pub(crate) fn hide_credentials(&mut self, password: Secret, token: Secret) {
        if password.expose().chars().count() >= LONG_PASSWORD {
            self.anywhere.push(password.clone());
        }
        self.whole_values.push(password);
        self.anywhere.push(token);
    }

    /// A whole body, JSON or not. What is not secret stays as it came, digit for digit.
    pub(crate) fn body(&self, body: &str) -> String {
        if self.is_whole_value(body.trim()) {
            return MASK.to_owned();
        }
        // Numbers get a quoted mask, which belongs into JSON; in other text a number is part of a sentence.
        let is_json = is_json(body);
        let mut masked = String::with_capacity(body.len());
        let mut rest = body;
        while let Some(start) = rest.find(|c: char| c == '"' || (is_json && (c == '-' || c.is_ascii_digit()))) {
            let (plain, from_token) = rest.split_at(start);
            masked.push_str(plain);
            let token = if from_token.starts_with('"') { string_token(from_token) } else { number_token(from_token) };
            masked.push_str(&if token.starts_with('"') { self.string(token) } else { self.number(token) });
            rest = &from_token[token.len()..];
        }
        masked.push_str(rest);
        match self.everywhere(&masked) {
            Cow::Borrowed(_) => masked,
            Cow::Owned(masked) => masked,
        }
    }

    /// A text that was read out of a reply.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_whole_value(text.trim()) { MASK.into() } else { self.everywhere(text) }
    }

    /// Strings are unescaped before they are searched, because an escape such as \u0031 could hide a secret.
    fn string<'a>(&self, token: &'a str) -> Cow<'a, str> {
        let Some(inside) = unescaped(token) else { return token.into() };
        // A gateway may echo the whole request, as JSON inside a JSON string.
        let masked = if is_json(&inside) { Cow::from(self.body(&inside)) } else { self.text(&inside) };
        if masked == inside { token.into() } else { quoted(&masked).into() }
    }

    /// Compared by value: 012, 12 and 1.2e1 are the same number.
    fn number<'a>(&self, token: &'a str) -> Cow<'a, str> {
        let number = read_amount(token);
        let is_secret = |secret: &Secret| number.is_some() && read_amount(secret.expose()) == number;
        if self.whole_values.iter().any(is_secret) {
            return quoted(MASK).into();
        }
        match &self.pan {
            Some(pan) if is_secret(pan) => quoted(&pan_mask(pan.expose())).into(),
            _ => {
                let masked = self.everywhere(token);
                if masked == token { masked } else { quoted(&masked).into() }
            }
        }
    }

    /// True where nothing in a text needs a mask: only such a text may serve as an identifier.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.text(text) == text
    }

    fn is_whole_value(&self, text: &str) -> bool {
        self.whole_values.iter().any(|value| !text.is_empty() && value.expose() == text)
    }

    /// Masks the secrets that are masked anywhere, but not those that count only as a whole value: three digits may be
    /// a code.
    pub(crate) fn everywhere<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = match &self.pan {
            Some(pan) => without_pan(text, pan.expose()).into(),
            None => Cow::from(text),
        };
        let is_in = |secret: &str, text: &str| !secret.is_empty() && text.contains(secret);
        self.anywhere
            .iter()
            .map(Secret::expose)
            .fold(text, |text, secret| if is_in(secret, &text) { text.replace(secret, MASK).into() } else { text })
    }
}

/// The text of a JSON string literal; `None` where it is not one. Most have no escapes, and need no copy.
fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let is_plain = |byte: u8| byte != b'\\' && byte != b'"' && byte >= b' ';
    match token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.bytes().all(is_plain) => Some(inside.into()),
        _ => serde_json::from_str::<String>(token).ok().map(Cow::from),
    }
}

fn is_json(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['{', '['])
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// From the opening quote to the closing one, or to the end where the text was cut short.
fn string_token(text: &str) -> &str {
    let mut escaped = false;
    for (place, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return &text[..=place],
            _ => {}
        }
    }
    text
}

fn number_token(text: &str) -> &str {
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(text.len());
    &text[..end]
}

fn without_pan(text: &str, pan: &str) -> String {
    let Some(first) = pan.chars().next() else { return text.to_owned() };
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(first) {
        let (plain, from_digit) = rest.split_at(start);
        masked.push_str(plain);
        let length = pan_at_start(from_digit, pan);
        masked.push_str(&length.map_or_else(|| first.to_string(), |_| pan_mask(pan)));
        rest = &from_digit[length.unwrap_or(first.len_utf8())..];
    }
    masked.push_str(rest);
    masked
}

fn pan_mask(pan: &str) -> String {
    format!("**** {}", pan.get(pan.len().saturating_sub(4)..).unwrap_or_default())
}

/// The length of the card number where the text begins with it, one space or hyphen between digits allowed.
fn pan_at_start(text: &str, pan: &str) -> Option<usize> {
    let text = text.as_bytes();
    let mut at = 0;
    for (place, digit) in pan.bytes().enumerate() {
        if place > 0 && matches!(text.get(at), Some(b' ' | b'-')) {
            at += 1;
        }
        (*text.get(at)? == digit).then_some(())?;
        at += 1;
    }
    (at > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redactor() -> Redactor {
        let mut redactor = Redactor::default();
        redactor.hide_pan(Secret::new("4111111111111111"));
        redactor.hide_value(Secret::new("012"));
        redactor.hide_credentials(Secret::new("swordfish-9"), Secret::new("c2hvcDpzd29yZGZpc2gtOQ=="));
        redactor
    }

    #[test]
    fn echoed_secrets_are_masked_and_the_rest_stays_as_it_came() {
        let body = r#"{ "pan":4111111111111111, "p":"4111 1111-11111111", "u":"\u0034111111111111111",
            "cvc":"012", "n":12, "amount":100.10, "sum":1012, "password":"swordfish-9", "h":"Basic c2hvcDpzd29yZGZpc2gtOQ==",
            "4111111111111111":"012x"}"#;
        let masked = r#"{ "pan":"**** 1111", "p":"**** 1111", "u":"**** 1111",
            "cvc":"***", "n":"***", "amount":100.10, "sum":1012, "password":"***", "h":"Basic ***",
            "**** 1111":"012x"}"#;
        assert_eq!(redactor().body(body), masked);
    }

    #[test]
    fn a_quoted_request_is_looked_into() {
        let body = r#"{"you sent":"{\"cvc\":\"012\",\"deep\":\"[\\\"012\\\"]\",\"sum\":1012}"}"#;
        let masked = r#"{"you sent":"{\"cvc\":\"***\",\"deep\":\"[\\\"***\\\"]\",\"sum\":1012}"}"#;
        assert_eq!(redactor().body(body), masked);
    }

    #[test]
    fn no_form_of_a_number_hides_it() {
        for (body, masked) in [
            ("[4.111111111111111E15]", r#"["**** 1111"]"#),
            ("[411111111111111.1e1, 1.2e1]", r#"["**** 1111", "***"]"#),
            ("\u{feff}{\"cvc\":12}", "\u{feff}{\"cvc\":\"***\"}"),
            (" 012\n", "***"),
            ("4111111111111111", "**** 1111"),
            ("41111111111111112", "**** 11112"),
        ] {
            assert_eq!(redactor().body(body), masked);
        }
    }

    #[test]
    fn bodies_that_are_not_json_are_masked_too() {
        assert_eq!(redactor().body("<b>card 4111-1111-1111-1111</b> x"), "<b>card **** 1111</b> x");
        assert_eq!(redactor().body("user=shop&password=swordfish-9"), "user=shop&password=***");
        assert_eq!(redactor().body(r#"{"pan":"4111111111111111"#), r#"{"pan":"**** 1111"#);
    }

    proptest! {
        #[test]
        fn no_text_around_a_card_number_saves_it(before in any::<String>(), after in any::<String>()) {
            let masked = redactor().body(&format!("{before}4111111111111111{after}"));
            prop_assert!(!masked.contains("4111111111111111"), "{}", masked);
        }

        #[test]
        fn a_body_without_secrets_is_not_touched(body in "[a-z{}\":, \\\\3-9]*") {
            prop_assert_eq!(redactor().body(&body), body);
        }
    }
}
