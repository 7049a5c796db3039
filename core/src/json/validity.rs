//! Validation of a JSON text, by serde_json.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, SeqAccess, Visitor},
};
use zeroize::Zeroizing;

/// Whether a text is JSON. A number that is too large for floating point is JSON, too (RFC 8259, 6), but serde_json stops at it: one odd
/// amount would hide the status next to it. So if it stops, numbers are checked only as text.
pub(super) fn check(text: &str) -> Result<(), String> {
    let checked = |text: &str| serde_json::from_str::<Valid>(text).map(drop);
    match checked(text) {
        Err(problem) if problem.is_syntax() && text.bytes().any(|byte| byte.is_ascii_digit()) => {
            checked(&with_zeros(text)).map_err(|_| problem.to_string())
        }
        checked => checked.map_err(|problem| problem.to_string()),
    }
}

/// The text with a zero in place of each out-of-range number, only for a check.
fn with_zeros(text: &str) -> Zeroizing<String> {
    // Zeroization: a response may repeat a secret. No token grows, so the text never moves.
    let mut checked = Zeroizing::new(String::with_capacity(text.len()));
    let (mut rest, mut in_string) = (text, false);
    while let Some(byte) = rest.as_bytes().first() {
        let (length, is_huge) = match byte {
            // The byte after a backslash may be a part of a character, and the rest of it comes next.
            b'\\' if in_string => (1 + rest.chars().nth(1).map_or(0, char::len_utf8), false),
            b'-' | b'0'..=b'9' if !in_string => {
                let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
                let length = rest.as_bytes().iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
                (length, is_huge(&rest[..length]))
            }
            _ => (rest.chars().next().map_or(1, char::len_utf8), false),
        };
        in_string ^= *byte == b'"';
        let (token, after) = rest.split_at(length);
        checked.push_str(if is_huge { "0" } else { token });
        rest = after;
    }
    checked
}

/// Whether a text is a JSON number by its grammar, and out of range.
fn is_huge(number: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let is_number = digits(whole) && (whole == "0" || !whole.starts_with('0')) && digits(fraction);
    is_number
        && digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent))
        && number.parse().is_ok_and(f64::is_infinite)
}

/// Accepts any JSON whose numbers are in range, and stores nothing.
struct Valid;

impl<'de> Deserialize<'de> for Valid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Valid {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        while map.next_key::<Self>()?.is_some() {
            map.next_value::<Self>()?;
        }
        Ok(self)
    }
}
