//! Masks an exchange before it is written: card data, one-time passwords, PINs, passwords and credentials by the names of fields and
//! headers, card numbers and phones also inside texts. Order numbers, transaction ids, amounts and codes stay.

mod names;
mod text;

use std::{
    collections::{BTreeSet, HashMap},
    mem,
};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    encoding::json_literal::quoted,
    recording::{
        Body, Exchange, Headers,
        json_text::{self, Step, Token, is_json, name, pointer, value_text},
    },
    redact::card_numbers::replace_card_numbers,
};
use names::Kind;
use text::MaskText;

/// Whether a field has a number of a payment, by its name.
pub(crate) fn is_number_name(name: &str) -> bool {
    names::of_field(name) == Kind::Number
}

/// Replaces a value of which nothing is stored.
pub(crate) const HIDDEN: &str = "***";
/// The nesting limit of texts within texts. Anything deeper is not stored at all.
const MAX_NESTING: u32 = 6;
/// The shortest secret that is looked for in other texts of its exchange: shorter ones would match anything.
const SHORTEST_SECRET: usize = 4;
/// The shortest card number that is looked for everywhere.
const SHORTEST_CARD: usize = 12;

/// Masks the exchanges of one recording.
#[derive(Default)]
pub(crate) struct Masker {
    phones: Phones,
}

impl Masker {
    /// Masks an exchange, and adds to `masked` where.
    pub(crate) fn mask(&mut self, exchange: &mut Exchange) {
        let mut pass = Pass { phones: &mut self.phones, masked: BTreeSet::new(), secrets: Vec::new() };
        let request = &mut exchange.request;
        request.method = pass.free_text(&request.method, "/request/method");
        request.target = pass.text(&request.target, "/request/target", MAX_NESTING);
        pass.headers(&mut request.headers, "/request/headers");
        pass.body(request.body.as_mut(), "/request/body");
        if let Some(response) = &mut exchange.response {
            pass.headers(&mut response.headers, "/response/headers");
            pass.body(response.body.as_mut(), "/response/body");
        }
        // A secret that a field named may also stand in a text, such as an error message.
        let request = &mut exchange.request;
        pass.find_secrets(&mut request.target, "/request/target");
        pass.find_secrets_in(&mut request.headers, request.body.as_mut(), "/request");
        if let Some(response) = &mut exchange.response {
            pass.find_secrets_in(&mut response.headers, response.body.as_mut(), "/response");
        }
        // A pointer has the names of members, which may be secrets themselves.
        for mut pointer in mem::take(&mut pass.masked) {
            pointer = pass.free_text(&pointer, "");
            pass.find_secrets(&mut pointer, "");
            exchange.masked.push(pointer);
        }
    }

    /// A text, such as a body, as it would be written in a recording.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut pass = Pass { phones: &mut self.phones, masked: BTreeSet::new(), secrets: Vec::new() };
        pass.text(text, "", MAX_NESTING)
    }
}

/// The masks of phones: the first three and the last three digits, and between them the same for the same phone.
#[derive(Default)]
struct Phones(HashMap<String, Vec<String>>);

impl Phones {
    /// The mask of a phone in any notation.
    fn mask(&mut self, written: &str) -> String {
        let digits: String = written.chars().filter(char::is_ascii_digit).collect();
        let plus = if written.trim_start().starts_with('+') { "+" } else { "" };
        // 0555000101 and 996555000101 are the same phone.
        let subscriber = digits.strip_prefix("996").or(digits.strip_prefix('0')).unwrap_or(&digits).to_owned();
        let (prefix, suffix) = (&digits[..3], &digits[digits.len() - 3..]);
        let alike = self.0.entry(format!("{}{suffix}", &subscriber[..3.min(subscriber.len())])).or_default();
        let index = alike.iter().position(|known| *known == subscriber).unwrap_or_else(|| {
            alike.push(subscriber);
            alike.len() - 1
        });
        match index {
            0 => format!("{plus}{prefix}***{suffix}"),
            _ => format!("{plus}{prefix}*{}*{suffix}", index + 1),
        }
    }
}

/// The last four digits of a card number.
fn mask_card(digits: &str) -> String {
    format!("{HIDDEN}{}", &digits[digits.len().saturating_sub(4)..])
}

/// One exchange.
struct Pass<'a> {
    phones: &'a mut Phones,
    masked: BTreeSet<String>,
    /// The secrets that were found by their names, and their masks.
    secrets: Vec<(String, String)>,
}

impl Pass<'_> {
    fn headers(&mut self, headers: &mut Headers, at: &str) {
        for (name, value) in headers {
            *name = self.free_text(name, at);
            let at = format!("{at}/{name}");
            match names::of_header(name) {
                Kind::Secret => {
                    self.learn_credentials(value);
                    HIDDEN.clone_into(value);
                    self.masked.insert(at);
                }
                Kind::Number => {}
                Kind::Card | Kind::Phone | Kind::Other => *value = self.text(value, &at, MAX_NESTING),
            }
        }
    }

    /// Learns the password of Basic authentication.
    fn learn_credentials(&mut self, value: &str) {
        let decoded = value.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case("basic "));
        let decoded = decoded.and_then(|_| STANDARD.decode(value[6..].trim()).ok());
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|pair| pair.split_once(':')) {
            self.learn(password, HIDDEN);
        }
    }

    fn learn(&mut self, secret: &str, mask: &str) {
        let secret = secret.trim();
        // A year, such as an expiry's, is in many texts.
        let is_year = secret.len() == 4 && (secret.starts_with("19") || secret.starts_with("20"));
        if secret.len() >= SHORTEST_SECRET && !is_year && !secret.contains('*') {
            self.secrets.push((secret.to_owned(), mask.to_owned()));
        }
    }

    fn body(&mut self, body: Option<&mut Body>, at: &str) {
        let Some(body) = body else { return };
        change_text(body, |text| self.text(text, at, MAX_NESTING));
    }

    /// A text of any shape.
    fn text(&mut self, text: &str, at: &str, nesting: u32) -> String {
        if is_json(text) {
            return self.json(text, at, nesting);
        }
        let mut place = Place { pass: self, at, nesting };
        if let Some(masked) = text::in_multipart(text, &mut place) {
            return masked;
        }
        let masked = text::in_pairs(text, &mut place);
        text::in_tags(&masked, &mut place)
    }

    fn json(&mut self, text: &str, at: &str, nesting: u32) -> String {
        json_text::rewrite(text, &mut |path, token| self.token(path, token, at, nesting))
    }

    fn token(&mut self, path: &[Step], token: Token<'_>, at: &str, nesting: u32) -> Option<String> {
        match token {
            Token::Name(raw) => {
                let text = value_text(raw)?;
                let masked = self.free_text(&text, &pointer(at, &path[..path.len() - 1]));
                (masked != text).then(|| quoted(&masked))
            }
            Token::Container => {
                let is_secret = names::of_field(name(path)) == Kind::Secret;
                is_secret.then(|| {
                    self.masked.insert(pointer(at, path));
                    quoted(HIDDEN)
                })
            }
            Token::Scalar("null" | "true" | "false") => None,
            Token::Scalar(raw) => {
                let at = pointer(at, path);
                let Some(text) = value_text(raw) else {
                    self.masked.insert(at);
                    return Some(quoted(HIDDEN));
                };
                let masked = self.named(name(path), &text, &at, nesting);
                (masked != text).then(|| quoted(&masked))
            }
        }
    }

    /// A value that has a name, which may be empty.
    fn named(&mut self, name: &str, value: &str, at: &str, nesting: u32) -> String {
        if value.trim().is_empty() {
            return value.to_owned();
        }
        let masked = match names::of_field(name) {
            Kind::Secret => {
                self.learn(value, HIDDEN);
                HIDDEN.to_owned()
            }
            Kind::Card => self.card(value),
            Kind::Phone if names::is_phone(value) => self.phones.mask(value),
            Kind::Number => value.to_owned(),
            Kind::Phone | Kind::Other => return self.unnamed(value, at, nesting),
        };
        if masked != value {
            self.masked.insert(at.to_owned());
        }
        masked
    }

    fn card(&mut self, value: &str) -> String {
        let digits: String = value.chars().filter(char::is_ascii_digit).collect();
        if value.contains('*') || digits.is_empty() {
            return value.to_owned();
        }
        if digits.len() < SHORTEST_CARD {
            return HIDDEN.to_owned();
        }
        let mask = mask_card(&digits);
        self.learn(value, &mask);
        self.learn(&digits, &mask);
        mask
    }

    /// A value whose name says nothing: a text that may have secrets of its own.
    fn unnamed(&mut self, value: &str, at: &str, nesting: u32) -> String {
        let Some(nesting) = nesting.checked_sub(1) else {
            self.masked.insert(at.to_owned());
            return HIDDEN.to_owned();
        };
        let has_structure = is_json(value) || value.contains(['=', ':', '<']);
        let inner = if has_structure { self.text(value, at, nesting) } else { value.to_owned() };
        self.free_text(&inner, at)
    }

    /// A text without fields.
    fn free_text(&mut self, text: &str, at: &str) -> String {
        let without_cards = replace_card_numbers(text, mask_card);
        let masked = text::replace_phones(&without_cards, &mut |phone| self.phones.mask(phone));
        if masked != text {
            self.masked.insert(at.to_owned());
        }
        masked
    }

    fn find_secrets_in(&mut self, headers: &mut Headers, body: Option<&mut Body>, at: &str) {
        for (name, value) in headers {
            self.find_secrets(value, &format!("{at}/headers/{name}"));
        }
        let Some(body) = body else { return };
        let at = format!("{at}/body");
        change_text(body, |text| {
            let mut text = text.to_owned();
            self.find_secrets(&mut text, &at);
            text
        });
    }

    /// Masks secrets that were found elsewhere: card numbers anywhere, others where they are words of a text.
    fn find_secrets(&mut self, text: &mut String, at: &str) {
        let secrets = mem::take(&mut self.secrets);
        let mut found = false;
        for (secret, mask) in &secrets {
            let is_card = secret.len() >= SHORTEST_CARD && secret.bytes().all(|byte| byte.is_ascii_digit());
            if is_card && text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), mask);
                found = true;
            }
            if is_card || !text.contains(secret.as_str()) {
                continue;
            }
            let masked = if is_json(text) {
                json_text::rewrite(text, &mut |_, token| {
                    let Token::Scalar(raw) = token else { return None };
                    // A whole value that is equal by chance, such as an amount, is no secret; a word of a text is one.
                    let value = value_text(raw).filter(|value| value.contains(char::is_whitespace))?;
                    let masked = text::replace_word(&value, secret, mask);
                    (masked != value).then(|| quoted(&masked))
                })
            } else if text.contains(char::is_whitespace) {
                text::replace_word(text, secret, mask)
            } else {
                continue;
            };
            found |= masked != *text;
            *text = masked;
        }
        self.secrets = secrets;
        if found {
            self.masked.insert(at.to_owned());
        }
    }
}

/// A place in an exchange, for what is found in its text.
struct Place<'a, 'b> {
    pass: &'a mut Pass<'b>,
    at: &'a str,
    nesting: u32,
}

impl MaskText for Place<'_, '_> {
    fn named(&mut self, name: &str, value: &str) -> String {
        self.pass.named(name, value, self.at, self.nesting)
    }

    fn free(&mut self, text: &str) -> String {
        self.pass.free_text(text, self.at)
    }
}

/// Changes the text of a body. Bytes that are no UTF-8 are read byte by byte: ASCII stands as it is in most encodings.
fn change_text(body: &mut Body, change: impl FnOnce(&str) -> String) {
    if let Some(text) = &mut body.text {
        *text = change(text);
        return;
    }
    let bytes = body.bytes();
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let changed = change(&text);
    if changed != text {
        let changed: Vec<u8> = changed.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect();
        if let Some(changed) = Body::of(changed, body.truncated) {
            *body = changed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Direction, Request, Response};

    fn masked(text: &str) -> String {
        Masker::default().text(text)
    }

    #[test]
    fn secrets_are_masked_in_every_shape() {
        for (text, expected) in [
            (r#"{"pan": "4222222222222","cvc":123}"#, r#"{"pan": "***2222","cvc":"***"}"#),
            (
                r#"{"expiryMonth":"12","expiryYear":2099,"exp":"1299"}"#,
                r#"{"expiryMonth":"***","expiryYear":"***","exp":"***"}"#,
            ),
            (
                r#"{"a":[{"card":{"number":"x","cvv2":1,"cardNumber":"4111 1111 1111 1111"}}]}"#,
                r#"{"a":[{"card":{"number":"x","cvv2":"***","cardNumber":"***1111"}}]}"#,
            ),
            (r#"{"phone":"+996 555 000 101","user":996755000201}"#, r#"{"phone":"+996***101","user":"996***201"}"#),
            (r#"{"in":"{\"otp\":\"1234\"}"}"#, r#"{"in":"{\"otp\":\"***\"}"}"#),
            (r#"{"text":"card 4111111111111111 of 996555000101."}"#, r#"{"text":"card ***1111 of 996***101."}"#),
            (r#"{"4111111111111111":1}"#, r#"{"***1111":1}"#),
            (
                r#"{"apiKey":"k","x":{"client_secret":"s","access_token":"t"}}"#,
                r#"{"apiKey":"***","x":{"client_secret":"***","access_token":"***"}}"#,
            ),
            (r#"{"url":"https://x.example/?otp=1234&a=1"}"#, r#"{"url":"https://x.example/?otp=***&a=1"}"#),
            ("pan=4111111111111111&cvc=123&orderNumber=A-1", "pan=***1111&cvc=***&orderNumber=A-1"),
            ("d=%7B%22cvc%22%3A%22987%22%7D&a=1", "d=%7B%22cvc%22%3A%22***%22%7D&a=1"),
            ("/pay?phone=%2B996555000101&password=x", "/pay?phone=%2B996***101&password=***"),
            ("<pay><otp>1234</otp><sum>5</sum></pay>", "<pay><otp>***</otp><sum>5</sum></pay>"),
        ] {
            assert_eq!(masked(text), expected, "{text}");
        }
        let form = "--b\r\nContent-Disposition: form-data; name=\"cvc\"\r\n\r\n987\r\n--b--\r\n";
        assert_eq!(masked(form), form.replace("987", "***"));
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            r#"{"code":"110","message":"CREATED","data":{"amount":100.10,"orderNumber":"4111111111111111"}}"#,
            r#"{"commission":5.01,"bank_card_commission":0,"sms_lifetime":180,"payment_confirmation":true}"#,
            r#"{"ConfirmationUrl":"http://127.0.0.1:8400/3ds?token=0c5f-9"}"#,
            r#"{"dateCreated":"2026-11-30T09:20:00","provider":"Cards","otp":null,"account":"7"}"#,
            "iVBORw0KGgoAAAANSUhEUgAAAZAAAAGQ/PinA+otpB==",
            "2026-11-30T03:20:00.123Z",
        ] {
            assert_eq!(masked(text), text);
        }
    }

    #[test]
    fn similar_phones_get_distinct_masks() {
        let mut masker = Masker::default();
        let mut phone = |phone: &str| masker.text(&format!("{{\"phone\":\"{phone}\"}}")).replace("{\"phone\":", "");
        assert_eq!(phone("996555000101"), "\"996***101\"}");
        assert_eq!(phone("996555111101"), "\"996*2*101\"}");
        assert_eq!(phone("0555000101"), "\"055***101\"}");
        assert_eq!(phone("+996 (555) 111-101"), "\"+996*2*101\"}");
    }

    #[test]
    fn secret_is_found_in_the_texts_of_its_exchange() {
        let body = |text: &str| Body::of(text.as_bytes().to_vec(), None);
        let mut exchange = Exchange {
            exchange: 1,
            direction: Direction::Request,
            connection: 1,
            started_at: String::new(),
            ended_at: String::new(),
            request: Request {
                method: "POST".to_owned(),
                target: "/x?debug=4222222222222".to_owned(),
                headers: vec![("authorization".to_owned(), format!("Basic {}", STANDARD.encode("kassa:swordfish")))],
                body: body(r#"{"orderNumber":"A 4222222222222","pan":"4222222222222","otp":"1000","amount":1000}"#),
            },
            response: Some(Response {
                status: 400,
                headers: vec![("set-cookie".to_owned(), "session=1".to_owned())],
                body: body(r#"{"amount":1000,"message":"OTP 1000 of 4222222222222 is wrong; login kassa, swordfish"}"#),
            }),
            problem: None,
            masked: Vec::new(),
        };
        Masker::default().mask(&mut exchange);
        let written = serde_json::to_string(&exchange).expect("JSON");
        assert!(!written.contains("4222222222222") && !written.contains("swordfish"), "{written}");
        let response = exchange.response.and_then(|response| response.body?.text).expect("a text");
        assert_eq!(response, r#"{"amount":1000,"message":"OTP *** of ***2222 is wrong; login kassa, ***"}"#);
        for at in
            ["/request/body/pan", "/request/headers/authorization", "/response/headers/set-cookie", "/request/target"]
        {
            assert!(exchange.masked.iter().any(|masked| masked == at), "{at} in {:?}", exchange.masked);
        }
    }

    #[test]
    fn truncated_text_keeps_no_secret() {
        let whole = r#"{"a":"b","in":"{\"cvc\":\"9q7\"}","card":{"cvc":"9q7"},"d":["x?otp=9q7"],"otp":"9q7"}"#;
        for end in 0..=whole.len() {
            let text = masked(&whole[..end]);
            assert!(!text.contains("9q"), "{text}");
        }
    }

    #[test]
    fn body_in_another_encoding_is_masked() {
        let mut bytes = b"{\"name\":\"\xc0\xe9\",\"cvc\":\"987\"}".to_vec();
        let mut body = Body::of(bytes.clone(), None).expect("a body");
        change_text(&mut body, |text| Masker::default().text(text));
        bytes.splice(20..23, *b"***");
        assert_eq!(String::from_utf8_lossy(&body.bytes()), String::from_utf8_lossy(&bytes));
    }
}
