//! Redaction (masking): hides what was secret in a request wherever the gateway echoes it.

use std::{borrow::Cow, ops::Range, sync::Arc};

use serde::de::IgnoredAny;

use crate::{
    money::read_amount,
    response::search::{Decoded, of_card_number, of_text, of_word},
    secret::Secret,
};

const MASK: &str = "***";

/// A password shorter than this could be a part of an ordinary word, so it is only masked as a word of its own.
const LONG_PASSWORD: usize = 8;

/// The secrets that must not come back out of a response.
///
/// - The card number (PAN) is masked wherever its digits stand in a row, whatever separates them; so are a long
///   password and the token of HTTP Basic, also inside words.
/// - The CVC, the one-time password and the password are masked where they are a whole value or a word of a text,
///   between characters that are no letters and no digits. Inside a word or a number they stay, because three digits
///   occur in many amounts.
/// - All of them are found as they are, and percent-encoded, escaped as in JSON, or as character references of HTML.
/// - A JSON number is compared by its value, whatever member it is of, save in members that are named as an amount or a
///   sum: those are numbers of their own, and a mask in the place of a known amount would tell the CVC.
/// - The name of a JSON member is no value: a password that could be such a name is not masked there, or the response could
///   not be read any more.
///
/// Typed values are read from the response as it came, so masking changes none of them. It takes time in proportion to the
/// response's length.
pub(crate) struct Redactor {
    pan: Option<Secret>,
    one_time: Vec<Secret>,
    credentials: Arc<HiddenCredentials>,
}

/// What every request of a gateway has in its header.
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

    /// For a response to no request: there is nothing to hide.
    pub(crate) fn none() -> Self {
        Self { passwords: Vec::new(), token: Secret::new("") }
    }
}

/// What a text is, and so what counts as a secret in it.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Place {
    /// What people read, and every value of JSON.
    Text,
    /// A code or a number, whose digits may be those of a CVC by chance.
    Code,
    /// The name of a JSON member.
    Name,
    /// Handed on as it is, or not at all.
    Identifier,
    /// The same, with words of the gateway's in it.
    Address,
}

/// Where a secret stands in a text, and whether it is the card number.
struct Found {
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

    /// A CVC or a one-time password.
    pub(crate) fn hide_value(&mut self, value: Secret) {
        self.one_time.push(value);
    }

    /// A whole body, JSON or not. What is not secret stays as it came, digit for digit.
    pub(crate) fn body(&self, body: &str) -> String {
        if is_json(body) { self.json_body(body) } else { self.other_body(body) }
    }

    /// The same of an object or an array, which is not validated once more.
    pub(crate) fn json_body(&self, body: &str) -> String {
        if self.is_whole_value(body.trim()) { MASK.to_owned() } else { self.across_tokens(self.json(body)) }
    }

    fn other_body(&self, body: &str) -> String {
        if self.is_whole_value(body.trim()) { MASK.to_owned() } else { self.masked(body, Place::Text).into_owned() }
    }

    /// A text that was read out of a response.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_whole_value(text.trim()) { MASK.into() } else { self.masked(text, Place::Text) }
    }

    /// A code: three digits that happen to equal the CVC stay a code.
    pub(crate) fn code<'a>(&self, code: &'a str) -> Cow<'a, str> {
        self.masked(code, Place::Code)
    }

    /// True where a text may serve as an identifier or stand in a QR code, which a mask would make another one. It may
    /// not hold the card number, the token of HTTP Basic or a password that is no ordinary word, nor be a one-time
    /// secret as a whole. Other words and digits may be there by chance.
    pub(crate) fn is_clean(&self, text: &str) -> bool {
        self.one_time().all(|secret| secret != text.trim()) && self.holds_none(text, Place::Identifier)
    }

    /// True where a text holds no secret, as it is and decoded.
    pub(super) fn holds_none(&self, text: &str, place: Place) -> bool {
        let finds_none = |text: &str| self.find(text, place).is_empty();
        finds_none(text) && Decoded::of(text).is_none_or(|decoded| finds_none(decoded.text()))
    }

    /// True where nothing in a response is to be masked, whatever its parts are: it has no codes to be decoded, and none of the
    /// secrets stands in it. That is so of nearly every response to a query, and looking at each part of it for each secret
    /// would be half of what reading it costs.
    ///
    /// False may mean anything: where a card or a one-time secret is known, or a password that numbers could be equal to,
    /// parts are always looked at.
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

    /// The members and items of a JSON document, each masked for itself.
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
                (true, false) => self.string(token, Place::Text),
                (true, true) => self.string(token, Place::Name),
            });
        }
        masked.push_str(rest);
        masked
    }

    /// Strings are unescaped before they are searched, because an escape such as \u0031 could hide a secret.
    fn string<'a>(&self, token: &'a str, place: Place) -> Cow<'a, str> {
        let Some(inside) = unescaped(token) else { return self.masked(token, place) };
        // A gateway may echo the whole request, as JSON inside a JSON string.
        let masked = if is_json(&inside) {
            Cow::from(self.body(&inside))
        } else if place == Place::Name && is_field_name(&inside) {
            self.masked(&inside, Place::Name)
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
                let masked = self.masked(token, Place::Code);
                if masked == token { masked } else { quoted(&masked).into() }
            }
        }
    }

    /// A card number whose groups are items of an array, in JSON where everything else is masked already.
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

    /// Searched as it is first, and decoded afterwards: what looks like a code may be none, as in `100%4111`.
    fn masked<'a>(&self, text: &'a str, place: Place) -> Cow<'a, str> {
        let masked = self.with_masks(text.into(), self.find(text, place));
        let Some(decoded) = Decoded::of(&masked) else { return masked };
        let mut found = self.find(decoded.text(), place);
        for Found { place, .. } in &mut found {
            *place = decoded.in_source(place);
        }
        self.with_masks(masked, found)
    }

    /// Every secret of a text, in the order in which they begin. Some may overlap.
    fn find(&self, text: &str, place: Place) -> Vec<Found> {
        let numbers = self.pan.iter().flat_map(|pan| of_card_number(text, pan.expose()));
        let words = self.words(place).flat_map(|word| of_word(text, word));
        let parts = self.parts(place).flat_map(|part| of_text(text, part));
        let mut found: Vec<_> = numbers.map(|place| Found { place, is_pan: true }).collect();
        found.extend(words.chain(parts).map(|place| Found { place, is_pan: false }));
        found.sort_by_key(|found| found.place.start);
        found
    }

    /// What is a secret as a word.
    fn words(&self, place: Place) -> impl Iterator<Item = &str> {
        let one_time = self.one_time().filter(move |_| matches!(place, Place::Text | Place::Name));
        // A long password is found inside words, and so as a word, too.
        one_time.chain(self.passwords().filter(move |password| place == Place::Text && !is_long(password)))
    }

    /// What is a secret inside a word as well.
    fn parts(&self, place: Place) -> impl Iterator<Item = &str> {
        let counts = move |password: &&str| match place {
            Place::Text | Place::Code => is_long(password),
            Place::Name | Place::Identifier => is_no_word(password),
            Place::Address => false,
        };
        let is_shown = matches!(place, Place::Text | Place::Code | Place::Name);
        let token = [self.credentials.token.expose()].into_iter().filter(move |token| is_shown || is_long(token));
        token.chain(self.passwords().filter(counts))
    }

    fn with_masks<'a>(&self, text: Cow<'a, str>, found: Vec<Found>) -> Cow<'a, str> {
        let mut found = found.into_iter().peekable();
        if found.peek().is_none() {
            return text;
        }
        let mut masked = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(Found { mut place, mut is_pan }) = found.next() {
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

/// True for a password that stands nowhere by chance. A short one, and one of letters alone, may be a word that the
/// gateway uses in its own names and addresses: `token`, `checkout`, `pay-form`.
pub(super) fn is_no_word(password: &str) -> bool {
    let is_of_words = |character: char| character.is_alphabetic() || matches!(character, '-' | '_' | '.');
    is_long(password) && !password.chars().all(is_of_words)
}

/// A name as programs have it, and no text that came into the place of one.
fn is_field_name(name: &str) -> bool {
    name.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_' | '.' | '$'))
}

/// True for the name of a member or parameter whose number is money.
pub(super) fn names_an_amount(name: &str) -> bool {
    let name = name.trim_matches('"').to_ascii_lowercase();
    name.contains("amount") || name.ends_with("sum")
}

/// The text of a JSON string literal; `None` where it is not one. Most have no escapes, and need no copy.
fn unescaped(token: &str) -> Option<Cow<'_, str>> {
    let is_plain = |byte: u8| byte != b'\\' && byte != b'"' && byte >= b' ';
    match token.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(inside) if inside.bytes().all(is_plain) => Some(inside.into()),
        _ => serde_json::from_str::<String>(token).ok().map(Cow::from),
    }
}

/// True for an object or an array. What only begins like one is searched as text.
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
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn with_credentials(password: &str, token: &str) -> Redactor {
        Redactor::new(Arc::new(HiddenCredentials::new(Secret::new(password), Secret::new(token))))
    }

    fn redactor() -> Redactor {
        let mut redactor = with_credentials("swordfish-9", "c2hvcDpzd29yZGZpc2gtOQ==");
        redactor.hide_pan(Secret::new("4111111111111111"));
        redactor.hide_value(Secret::new("012"));
        redactor
    }

    #[test]
    fn echoed_secrets_are_masked_and_rest_unchanged() {
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

    /// A card with the CVC 737, a one-time password, and a password.
    fn redactor_with(password: &str) -> Redactor {
        let mut redactor = with_credentials(password, "c2hvcDpodW50ZXIy");
        redactor.hide_pan(Secret::new("4111111111111111"));
        redactor.hide_value(Secret::new("737"));
        redactor.hide_value(Secret::new("918273"));
        redactor
    }

    #[test]
    fn a_secret_is_masked_as_a_word_of_a_text() {
        for (body, masked) in [
            (r#"{"m":"Invalid OTP: 918273"}"#, r#"{"m":"Invalid OTP: ***"}"#),
            (r#"{"m":"cvc=737&otp=918273","n":"code is 737."}"#, r#"{"m":"cvc=***&otp=***","n":"code is ***."}"#),
            (
                r#"{"m":"12/31,737,A","n":["(737)","cvc_737","737 som"]}"#,
                r#"{"m":"12/31,***,A","n":["(***)","cvc_***","*** som"]}"#,
            ),
            (
                r#"{"m":"cvc%3D737%26otp%3d%39182%2573","n":"%3737 %D0%BA737"}"#,
                r#"{"m":"cvc%3D***%26otp%3d%39182%2573","n":"*** %D0%BA737"}"#,
            ),
            (r#"{"m":"otp%3d%39182%373 otp%253D918273"}"#, r#"{"m":"otp%3d*** otp%253D***"}"#),
            (
                r#"{"m":"otp\u003d91827\u0033","n":"x: {\\\"otp\\\":\\\"\\u0039\\u00318273\\\"}"}"#,
                r#"{"m":"otp=***","n":"x: {\\\"otp\\\":\\\"***\\\"}"}"#,
            ),
            ("<p>OTP&nbsp;918273, &#55;37</p>", "<p>OTP&nbsp;***, ***</p>"),
            ("Wrong password hunter2!", "Wrong password ***!"),
            (r#"{"cvc":"737","otp":"918273","#, r#"{"cvc":"***","otp":"***","#),
            (r#"{"cvc":737,"otp":"\u0039\u00318273"#, r#"{"cvc":***,"otp":"***"#),
        ] {
            assert_eq!(redactor_with("hunter2").body(body), masked);
        }
    }

    #[test]
    fn digits_inside_words_and_other_numbers_stay() {
        for body in [
            r#"{"n":17370,"m":7.37,"o":100.737,"p":737.5,"q":-737,"r":[7,3,7]}"#,
            r#"{"m":"17370 7.37 100.737 737.50 a737 737b 10:00:00.737Z","hunter2":1,"hunter2_x":{"b":"xhunter2"}}"#,
            r#"{"amount":737,"totalAmount":737.00,"sum":[737]}"#,
        ] {
            assert_eq!(redactor_with("hunter2").body(body), body);
        }
    }

    /// A number has to be that of an amount by its own name.
    #[test]
    fn a_number_is_compared_by_its_value() {
        for (body, masked) in [
            (r#"{"cvc":737,"x":[737.0,73.7e1]}"#, r#"{"cvc":"***","x":["***","***"]}"#),
            (r#"{"amount":1,"cvc":737}"#, r#"{"amount":1,"cvc":"***"}"#),
            (r#"[{"amount":1},737]"#, r#"[{"amount":1},"***"]"#),
            (r#"{"amount":"737"}"#, r#"{"amount":"***"}"#),
        ] {
            assert_eq!(redactor_with("hunter2").body(body), masked);
        }
    }

    #[test]
    fn card_number_with_any_separator_is_masked() {
        let separators = [
            " ",
            "  ",
            ".",
            "-",
            "/",
            "_",
            ", ",
            "|",
            "*",
            "\t",
            "\r\n",
            "\u{a0}",
            "\u{ad}",
            "\u{200b}",
            "\u{200d}",
            "\u{2009}",
            "\u{2011}",
            "\u{2060}",
            "\u{feff}",
            " - ",
            "%20",
            "%2D",
            "%2e",
            "%C2%A0",
            "%E2%80%8B",
            "%2520",
            "\\u00a0",
            "\\n",
            "&nbsp;",
            "&#8203;",
            "&#xA0;",
        ];
        let redactor = redactor_with("hunter2");
        let digits: Vec<_> = "4111111111111111".chars().map(String::from).collect();
        for separator in separators {
            for number in [["4111", "1111", "1111", "1111"].join(separator), digits.join(separator)] {
                assert_eq!(redactor.text(&format!("card {number}.")), "card **** 1111.", "{separator:?}");
                let body = serde_json::json!({ "m": format!("({number})") }).to_string();
                assert_eq!(redactor.body(&body), r#"{"m":"(**** 1111)"}"#, "{separator:?}");
            }
        }
        for code in ["%3", "\\u003", "\\\\u003", "&#x3"] {
            let end = if code.starts_with('&') { ";" } else { "" };
            let number: String = digits.iter().map(|digit| format!("{code}{digit}{end}")).collect();
            assert_eq!(redactor.text(&number), "**** 1111", "{code}");
        }
        assert_eq!(redactor.text("100%4111111111111111 \\u4111111111111111"), "100%**** 1111 \\u**** 1111");
    }

    #[test]
    fn card_number_in_array_is_masked_as_valid_json() {
        for (body, masked) in [
            (r#"{"pan":["4111","1111","1111","1111"]}"#, r#"{"pan":["**** 1111"]}"#),
            ("[4111, 1111, 1111, 1111]", r#"["**** 1111"]"#),
            (r#"["4111",1111,"1111",1111]"#, r#"["**** 1111"]"#),
            (r#"[4111,"1111",1111,"1111"]"#, r#"["**** 1111"]"#),
        ] {
            assert_eq!(redactor_with("hunter2").body(body), masked);
        }
    }

    /// The response can still be read where the password is the name of a field.
    #[test]
    fn names_of_fields_are_kept() {
        let body = r#"{"code":"code","transaction":{"id":1,"transaction_id":"transaction"}}"#;
        let masked = |password: &str| redactor_with(password).body(body);
        assert_eq!(masked("code"), r#"{"code":"***","transaction":{"id":1,"transaction_id":"transaction"}}"#);
        assert_eq!(masked("transaction"), r#"{"code":"code","transaction":{"id":1,"transaction_id":"***"}}"#);
        let names = r#"{"737":1,"swordfish-77":1,"user=a&password=swordfish-77":1,"{\"cvc\":737}":1}"#;
        let masked = r#"{"***":1,"***":1,"user=a&password=***":1,"{\"cvc\":\"***\"}":1}"#;
        assert_eq!(redactor_with("swordfish-77").body(names), masked);
    }

    #[test]
    fn a_password_is_found_as_it_is_written() {
        let redactor = redactor_with("p@ss w\"rd&1");
        for text in
            ["p@ss w\"rd&1", "p%40ss%20w%22rd%261", "p%40ss+w%22rd%261", r#"p@ss w\"rd&1"#, "p@ss w&quot;rd&amp;1"]
        {
            assert_eq!(redactor.text(&format!("x{text}x")), "x***x", "{text}");
        }
    }

    #[test]
    fn what_is_handed_on_unmasked_holds_no_secret() {
        let redactor = redactor_with("swordfish-77");
        for text in [
            "4111-1111-1111-1111",
            "737",
            " 918273",
            "swordfish-77",
            "a/swordfish-77x",
            "x%73wordfish-77",
            "c2hvcDpodW50ZXIy",
        ] {
            assert!(!redactor.is_clean(text), "{text}");
        }
        for text in ["737-1", "gw-737", "4111", "swordfish"] {
            assert!(redactor.is_clean(text), "{text}");
        }
        for password in ["gw", "gw-1", "token", "3ds", "transaction"] {
            assert!(redactor_with(password).is_clean("gw-1 token/3ds/transaction"), "{password}");
        }
    }

    /// Each of them would take hours if any place made the search begin anew.
    #[test]
    fn the_longest_responses_are_masked() {
        let redactor = redactor_with("hunter2");
        let parts = [
            "4",
            "4,",
            "41 ",
            "411111111111111 ",
            "%",
            "%25",
            "%34",
            "\\",
            "\\u0034",
            "&",
            "&#",
            "737",
            "737.",
            "[",
            "{\"a\":",
            "\"",
            "\"[\",",
        ];
        for part in parts {
            for body in [
                part.repeat(1_048_576 / part.len()),
                format!("[\"{}\"]", part.replace(['\\', '"'], "x").repeat(100_000)),
            ] {
                assert!(!redactor.body(&body).contains("4111111111111111"), "{part}");
            }
        }
        let nested = (0..16).fold("{\"cvc\":737}".to_owned(), |inside, _| format!("[{}]", quoted(&inside)));
        assert!(!redactor.body(&nested).contains("737"));
    }

    proptest! {
        #[test]
        fn no_text_around_a_card_number_saves_it(before in any::<String>(), after in any::<String>()) {
            let masked = redactor().body(&format!("{before}4111111111111111{after}"));
            prop_assert!(!masked.contains("4111111111111111"), "{}", masked);
        }

        #[test]
        fn json_stays_json(text in any::<String>(), number in any::<i32>()) {
            let pan = "4111 1111-1111.1111";
            let body = serde_json::json!({ &text: [text, number, 737, pan, "737"], pan: { "x": 4111111111111111_u64 } });
            let masked = redactor_with("hunter2").body(&body.to_string());
            prop_assert!(serde_json::from_str::<serde_json::Value>(&masked).is_ok(), "{}", masked);
            prop_assert!(!masked.contains("\"737\"") && !masked.contains(pan), "{}", masked);
            prop_assert!(!masked.contains("4111111111111111"), "{}", masked);
        }

        /// Looking at the whole of a response finds what looking at each part would.
        #[test]
        fn body_without_findings_has_nothing_to_mask(
            password in "[a-c0-2 .]{0,3}|[ab]{8,9}|[ab1]{8}",
            token in "[a-c=]{1,3}",
            text in r#"([\[\]{}:, \\%&]|"[a-c0-2 .=+\\%]{0,4}"|[0-2.e-]{1,3})*"#,
            members in vec(("[a-c0-2 .=]{0,9}", "[a-c0-2 .=+]{0,9}", 0_u8..30), 0..4),
        ) {
            let redactor = with_credentials(&password, &token);
            let json: serde_json::Value =
                members.into_iter().map(|(name, text, number)| (name, serde_json::json!([text, number]))).collect();
            for body in [text, json.to_string()] {
                if !redactor.finds_nothing_in(&body) {
                    continue;
                }
                prop_assert_eq!(redactor.body(&body), body.clone());
                for (start, _) in body.char_indices() {
                    let part = &body[start..];
                    prop_assert_eq!(redactor.text(part), part);
                    prop_assert_eq!(redactor.code(part), part);
                    prop_assert!(redactor.is_clean(part) && redactor.holds_none(part, Place::Address));
                }
            }
        }

        #[test]
        fn a_body_without_secrets_is_not_touched(body in "[a-z{}\":, \\\\3-9]*") {
            prop_assert_eq!(redactor().body(&body), body);
        }
    }
}
