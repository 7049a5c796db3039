//! Renders a recorded message for a new payment: numbers, amounts, phones, times
//! and addresses are replaced by the new ones. The rest of the text is unchanged.

use std::collections::HashMap;

use rust_decimal::Decimal;
use time::{
    Duration, OffsetDateTime, PrimitiveDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};
use url::Url;

use crate::{
    encoding::elqr,
    encoding::json_literal::quoted,
    recording::{
        json_text::{self, Token, is_json, name, value_text},
        mask::HIDDEN,
    },
    replay::values::{Field, plain_name},
};

/// The minimum length of a value that is replaced under another name.
const SHORTEST_DISTINCT: usize = 4;
/// Names of amounts.
const AMOUNTS: [&str; 6] = ["amount", "sum", "total", "price", "value", "paymentamount"];
const LOCAL: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");
const LOCAL_BLANK: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");

/// The replacements of recorded values by new ones.
#[derive(Debug, Default)]
pub(super) struct Substitution {
    /// Recorded and new numbers, longest first.
    numbers: Vec<(String, String)>,
    /// Recorded and new values of requests, by name.
    fields: Vec<(String, String, String)>,
    /// The addresses of the recorded gateway and of this one.
    addresses: Vec<(String, String)>,
    /// The time between recording and replay, in milliseconds.
    later_ms: i64,
}

impl Substitution {
    /// Replacements of the recorded gateway's address, and of times.
    pub(super) fn new(upstream: &str, own: &str, later_ms: i64) -> Self {
        // Pages may be outside the path of requests.
        let origin = Url::parse(upstream).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let addresses = [upstream.to_owned(), origin].into_iter().filter(|address| !address.is_empty());
        Self { addresses: addresses.map(|address| (address, own.to_owned())).collect(), later_ms, ..Self::default() }
    }

    pub(super) fn add_number(&mut self, recorded: &str, new: &str) {
        if recorded == new || self.numbers.iter().any(|(known, _)| known == recorded) {
            return;
        }
        self.numbers.push((recorded.to_owned(), new.to_owned()));
        self.numbers.sort_by_key(|(known, _)| std::cmp::Reverse(known.len()));
    }

    /// The new number for a recorded one.
    pub(super) fn new_number(&self, recorded: &str) -> Option<&str> {
        self.numbers.iter().find(|(known, _)| known == recorded).map(|(_, new)| new.as_str())
    }

    /// Changes the difference of times.
    pub(super) fn set_later(&mut self, later_ms: i64) {
        self.later_ms = later_ms;
    }

    /// Learns from a request that matches a recorded one.
    pub(super) fn add_request(&mut self, recorded: &[Field], new: &[Field]) {
        let new: HashMap<&str, &str> = new.iter().map(|field| (field.place.as_str(), field.value.as_str())).collect();
        for field in recorded {
            let Some(value) = new.get(field.place.as_str()) else { continue };
            // A secret is never in a response; only the last digits of a card are.
            let value = match field.value.strip_prefix(HIDDEN) {
                Some("") => continue,
                Some(_) => format!("{HIDDEN}{}", last_four(value)),
                None => (*value).to_owned(),
            };
            if field.is_number() {
                self.add_number(&field.value, &value);
            }
            self.fields.retain(|(name, recorded, _)| (name, recorded) != (&field.name, &field.value));
            self.fields.push((field.name.clone(), field.value.clone(), value));
        }
    }

    /// The value of a name in a new request.
    pub(super) fn new_value(&self, name: &str) -> Option<&str> {
        self.fields.iter().rev().find(|(known, ..)| known == name).map(|(_, _, new)| new.as_str())
    }

    /// Renders a body of any form.
    pub(super) fn body(&self, text: &str) -> String {
        if !is_json(text) {
            return self.text(text);
        }
        json_text::rewrite(text, &mut |path, token| match token {
            Token::Scalar(raw) if !matches!(raw, "null" | "true" | "false") => {
                let value = value_text(raw)?;
                let new = self.value(&plain_name(name(path)), &value);
                let is_bare = !raw.starts_with('"') && new.parse::<Decimal>().is_ok();
                (new != value).then(|| if is_bare { new } else { quoted(&new) })
            }
            _ => None,
        })
    }

    /// Renders a value by its name.
    fn value(&self, name: &str, value: &str) -> String {
        let same = |field: &&(String, String, String)| field.0 == name && field.1 == value;
        if let Some((_, _, new)) = self.fields.iter().rev().find(same) {
            return new.clone();
        }
        if AMOUNTS.contains(&name) {
            return self.amount(value).unwrap_or_else(|| value.to_owned());
        }
        let alike = |field: &&(String, String, String)| {
            field.1 == value && value.len() >= SHORTEST_DISTINCT && value.parse::<Decimal>().is_err()
        };
        match self.fields.iter().rev().find(alike) {
            Some((_, _, new)) => new.clone(),
            None => self.moment(name, value).unwrap_or_else(|| self.text(value)),
        }
    }

    /// Renders an amount under another name, in som or in tyiyn.
    fn amount(&self, value: &str) -> Option<String> {
        let amount: Decimal = value.parse().ok()?;
        let hundred = Decimal::from(100);
        let known = self.fields.iter().rev().filter(|(name, ..)| AMOUNTS.contains(&name.as_str()));
        let mut known = known.filter_map(|(_, recorded, new)| Some((recorded.parse().ok()?, new.parse().ok()?)));
        known.find_map(|(recorded, new): (Decimal, Decimal)| {
            let new = match () {
                () if recorded == amount => new,
                () if recorded.checked_mul(hundred) == Some(amount) => new.checked_mul(hundred)?.normalize(),
                () if Some(recorded) == amount.checked_mul(hundred) => new / hundred,
                () => return None,
            };
            Some(new.to_string())
        })
    }

    /// Renders a time, shifted like the payment.
    fn moment(&self, name: &str, value: &str) -> Option<String> {
        let later = Duration::milliseconds(self.later_ms);
        if let Ok(time) = OffsetDateTime::parse(value, &Rfc3339) {
            let moved = time.checked_add(later)?;
            // The number of digits after the second stays the same.
            let written = moved.format(LOCAL).ok()?;
            let zone = value.rfind(['Z', '+', '-']).filter(|at| *at > 10)?;
            return Some(format!("{written}{}{}", &value[19..zone], &value[zone..]));
        }
        for form in [LOCAL, LOCAL_BLANK] {
            let begins = value.get(..19).filter(|_| value.len() == 19 || value[19..].starts_with('.'));
            if let Some(time) = begins.and_then(|begins| PrimitiveDateTime::parse(begins, form).ok()) {
                let moved = time.checked_add(later)?.format(form).ok()?;
                return Some(format!("{moved}{}", &value[19..]));
            }
        }
        let is_time_name = ["time", "date", "created", "updated", "timestamp"].iter().any(|word| name.contains(word));
        let unit = match value.len() {
            10 => 1000,
            13 => 1,
            _ => return None,
        };
        let number: i64 = value.parse().ok().filter(|_| is_time_name)?;
        Some(number.checked_add(self.later_ms / unit)?.to_string())
    }

    /// Renders the numbers and addresses in a text.
    pub(super) fn text(&self, text: &str) -> String {
        if let Some(code) = self.qr_code(text) {
            return code;
        }
        self.plain(text)
    }

    fn plain(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (recorded, own) in &self.addresses {
            text = text.replace(recorded.as_str(), own);
        }
        // By placeholders, so that a new number is not mistaken for a recorded one.
        let distinct = |recorded: &str| recorded.len() >= SHORTEST_DISTINCT;
        for (index, (recorded, _)) in self.numbers.iter().enumerate().filter(|(_, (recorded, _))| distinct(recorded)) {
            text = text.replace(recorded.as_str(), &format!("\u{0}{index}\u{0}"));
        }
        for (index, (_, new)) in self.numbers.iter().enumerate() {
            text = text.replace(&format!("\u{0}{index}\u{0}"), new);
        }
        text
    }

    /// Renders an ELQR code, alone or after a link, with a new checksum.
    fn qr_code(&self, text: &str) -> Option<String> {
        let (link, code) = match text.split_once('#') {
            Some((link, code)) => {
                (Some(link), percent_encoding::percent_decode_str(code).decode_utf8().ok()?.into_owned())
            }
            None => (None, text.to_owned()),
        };
        let new = elqr::rewritten(&code, &mut |tag, value| match tag {
            // The amount, in tyiyn.
            "54" => self.amount(value).unwrap_or_else(|| value.to_owned()),
            _ => {
                let same = |field: &&(String, String, String)| field.1 == value && value.len() >= SHORTEST_DISTINCT;
                self.fields.iter().rev().find(same).map_or_else(|| self.plain(value), |(_, _, new)| new.clone())
            }
        })?;
        Some(match link {
            Some(link) => format!("{}#{}", self.plain(link), elqr::encoded(&new)),
            None => new,
        })
    }
}

fn last_four(text: &str) -> &str {
    text.char_indices().rev().nth(3).map_or(text, |(at, _)| &text[at..])
}

/// A new number of the same form: as many digits and letters of the same kinds, with the same part before a hyphen.
pub(super) fn alike(number: &str, random: &mut fastrand::Rng) -> String {
    let is_hex = number.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte) || byte == b'-');
    let prefix =
        number.find(['-', '_']).filter(|at| !is_hex && number[..*at].bytes().all(|byte| byte.is_ascii_alphabetic()));
    let prefix = prefix.map_or(0, |at| at + 1);
    let changed = number[prefix..].char_indices().map(|(at, character)| match character {
        '0'..='9' if is_hex && number.contains(|c: char| c.is_ascii_lowercase()) => hex(random),
        'a'..='f' if is_hex => hex(random),
        '0' if at == 0 => '0',
        '1'..='9' if at == 0 => char::from(random.u8(b'1'..=b'9')),
        '0'..='9' => char::from(random.u8(b'0'..=b'9')),
        'a'..='z' => random.lowercase(),
        'A'..='Z' => random.uppercase(),
        other => other,
    });
    format!("{}{}", &number[..prefix], changed.collect::<String>())
}

fn hex(random: &mut fastrand::Rng) -> char {
    char::from(b"0123456789abcdef"[random.usize(..16)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::values;

    fn substitution() -> Substitution {
        let mut substitution = Substitution::new("https://gateway.example", "http://127.0.0.1:1", 90_000);
        let recorded =
            r#"{"orderNumber":"A-17","amount":250,"phone":"996***101","otp":"***","account":"250","pan":"***1111"}"#;
        let new = r#"{"orderNumber":"B-4","amount":99.5,"phone":"996777000777","otp":"1","account":"7","pan":"4000000000002016"}"#;
        substitution.add_request(&values::of_text(recorded), &values::of_text(new));
        substitution.add_number("0c5f-1", "9e9e-2");
        substitution
    }

    #[test]
    fn new_values_stand_where_the_recorded_stood() {
        for (recorded, new) in [
            (
                r#"{ "orderNumber" : "A-17", "amount": 250, "account":"250"}"#,
                r#"{ "orderNumber" : "B-4", "amount": 99.5, "account":"7"}"#,
            ),
            (r#"{"sum":25000,"total":2.50,"other":250}"#, r#"{"sum":9950,"total":0.995,"other":250}"#),
            (r#"{"msisdn":"996***101","card":"***1111"}"#, r#"{"msisdn":"996777000777","card":"***2016"}"#),
            (
                r#"{"url":"https://gateway.example/3ds?token=0c5f-1&order=A-17"}"#,
                r#"{"url":"http://127.0.0.1:1/3ds?token=9e9e-2&order=B-4"}"#,
            ),
            (
                r#"{"dateCreated":"2026-11-30T09:20:00","at":"2026-11-30T23:59:00.5+06:00","timestamp":1796008800}"#,
                r#"{"dateCreated":"2026-11-30T09:21:30","at":"2026-12-01T00:00:30.5+06:00","timestamp":1796008890}"#,
            ),
            (r#"{"message":"order A-17 is paid"}"#, r#"{"message":"order B-4 is paid"}"#),
            ("A-17 is paid", "B-4 is paid"),
        ] {
            assert_eq!(substitution().body(recorded), new);
        }
    }

    #[test]
    fn new_number_has_the_shape_of_the_old() {
        let mut random = fastrand::Rng::with_seed(7);
        for number in ["QR-5b1f6a0d3c9e4f7a", "0c5f1d9e-4111-4111-1111-111111111111", "20261130001234", "MP_aB1"] {
            let new = alike(number, &mut random);
            assert_ne!(new, number);
            let shape =
                |text: &str| text.chars().map(|c| if c.is_alphanumeric() { 'x' } else { c }).collect::<String>();
            assert_eq!(shape(&new), shape(number));
            assert_eq!(
                new.get(..3).filter(|_| number.starts_with("QR-")),
                number.get(..3).filter(|prefix| *prefix == "QR-")
            );
        }
    }
}
