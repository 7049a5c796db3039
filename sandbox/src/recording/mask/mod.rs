//! Masks an exchange before it is written: card data, one-time passwords, PINs, passwords and credentials by the names of
//! fields and headers; card numbers and phones also inside texts. Order numbers, transaction ids, amounts and codes stay.

mod encodings;
mod markup;
mod multipart;
mod names;
mod pairs;
mod plain;
#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, mem};

use base64::{Engine, engine::general_purpose::STANDARD};

use crate::{
    encoding::json_literal::{quoted, read_lossy},
    recording::{
        Body, Exchange, Headers,
        json_text::{self, Step, Token, is_json, pointer, value_text},
    },
    redact::card_numbers::replace_card_numbers,
};
use encodings::Encoding;
use names::Kind;
use pairs::MaskText;
use plain::{Phones, without_cut_number};

/// Whether a field has a number of a payment, by its name.
pub(crate) fn is_number_name(name: &str) -> bool {
    names::of_field(name) == Kind::Number
}

/// Replaces a value that is not stored.
pub(crate) const HIDDEN: &str = "***";
/// The nesting limit of texts within texts. Deeper texts are not stored.
const MAX_NESTING: u32 = 6;
/// The minimum length of a secret to search for in other texts of its exchange: shorter ones would match anything.
const SHORTEST_SECRET: usize = 4;
/// The maximum number of secrets of an exchange to search for in its other texts.
const MOST_SECRETS: usize = 64;
/// The minimum length of a secret to search for inside words, too, if it is not all digits.
const SHORTEST_DISTINCT: usize = 8;
/// The minimum length of a secret that cannot equal a whole value by chance. A shorter one may be an amount.
const SHORTEST_WHOLE: usize = 6;
/// The minimum length of a card number to search for everywhere.
const SHORTEST_CARD: usize = 12;
/// The maximum length of a card number. A longer run of digits has something else appended.
const LONGEST_CARD: usize = 19;

/// Masks the exchanges of one recording.
#[derive(Default)]
pub(crate) struct Masker {
    phones: Phones,
}

impl Masker {
    /// Masks an exchange, and adds the places to `masked`.
    pub(crate) fn mask(&mut self, exchange: &mut Exchange) {
        let mut pass = Pass::new(&mut self.phones);
        pass.exchange(exchange);
        if !pass.secrets.is_empty() {
            // A secret in a named field may also occur in a text, such as an error message.
            pass.exchange(exchange);
        }
        // A pointer contains the names of members, which may be secrets themselves.
        for pointer in mem::take(&mut pass.masked) {
            exchange.masked.push(pass.free_text(&pointer, "", MAX_NESTING));
        }
    }

    /// A text, such as a body, in its recorded form.
    pub(crate) fn text(&mut self, text: &str) -> String {
        Pass::new(&mut self.phones).text(text, "", MAX_NESTING)
    }
}

/// The last four digits of a card number.
fn mask_card(digits: &str) -> String {
    format!("{HIDDEN}{}", &digits[digits.len().saturating_sub(4)..])
}

/// Masks one exchange.
struct Pass<'a> {
    phones: &'a mut Phones,
    masked: BTreeSet<String>,
    /// The secrets found by name, and their masks.
    secrets: Vec<(String, String)>,
    /// Values with a name beside them, by their paths in the current text.
    labels: Vec<(Vec<Step>, String)>,
}

impl<'a> Pass<'a> {
    fn new(phones: &'a mut Phones) -> Self {
        Self { phones, masked: BTreeSet::new(), secrets: Vec::new(), labels: Vec::new() }
    }

    fn exchange(&mut self, exchange: &mut Exchange) {
        let is_cut = exchange.problem.is_some();
        let request = &mut exchange.request;
        request.method = self.free_text(&request.method, "/request/method", MAX_NESTING);
        request.target = self.target(&request.target, "/request/target");
        self.headers(&mut request.headers, "/request/headers");
        self.body(request.body.as_mut(), "/request/body", is_cut);
        if let Some(response) = &mut exchange.response {
            self.headers(&mut response.headers, "/response/headers");
            self.body(response.body.as_mut(), "/response/body", is_cut);
        }
    }

    /// Masks a target: a path may have a secret after the name of a secret.
    fn target(&mut self, target: &str, at: &str) -> String {
        let end = target.find(['?', '#']).unwrap_or(target.len());
        let mut path: Vec<String> = target[..end].split('/').map(str::to_owned).collect();
        for index in 1..path.len() {
            let is_number = path[index].len() >= 3 && path[index].bytes().all(|byte| byte.is_ascii_digit());
            if is_number && matches!(names::of_field(&path[index - 1]), Kind::Secret | Kind::Card) {
                path[index] = self.named(&path[index - 1], &path[index], at, MAX_NESTING);
            }
        }
        self.text(&format!("{}{}", path.join("/"), &target[end..]), at, MAX_NESTING)
    }

    fn headers(&mut self, headers: &mut Headers, at: &str) {
        for (name, value) in headers {
            *name = self.free_text(name, at, MAX_NESTING);
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

    /// Collects the secrets in a header: a key, the text after a scheme or the name of a cookie, the password of Basic authentication.
    fn learn_credentials(&mut self, value: &str) {
        let decoded = value.get(..6).filter(|scheme| scheme.eq_ignore_ascii_case("basic "));
        let decoded = decoded.and_then(|_| STANDARD.decode(value[6..].trim()).ok());
        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
        if let Some((_, password)) = decoded.as_deref().and_then(|pair| pair.split_once(':')) {
            self.learn(password, HIDDEN);
        }
        let first = value.split(';').next().unwrap_or_default();
        let credential = first.split_once('=').map_or(first, |(_, credential)| credential);
        let credential = credential.trim_matches('=').trim().rsplit(' ').next().unwrap_or_default();
        if credential.len() >= SHORTEST_DISTINCT {
            self.learn(credential, HIDDEN);
        }
    }

    fn learn(&mut self, secret: &str, mask: &str) {
        let secret = secret.trim();
        // Many texts contain a year, such as an expiry's.
        let is_year = secret.len() == 4 && (secret.starts_with("19") || secret.starts_with("20"));
        let is_known = self.secrets.iter().any(|(known, _)| known == secret);
        let is_full = self.secrets.len() == MOST_SECRETS;
        if secret.len() >= SHORTEST_SECRET && !is_year && !is_known && !is_full && !secret.contains('*') {
            self.secrets.push((secret.to_owned(), mask.to_owned()));
        }
    }

    fn body(&mut self, body: Option<&mut Body>, at: &str, is_cut: bool) {
        let Some(body) = body else { return };
        let is_cut = is_cut || body.truncated.is_some();
        let Some(text) = &mut body.text else { return self.bytes(body, at) };
        *text = self.text(text, at, MAX_NESTING);
        if is_cut && let Some(whole) = without_cut_number(text) {
            *text = whole;
            self.masked.insert(at.to_owned());
        }
    }

    /// Bytes that are not UTF-8 are read byte by byte: ASCII is unchanged in most encodings.
    fn bytes(&mut self, body: &mut Body, at: &str) {
        let bytes = body.bytes();
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        let changed = self.text(&text, at, MAX_NESTING);
        // UTF-16 and UTF-32 have zeros between the characters: such a text is stored without secrets or not at all.
        let dense = text.replace('\0', "");
        let stored = if dense.len() < text.len() && self.text(&dense, at, MAX_NESTING) != dense {
            Body::of(Vec::new(), Some(body.truncated.unwrap_or(bytes.len() as u64)))
        } else if changed != text {
            let changed: Vec<u8> = changed.chars().map(|character| u8::try_from(character).unwrap_or(b'?')).collect();
            Body::of(changed, body.truncated)
        } else {
            None
        };
        if let Some(stored) = stored {
            *body = stored;
        }
    }

    /// Masks a text of any form.
    fn text(&mut self, text: &str, at: &str, nesting: u32) -> String {
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        // JSON lines, and the rest of a log line.
        while is_json(rest) {
            let (first, behind) = rest.split_at(json_text::first_length(rest));
            masked.push_str(&self.json(first, at, nesting));
            rest = behind;
        }
        if rest.trim().is_empty() {
            masked.push_str(rest);
            return masked;
        }
        let rest = encodings::in_user_info(rest, &mut |password| {
            self.learn(password, HIDDEN);
            self.masked.insert(at.to_owned());
            HIDDEN.to_owned()
        });
        let mut place = TextLocation { pass: self, at, nesting };
        // Parts may be in an element, and elements in a part.
        let begins_with_tag = rest.trim_start().starts_with('<');
        let parts = if begins_with_tag { None } else { multipart::in_multipart(&rest, &mut place) };
        masked.push_str(&match parts {
            Some(masked) => masked,
            None if markup::is_markup(&rest) => markup::in_markup(&rest, &mut place),
            None => pairs::in_pairs(&rest, &mut place),
        });
        masked
    }

    fn json(&mut self, text: &str, at: &str, nesting: u32) -> String {
        let labels = mem::take(&mut self.labels);
        let masked = json_text::rewrite(text, &mut |path, token| self.token(path, token, at, nesting));
        self.labels = labels;
        masked
    }

    fn token(&mut self, path: &[Step], token: Token<'_>, at: &str, nesting: u32) -> Option<String> {
        match token {
            Token::Name(raw) => {
                let text = read_lossy(raw);
                let masked = self.free_text(&text, &pointer(at, &path[..path.len() - 1]), nesting);
                (masked != text).then(|| quoted(&masked))
            }
            Token::Container(text) => {
                if names::of_field(&self.name(path)) == Kind::Secret {
                    self.masked.insert(pointer(at, path));
                    return Some(quoted(HIDDEN));
                }
                self.read_labels(path, text);
                None
            }
            Token::Scalar("null" | "true" | "false") => None,
            Token::Scalar(raw) => {
                let at = pointer(at, path);
                let Some(text) = value_text(raw) else {
                    self.masked.insert(at);
                    return Some(quoted(HIDDEN));
                };
                let masked = self.named(&self.name(path), &text, &at, nesting);
                (masked != text).then(|| quoted(&masked))
            }
        }
    }

    /// The name that determines a value's meaning.
    fn name(&self, path: &[Step]) -> String {
        let label = self.labels.iter().rev().find(|(labelled, _)| labelled == path);
        label.map_or_else(|| names::at_path(path).to_owned(), |(_, label)| label.clone())
    }

    /// Finds values whose names are values themselves: `{"name": "cvc", "value": "123"}`, `["cvc", "123"]`.
    fn read_labels(&mut self, path: &[Step], container: &str) {
        self.labels
            .retain(|(labelled, _)| labelled.len() <= path.len() && path.starts_with(&labelled[..labelled.len() - 1]));
        let members = json_text::members(container);
        let is_label = |step: &Step| match step {
            Step::Name(name) => names::is_label(name),
            Step::Index(index) => *index == 0 && members.len() == 2,
        };
        let label = members.iter().filter(|(step, _)| is_label(step)).find_map(|(_, value)| {
            value.as_ref().filter(|label| !matches!(names::of_field(label), Kind::Other | Kind::Number))
        });
        let Some(label) = label else { return };
        for (step, _) in &members {
            let is_value = match step {
                Step::Name(name) => names::is_generic(name),
                Step::Index(index) => *index == 1,
            };
            if is_value {
                self.labels.push(([path, std::slice::from_ref(step)].concat(), label.clone()));
            }
        }
    }

    /// Masks a value with a name, which may be empty.
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
            Kind::Number => self.without_secrets(value, true),
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
        if !(SHORTEST_CARD..=LONGEST_CARD).contains(&digits.len()) {
            return HIDDEN.to_owned();
        }
        let mask = mask_card(&digits);
        self.learn(value, &mask);
        self.learn(&digits, &mask);
        mask
    }

    /// Masks a value whose name has no meaning: a text that may contain secrets of its own.
    fn unnamed(&mut self, value: &str, at: &str, nesting: u32) -> String {
        let Some(nesting) = nesting.checked_sub(1) else {
            self.masked.insert(at.to_owned());
            return HIDDEN.to_owned();
        };
        let has_structure = is_json(value) || value.contains(['=', ':', '<', '&']);
        if has_structure { self.text(value, at, nesting) } else { self.free_text(value, at, nesting) }
    }

    /// Masks a text without fields, which may contain other texts.
    fn free_text(&mut self, text: &str, at: &str, nesting: u32) -> String {
        let mut masked = self.without_secrets(text, false);
        masked = replace_card_numbers(&masked, mask_card);
        masked = plain::replace_phones(&masked, &mut |phone| self.phones.mask(phone));
        masked = plain::replace_spoken(&masked, &mut |secret| {
            self.learn(secret, HIDDEN);
            HIDDEN.to_owned()
        });
        if masked != text {
            self.masked.insert(at.to_owned());
        }
        if let Some(inner) = Encoding::Percent.decode(&masked) {
            let inner_masked = self.unnamed(&inner, at, nesting);
            if inner_masked != inner {
                masked = Encoding::Percent.encode(&inner_masked);
            }
        }
        encodings::in_base64(&masked, &mut |inner| self.unnamed(inner, at, nesting))
    }

    /// Masks secrets that were found elsewhere in the exchange. A whole value that
    /// is equal by chance, such as an amount, stays; a word of a sentence is masked.
    fn without_secrets(&self, text: &str, is_number: bool) -> String {
        let mut text = text.to_owned();
        for (secret, mask) in &self.secrets {
            if !text.contains(secret.as_str()) {
                continue;
            }
            let is_digits = secret.bytes().all(|byte| byte.is_ascii_digit());
            let shortest = if is_digits { SHORTEST_CARD } else { SHORTEST_DISTINCT };
            text = match () {
                () if secret.len() >= shortest => text.replace(secret.as_str(), mask),
                () if is_number => text,
                () if text.trim() == secret && secret.len() >= SHORTEST_WHOLE => mask.clone(),
                () if text.contains(char::is_whitespace) => plain::replace_word(&text, secret, mask),
                () => text,
            };
        }
        text
    }
}

/// A place in an exchange, for what is found in its text.
struct TextLocation<'a, 'b> {
    pass: &'a mut Pass<'b>,
    at: &'a str,
    nesting: u32,
}

impl MaskText for TextLocation<'_, '_> {
    fn named(&mut self, name: &str, value: &str) -> String {
        self.pass.named(name, value, self.at, self.nesting)
    }

    fn free(&mut self, text: &str) -> String {
        self.pass.free_text(text, self.at, self.nesting)
    }
}
