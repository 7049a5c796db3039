//! Redaction (masking): hides a request's secrets wherever the gateway echoes them.

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde::de::IgnoredAny;

use crate::{
    money::read_amount,
    response::search::{Decoded, of_card_number, of_text, of_word},
    secret::Secret,
};

const MASK: &str = "***";

/// A password shorter than this could be a part of an ordinary word, so it is only masked as a whole word.
const LONG_PASSWORD: usize = 8;

/// The secrets that must not appear in the output of a response.
///
/// - The card number (PAN) is masked wherever its digits follow each other, whatever separates them; so are a long
///   password and the token of HTTP Basic, also inside words.
/// - The CVC, the one-time password and the password are masked if they are a whole value or a word of a text, between
///   characters that are neither letters nor digits. Inside a word or a number they are kept, because three digits
///   occur in many amounts.
/// - All of them are found in plain form, percent-encoded, escaped as in JSON, or as HTML character references.
/// - A JSON number is compared by its value, in any member except members that are named like an amount or a sum: those
///   are amounts, and a mask in the place of a known amount would reveal the CVC.
/// - The name of a JSON member is not a value: a password that could be such a name is not masked there, or the response would become
///   unreadable.
///
/// Typed values are read from the raw response, so masking changes none of them. It takes time in proportion to the response's length.
pub(crate) struct Redactor {
    pan: Option<Secret>,
    one_time: Vec<Secret>,
    credentials: Arc<HiddenCredentials>,
}

/// The credentials in the header of every request of a gateway.
pub(crate) struct HiddenCredentials {
    /// The password, also as HTML forms send it.
    passwords: Vec<Secret>,
    token: Secret,
}

impl HiddenCredentials {
    pub(crate) fn new(password: Secret, token: Secret) -> Self {
        // HTML forms send a plus sign for a space.
        let as_form = password.expose().contains(' ').then(|| Secret::new(password.expose().replace(' ', "+")));
        Self { passwords: [password].into_iter().chain(as_form).collect(), token }
    }

    /// For a response without a request: there is nothing to hide.
    pub(crate) fn none() -> Self {
        Self { passwords: Vec::new(), token: Secret::new("") }
    }
}

/// The kind of a text, which determines what counts as a secret in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum TextKind {
    /// Text for people, and every JSON value.
    Text,
    /// A code or a number, whose digits may be those of a CVC by chance.
    Code,
    /// The name of a JSON member.
    Name,
    /// Returned unchanged, or not at all.
    Identifier,
    /// Returned unchanged, or not at all, and may contain the gateway's own words.
    Address,
}

/// The position of a secret in a text, and whether it is the card number.
struct SecretSpan {
    place: Range<usize>,
    is_pan: bool,
}

impl Redactor {
    pub(crate) fn new(credentials: Arc<HiddenCredentials>) -> Self {
        Self { pan: None, one_time: Vec::new(), credentials }
    }

    pub(crate) fn hide_pan(&mut self, pan: Secret) {
        self.pan = Some(pan);
    }

    /// Adds a CVC or a one-time password.
    pub(crate) fn hide_value(&mut self, value: Secret) {
        self.one_time.push(value);
    }

    /// Masks a whole body, JSON or not. The rest is unchanged, digit for digit.
    pub(crate) fn body(&self, body: &str) -> String {
        if is_json(body) { self.json_body(body) } else { self.other_body(body) }
    }

    /// Masks an object or an array, which is not validated again.
    pub(crate) fn json_body(&self, body: &str) -> String {
        if self.is_whole_value(body.trim()) { MASK.to_owned() } else { self.across_tokens(self.json(body)) }
    }

    fn other_body(&self, body: &str) -> String {
        if self.is_whole_value(body.trim()) { MASK.to_owned() } else { self.masked(body, TextKind::Text).into_owned() }
    }

    /// Masks a text from a response.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_whole_value(text.trim()) { MASK.into() } else { self.masked(text, TextKind::Text) }
    }

    /// Masks a code: three digits that happen to equal the CVC are kept.
    pub(crate) fn code<'a>(&self, code: &'a str) -> Cow<'a, str> {
        self.masked(code, TextKind::Code)
    }

    /// True if a text may be an identifier or part of a QR code, which a mask would change. It must not contain the
    /// card number, the token of HTTP Basic or a password that is not an ordinary word, nor be a one-time secret as a
    /// whole. Other words and digits may be there by chance.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.one_time().all(|secret| secret != text.trim()) && self.holds_none(text, TextKind::Identifier)
    }

    /// True if a text contains no secret, plain or decoded.
    pub(super) fn holds_none(&self, text: &str, kind: TextKind) -> bool {
        let finds_none = |text: &str| self.find(text, kind).is_empty();
        finds_none(text) && Decoded::of(text).is_none_or(|decoded| finds_none(decoded.text()))
    }

    /// True if nothing in a response needs masking, whatever its parts are: it has no codes to decode, and contains none of the secrets.
    /// This holds for nearly every response to a query, and searching each part for each secret would be half the cost of reading it.
    ///
    /// False decides nothing: if a card or a one-time secret is known, or a password that could equal a number, the parts are always
    /// searched.
    pub(super) fn finds_nothing_in(&self, response: &str) -> bool {
        let is_in_no_form =
            |secret: &str| secret.is_empty() || (read_amount(secret).is_none() && !response.contains(secret));
        self.pan.is_none()
            && self.one_time.is_empty()
            && !Decoded::may_be(response)
            && self.passwords().chain([self.credentials.token.expose()]).all(is_in_no_form)
    }

    pub(super) fn one_time(&self) -> impl Iterator<Item = &str> {
        self.one_time.iter().map(Secret::expose)
    }

    pub(super) fn passwords(&self) -> impl Iterator<Item = &str> {
        self.credentials.passwords.iter().map(Secret::expose)
    }

    /// Masks the members and items of a JSON document one by one.
    fn json(&self, body: &str) -> String {
        let mut masked = String::with_capacity(body.len());
        let mut name = "";
        let mut rest = body;
        while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            let (plain, from_token) = rest.split_at(start);
            masked.push_str(plain);
            if plain.contains(['}', ']']) {
                name = "";
            }
            let is_string = from_token.starts_with('"');
            let token = if is_string { string_token(from_token) } else { number_token(from_token) };
            rest = &from_token[token.len()..];
            let is_name = is_string && rest.trim_start().starts_with(':');
            if is_name {
                name = token;
            }
            masked.push_str(&match (is_string, is_name) {
                (false, _) => self.number(token, name),
                (true, false) => self.string(token, TextKind::Text),
                (true, true) => self.string(token, TextKind::Name),
            });
        }
        masked.push_str(rest);
        masked
    }

    /// Strings are unescaped before they are searched, because an escape such as \u0031 could hide a secret.
    fn string<'a>(&self, token: &'a str, kind: TextKind) -> Cow<'a, str> {
        let Some(inside) = unescaped(token) else { return self.masked(token, kind) };
        // A gateway may echo the whole request, as JSON inside a JSON string.
        let masked = if is_json(&inside) {
            Cow::from(self.body(&inside))
        } else if kind == TextKind::Name && is_field_name(&inside) {
            self.masked(&inside, TextKind::Name)
        } else {
            self.text(&inside)
        };
        if masked == inside { token.into() } else { quoted(&masked).into() }
    }

    /// Compared by value: 012, 12 and 1.2e1 are the same number.
    fn number<'a>(&self, token: &'a str, name: &str) -> Cow<'a, str> {
        let number = read_amount(token);
        let is_secret = |secret: &Secret| number.is_some() && read_amount(secret.expose()) == number;
        if self.one_time.iter().chain(&self.credentials.passwords).any(is_secret) && !names_an_amount(name) {
            return quoted(MASK).into();
        }
        match &self.pan {
            Some(pan) if is_secret(pan) => quoted(&pan_mask(pan)).into(),
            _ => {
                let masked = self.masked(token, TextKind::Code);
                if masked == token { masked } else { quoted(&masked).into() }
            }
        }
    }

    /// Masks a card number whose groups are items of an array, in JSON with everything else already masked.
    fn across_tokens(&self, body: String) -> String {
        let Some(pan) = &self.pan else { return body };
        let places = of_card_number(&body, pan.expose());
        if places.is_empty() {
            return body;
        }
        let mut masked = String::with_capacity(body.len());
        let (mut at, mut in_string) = (0, false);
        for place in places {
            let plain = &body[at..place.start];
            in_string = ends_in_string(plain, in_string);
            masked.push_str(plain);
            masked.push_str(if in_string { "" } else { "\"" });
            masked.push_str(&pan_mask(pan));
            in_string = ends_in_string(&body[place.clone()], in_string);
            masked.push_str(if in_string { "" } else { "\"" });
            at = place.end;
        }
        masked.push_str(&body[at..]);
        masked
    }

    fn is_whole_value(&self, text: &str) -> bool {
        self.one_time().chain(self.passwords()).any(|value| !text.is_empty() && value == text)
    }

    /// Searched in plain form first, and decoded afterwards: a text like a code may not be one, as in `100%4111`.
    fn masked<'a>(&self, text: &'a str, kind: TextKind) -> Cow<'a, str> {
        let masked = self.with_masks(text.into(), self.find(text, kind));
        let Some(decoded) = Decoded::of(&masked) else { return masked };
        let mut found = self.find(decoded.text(), kind);
        for SecretSpan { place, .. } in &mut found {
            *place = decoded.in_source(place);
        }
        self.with_masks(masked, found)
    }

    /// Every secret of a text, in the order in which they begin. Some may overlap.
    fn find(&self, text: &str, kind: TextKind) -> Vec<SecretSpan> {
        let numbers = self.pan.iter().flat_map(|pan| of_card_number(text, pan.expose()));
        let words = self.words(kind).flat_map(|word| of_word(text, word));
        let parts = self.parts(kind).flat_map(|part| of_text(text, part));
        let mut found: Vec<_> = numbers.map(|place| SecretSpan { place, is_pan: true }).collect();
        found.extend(words.chain(parts).map(|place| SecretSpan { place, is_pan: false }));
        found.sort_by_key(|found| found.place.start);
        found
    }

    /// The secrets that are found as whole words.
    fn words(&self, kind: TextKind) -> impl Iterator<Item = &str> {
        let one_time = self.one_time().filter(move |_| matches!(kind, TextKind::Text | TextKind::Name));
        // A long password is found inside words, and so as a word, too.
        one_time.chain(self.passwords().filter(move |password| kind == TextKind::Text && !is_long(password)))
    }

    /// The secrets that are also found inside words.
    fn parts(&self, kind: TextKind) -> impl Iterator<Item = &str> {
        let counts = move |password: &&str| match kind {
            TextKind::Text | TextKind::Code => is_long(password),
            TextKind::Name | TextKind::Identifier => is_no_word(password),
            TextKind::Address => false,
        };
        let is_shown = matches!(kind, TextKind::Text | TextKind::Code | TextKind::Name);
        let token = [self.credentials.token.expose()].into_iter().filter(move |token| is_shown || is_long(token));
        token.chain(self.passwords().filter(counts))
    }

    fn with_masks<'a>(&self, text: Cow<'a, str>, found: Vec<SecretSpan>) -> Cow<'a, str> {
        let mut found = found.into_iter().peekable();
        if found.peek().is_none() {
            return text;
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(SecretSpan { mut place, mut is_pan }) = found.next() {
            while let Some(more) = found.next_if(|more| more.place.start < place.end) {
                place.end = place.end.max(more.place.end);
                is_pan |= more.is_pan;
            }
            masked.push_str(&text[at..place.start]);
            match self.pan.as_ref().filter(|_| is_pan) {
                Some(pan) => masked.push_str(&pan_mask(pan)),
                None => masked.push_str(MASK),
            }
            at = place.end;
        }
        masked.push_str(&text[at..]);
        masked.into()
    }
}

fn is_long(secret: &str) -> bool {
    secret.chars().count() >= LONG_PASSWORD
}

/// True for a password that does not occur by chance. A short password, or one of only letters, may be a word in the
/// gateway's own names and URLs: `token`, `checkout`, `pay-form`.
pub(super) fn is_no_word(password: &str) -> bool {
    let is_of_words = |character: char| character.is_alphabetic() || matches!(character, '-' | '_' | '.');
    is_long(password) && !password.chars().all(is_of_words)
}

/// Whether a name looks like a field name in a program, and not like arbitrary text.
fn is_field_name(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '$'))
}

/// True for the name of a member or parameter that contains an amount.
pub(super) fn names_an_amount(name: &str) -> bool {
    let name = name.trim_matches('"').to_ascii_lowercase();
    name.contains("amount") || name.ends_with("sum")
}

/// The text of a JSON string literal; `None` if it is not one. Most have no escapes, and need no copy.
fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let is_plain = |byte: u8| byte != b'\\' && byte != b'"' && byte >= b' ';
    match token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.bytes().all(is_plain) => Some(inside.into()),
        _ => serde_json::from_str::<String>(token).ok().map(Cow::from),
    }
}

/// True for an object or an array. A text that only begins like one is searched as text.
fn is_json(text: &str) -> bool {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    text.starts_with(['{', '[']) && serde_json::from_str::<IgnoredAny>(text).is_ok()
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// From the opening quote to the closing one.
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

/// Whether a part of a JSON document ends inside a string, given whether it begins in one.
fn ends_in_string(part: &str, begins: bool) -> bool {
    let mut escaped = false;
    part.bytes().fold(begins, |inside, byte| {
        let is_quote = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        inside != is_quote
    })
}

fn pan_mask(pan: &Secret) -> String {
    let pan = pan.expose();
    format!("**** {}", pan.get(pan.len().saturating_sub(4)..).unwrap_or_default())
}

#[cfg(test)]
mod tests;
