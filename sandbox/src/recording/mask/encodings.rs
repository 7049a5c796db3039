//! Texts encoded inside texts: base64, percent-encoding and entities. Masked content is encoded again.

use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, utf8_percent_encode};

/// The minimum length of decoded base64.
const SHORTEST_BASE64: usize = 16;
const NOT_IN_ADDRESSES: &AsciiSet = &CONTROLS.add(b'"').add(b'<').add(b'>').add(b'#').add(b'?').add(b'%').add(b'&');
const ENTITIES: [(&str, char); 5] = [("lt", '<'), ("gt", '>'), ("quot", '"'), ("apos", '\''), ("amp", '&')];

/// The encoding of a text inside another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Percent,
    Entities,
}

impl Encoding {
    /// The decoded text; `None` if nothing in it is encoded.
    pub(super) fn decode(self, text: &str) -> Option<String> {
        let decoded = match self {
            Self::Percent if text.contains('%') => percent_decode_str(text).decode_utf8_lossy().into_owned(),
            Self::Entities if text.contains('&') => without_entities(text),
            _ => return None,
        };
        (decoded != text).then_some(decoded)
    }

    pub(super) fn encode(self, text: &str) -> String {
        match self {
            Self::Percent => utf8_percent_encode(text, NOT_IN_ADDRESSES).to_string(),
            Self::Entities => {
                let mut encoded = String::with_capacity(text.len());
                for character in text.chars() {
                    match ENTITIES.iter().find(|(_, known)| *known == character) {
                        Some((name, _)) => encoded.extend(["&", name, ";"]),
                        None => encoded.push(character),
                    }
                }
                encoded
            }
        }
    }
}

fn without_entities(text: &str) -> String {
    let mut decoded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        decoded.push_str(&rest[..at]);
        rest = &rest[at..];
        let name = rest[1..].split(';').next().unwrap_or_default();
        let number = name.strip_prefix('#').and_then(|number| match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        });
        let character = match number {
            Some(number) => char::from_u32(number),
            None => ENTITIES.iter().find(|(known, _)| *known == name).map(|(_, character)| *character),
        };
        match character.filter(|_| rest[1..].len() > name.len()) {
            Some(character) => {
                decoded.push(character);
                rest = &rest[name.len() + 2..];
            }
            None => {
                decoded.push('&');
                rest = &rest[1..];
            }
        }
    }
    decoded.push_str(rest);
    decoded
}

/// A text with each base64 word of a text replaced, if `change` changes the decoded text.
pub(super) fn in_base64(text: &str, change: &mut dyn FnMut(&str) -> String) -> String {
    let is_part = |character: char| character.is_ascii_alphanumeric() || "+/-_".contains(character);
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        changed.push_str(&rest[..start]);
        rest = &rest[start..];
        let length = rest.find(|character: char| !is_part(character)).unwrap_or(rest.len());
        let padding = rest[length..].len() - rest[length..].trim_start_matches('=').len();
        changed.push_str(&in_word(&rest[..length], padding, change));
        rest = &rest[length..];
    }
    changed.push_str(rest);
    changed
}

/// Padding follows the word, and stays if its length is right.
fn in_word(word: &str, padding: usize, change: &mut dyn FnMut(&str) -> String) -> String {
    if word.len() < SHORTEST_BASE64 {
        return word.to_owned();
    }
    let alphabet = if word.contains(['-', '_']) { URL_SAFE } else { STANDARD };
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true)
        .with_encode_padding(false);
    let engine = GeneralPurpose::new(&alphabet, config);
    // The truncated end of a group is dropped.
    let whole = if word.len() % 4 == 1 { &word[..word.len() - 1] } else { word };
    let Some(plain) = engine.decode(whole).ok().and_then(text_of) else {
        // A path has slashes between its parts, too.
        let parts = word.split_inclusive('/').map(|part| {
            let (name, slash) = part.strip_suffix('/').map_or((part, ""), |name| (name, "/"));
            if part.len() == word.len() { part.to_owned() } else { format!("{}{slash}", in_word(name, 0, change)) }
        });
        return parts.collect();
    };
    let mut masked = change(&plain);
    if masked == plain {
        return word.to_owned();
    }
    // As many blanks as needed to keep the padding.
    while matches!(padding, 1 | 2) && (3 - masked.len() % 3) % 3 != padding {
        masked.push(' ');
    }
    engine.encode(masked)
}

/// The text in bytes, which may be truncated within a character.
fn text_of(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).or_else(|error| {
        let valid = error.utf8_error().valid_up_to();
        let is_cut = error.utf8_error().error_len().is_none();
        let text = String::from_utf8_lossy(&error.as_bytes()[..valid]).into_owned();
        is_cut.then_some(text).ok_or(())
    });
    text.ok().filter(|text| text.chars().all(|character| !character.is_control() || character.is_whitespace()))
}

/// A text with the passwords in its URLs changed: `https://login:password@host`.
pub(super) fn in_user_info(text: &str, hide: &mut dyn FnMut(&str) -> String) -> String {
    let mut changed = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("://") {
        let (before, behind) = rest.split_at(at + 3);
        changed.push_str(before);
        rest = behind;
        let end = rest.find(|character: char| character.is_whitespace() || "/?#\"'<>".contains(character));
        let authority = &rest[..end.unwrap_or(rest.len())];
        let Some((user_info, _)) = authority.rsplit_once('@') else { continue };
        let Some((login, password)) = user_info.split_once(':').filter(|(_, password)| !password.is_empty()) else {
            continue;
        };
        changed.push_str(login);
        changed.push(':');
        changed.push_str(&hide(password));
        rest = &rest[user_info.len()..];
    }
    changed.push_str(rest);
    changed
}
