//! Redaction of the request log: requests and responses for people, without card data, passwords and phones.

use axum::http::{HeaderMap, HeaderName, Method, Uri, header};
use serde_json::value::RawValue;
use url::form_urlencoded;

use crate::{
    encoding::{FormPairs, JsonObject},
    redact::{card_numbers, without_card_numbers, without_secret_members, without_secrets},
};

/// The longest body that is stored whole.
pub(crate) const MAX_BODY: usize = 8 * 1024;
/// The longest header that is stored whole.
const MAX_HEADER: usize = 300;
/// Replaces a value that is not stored.
const HIDDEN: &str = "\"***\"";
const NOT_STORED: &str = "\"(not kept)\"";
/// Allow list of stored headers; never one with credentials.
const HEADERS: [HeaderName; 8] = [
    header::ALLOW,
    header::CONTENT_TYPE,
    header::CONTENT_LENGTH,
    header::LOCATION,
    header::RETRY_AFTER,
    header::SERVER,
    header::USER_AGENT,
    header::WWW_AUTHENTICATE,
];

/// A request in its stored form.
#[derive(Default)]
pub(crate) struct Request {
    pub(crate) head: String,
    pub(crate) body: Option<String>,
    /// Whether the body has a field for card data.
    pub(crate) has_card_data: bool,
    /// Its card number, to be found again in the response.
    pan: Option<String>,
}

impl Request {
    /// For a request whose body is not known yet, or never will be.
    pub(crate) fn head(method: &Method, uri: &Uri, headers: &HeaderMap) -> Self {
        let mut head = format!("{method} {}", uri.path());
        if let Some(query) = uri.query() {
            head.push('?');
            head.push_str(&shown_query(query));
        }
        head.push_str(&shown_headers(headers));
        Self { head, ..Self::default() }
    }

    /// The same with a body.
    pub(crate) fn with_body(mut self, body: &[u8]) -> Self {
        if body.iter().all(u8::is_ascii_whitespace) {
            return self;
        }
        let Ok(members) = serde_json::from_slice::<JsonObject<&RawValue>>(body) else {
            self.body = Some(format!("(no JSON object, {} bytes; not kept)", body.len()));
            return self;
        };
        self.has_card_data =
            members.0.iter().any(|(name, _)| matches!(name.as_str(), "pan" | "cvc" | "otp" | "pinCode"));
        self.pan = members.0.iter().filter(|(name, _)| name == "pan").find_map(|(_, value)| text(value));
        let shown: Vec<String> = members
            .0
            .iter()
            .map(|(name, value)| format!("  {}: {}", shown_name(name), shown(name, value.get())))
            .collect();
        let whole = if shown.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", shown.join(",\n")) };
        self.body = Some(cut(&self.without_pan(&whole)));
        self
    }

    /// The same with everything masked that looks like a card number.
    pub(crate) fn without_card_numbers(self) -> Self {
        let (head, body) = (without_card_numbers(&self.head), self.body.as_deref().map(without_card_numbers));
        Self { head, body, ..self }
    }

    /// A response in its stored form.
    pub(crate) fn response(&self, body: &str) -> String {
        cut(&without_card_numbers(&self.without_pan(body)))
    }

    fn without_pan(&self, text: &str) -> String {
        match self.pan.as_deref() {
            // Shorter ones are not card numbers, and would match parts of other numbers.
            Some(pan) if pan.len() >= 12 => text.replace(pan, &card_numbers::mask_card(pan)),
            _ => text.to_owned(),
        }
    }
}

/// Stored headers, one per line.
pub(crate) fn shown_headers(headers: &HeaderMap) -> String {
    let lines = HEADERS.iter().filter_map(|name| {
        let value = String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned();
        let value: String = value.chars().take(MAX_HEADER).collect();
        Some(format!("\n{name}: {}", without_secrets(&value)))
    });
    lines.collect()
}

/// A text truncated to the stored length, with a note.
pub(crate) fn cut(text: &str) -> String {
    if text.len() <= MAX_BODY {
        return text.to_owned();
    }
    let end = (0..=MAX_BODY).rev().find(|end| text.is_char_boundary(*end)).unwrap_or_default();
    format!("{}… ({} bytes in all)", &text[..end], text.len())
}

/// A member's name in its stored form. A client may have sent a card number as a name.
fn shown_name(name: &str) -> String {
    json(&without_card_numbers(name))
}

/// A value in its stored form. Allow list: fields that the interface does not define lose their values.
fn shown(name: &str, value: &str) -> String {
    let is_scalar = !value.starts_with(['{', '[']);
    match name {
        "pan" => masked(value, card_numbers::mask_card, 13),
        "phone" | "user" => masked(value, card_numbers::mask_phone, 9),
        "cvc" | "otp" | "pinCode" | "expiryMonth" | "expiryYear" => HIDDEN.to_owned(),
        "description" | "comment" | "serviceName" | "name" | "email" | "requisite" | "account" if is_scalar => {
            // Parsed first, because a digit may be escaped in the JSON text.
            serde_json::from_str::<String>(value).map_or(HIDDEN.to_owned(), |text| json(&without_card_numbers(&text)))
        }
        "returnUrl" | "callbackUrl" | "returnURL" | "callbackURL" | "callback_url" if is_scalar => {
            shown_text(value, without_secret_members)
        }
        "currency" | "language" | "ip" | "provider" if is_scalar => shown_text(value, without_card_numbers),
        // The order's own number stays, whatever its form.
        "orderNumber" | "transaction_id" | "paymentId" | "quid" if is_scalar => shown_text(value, str::to_owned),
        "amount" | "sum" if is_scalar => value.to_owned(),
        _ => NOT_STORED.to_owned(),
    }
}

/// A text after a change. Numbers keep their digits. Serialized again, so that no digit is escaped.
fn shown_text(value: &str, change: fn(&str) -> String) -> String {
    serde_json::from_str::<String>(value).map_or(value.to_owned(), |text| json(&change(&text)))
}

/// Masks a value that is long enough for a mask to hide something.
fn masked(value: &str, mask: fn(&str) -> String, shortest: usize) -> String {
    match serde_json::from_str::<String>(value) {
        Ok(text) if text.chars().count() >= shortest => json(&mask(&text)),
        _ => HIDDEN.to_owned(),
    }
}

fn shown_query(query: &str) -> String {
    let mut shown_pairs = form_urlencoded::Serializer::new(String::new());
    for (name, value) in FormPairs::parse(query.as_bytes()) {
        let value = shown(&name, &json(&value));
        let plain: String = serde_json::from_str(&value).unwrap_or(value);
        shown_pairs.append_pair(&without_card_numbers(&name), &plain);
    }
    cut(&shown_pairs.finish())
}

fn json(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn text(value: &RawValue) -> Option<String> {
    serde_json::from_str(value.get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(body: &str) -> String {
        Request::default().with_body(body.as_bytes()).body.unwrap_or_default()
    }

    #[test]
    fn transcript_masks_secrets_and_nothing_else() {
        let shown = stored(
            r#"{"orderNumber":"4111111111111111","amount":100.10,"pan":"4111111111111111","cvc":"737",
                "expiryMonth":"11","otp":"909123","phone":"996555000101",
                "pinCode":"604137","user":"996755000201","account":"17"}"#,
        );
        assert!(shown.contains("\"amount\": 100.10"), "{shown}");
        assert!(shown.contains("\"pan\": \"411111******1111\"") && shown.contains("9965****0101"), "{shown}");
        assert!(shown.contains("9967****0201") && shown.contains("\"account\": \"17\""), "{shown}");
        for secret in ["4111111111111111", "737", "909123", "\"11\"", "996555000101", "604137", "996755000201"] {
            assert!(!shown.contains(secret), "{secret} in {shown}");
        }
    }

    #[test]
    fn card_number_in_wrong_field_is_not_stored() {
        for body in [
            r#"{"card_number":"4111111111111111"}"#,
            r#"{"pan":4111111111111111}"#,
            r#"{"pan":["4111111111111111"]}"#,
            r#"{"pan":"41111111"}"#,
            r#"{"description":"card 4111111111111111, please"}"#,
            r#"{"amount":{"pan":"4111111111111111"}}"#,
            r#"["4111111111111111"]"#,
            r#"pan=4111111111111111"#,
            r#"{"4111111111111111":1}"#,
            r#"{"description":"\u0034111111111111111"}"#,
            r#"{"name":"4111 1111 1111 1111"}"#,
        ] {
            let shown = stored(body);
            assert!(!shown.contains("41111111"), "{shown}");
        }
    }

    #[test]
    fn query_is_masked_likewise() {
        let uri = "/x?transaction_id=QR-1&otp=909123&other=4111111111111111".parse().expect("a URI");
        let shown = Request::head(&Method::GET, &uri, &HeaderMap::new()).head;
        assert_eq!(shown, "GET /x?transaction_id=QR-1&otp=***&other=%28not+kept%29");
        let uri = "/x?4111111111111111".parse().expect("a URI");
        assert!(!Request::head(&Method::GET, &uri, &HeaderMap::new()).head.contains("41111111"));
    }

    #[test]
    fn stored_headers_never_include_credentials() {
        let mut headers = HeaderMap::new();
        for name in [header::AUTHORIZATION, header::COOKIE, header::USER_AGENT] {
            headers.insert(name, "secret".parse().expect("a value"));
        }
        assert_eq!(shown_headers(&headers), "\nuser-agent: secret");
    }

    #[test]
    fn long_body_is_cut_where_a_character_ends() {
        let shown = cut(&"é".repeat(MAX_BODY));
        assert!(shown.len() < MAX_BODY + 64 && shown.ends_with(&format!("({} bytes in all)", 2 * MAX_BODY)));
    }
}
