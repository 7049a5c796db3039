//! Masks phones and known secrets in texts without fields.

use std::collections::HashMap;

use super::{
    HIDDEN,
    names::{Kind, of_field},
};

/// The digits of a secret after its name.
const SPOKEN_DIGITS: std::ops::RangeInclusive<usize> = 3..=8;
/// The maximum length of a secret's name, in bytes.
const LONGEST_SPOKEN: usize = 16;
/// Words between the name of a secret and the secret.
const SPOKEN_LINKS: [&str; 5] = ["is", "code", "код", "number", "no"];
/// The minimum length of a number at the end of a truncated text that may be a card number.
const SHORTEST_CUT: usize = 7;

/// The masks of phones: the first three and last three digits. The middle is the same for the same phone.
#[derive(Default)]
pub(super) struct Phones(HashMap<String, Vec<String>>);

impl Phones {
    /// The mask of a phone, for all its notations.
    pub(super) fn mask(&mut self, written: &str) -> String {
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

/// A text with each Kyrgyz phone replaced: `996` and nine digits, in groups only after a plus sign.
pub(super) fn replace_phones(text: &str, mask: &mut dyn FnMut(&str) -> String) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("996") {
        let before = masked.chars().chain(rest[..at].chars()).next_back();
        let length = phone_length(&rest[at..], before == Some('+'));
        let is_inside = before.is_some_and(|character| character.is_alphanumeric() || "*-_.".contains(character));
        let end = match length {
            Some(length) if !is_inside => {
                masked.push_str(&rest[..at]);
                masked.push_str(&mask(&rest[at..at + length]));
                at + length
            }
            _ => {
                masked.push_str(&rest[..at + 3]);
                at + 3
            }
        };
        rest = &rest[end..];
    }
    masked.push_str(rest);
    masked
}

/// The length of the phone at the beginning of a text.
fn phone_length(text: &str, may_be_grouped: bool) -> Option<usize> {
    let mut digits = 0;
    for (at, character) in text.char_indices() {
        match character {
            _ if digits == 12 => {
                let goes_on = character.is_alphanumeric() || matches!(character, '-' | '_');
                return (!goes_on).then_some(at);
            }
            character if character.is_ascii_digit() => digits += 1,
            ' ' | '-' | '(' | ')' if may_be_grouped => {}
            _ => return None,
        }
    }
    (digits == 12).then_some(text.len())
}

/// A text with a word replaced if no letter or digit is beside it.
pub(super) fn replace_word(text: &str, word: &str, replacement: &str) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let before = replaced.chars().chain(rest[..at].chars()).next_back();
        let after = rest[at + word.len()..].chars().next();
        let is_word = ![before, after].into_iter().flatten().any(char::is_alphanumeric);
        replaced.push_str(&rest[..at]);
        replaced.push_str(if is_word { replacement } else { word });
        rest = &rest[at + word.len()..];
    }
    replaced.push_str(rest);
    replaced
}

/// A text with each number masked that follows the name of a secret: `OTP 909123`, `your PIN is 6041`.
pub(super) fn replace_spoken(text: &str, hide: &mut dyn FnMut(&str) -> String) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut is_named = false;
    let mut rest = text;
    while let Some(start) = rest.find(char::is_alphanumeric) {
        let between = &rest[..start];
        is_named &= between.chars().all(|character| " \t:=#-\u{2013}\u{2014}\u{a0}\"'*".contains(character));
        replaced.push_str(between);
        rest = &rest[start..];
        let end = rest.find(|character: char| !character.is_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..end];
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit()) && SPOKEN_DIGITS.contains(&word.len());
        if is_named && is_number {
            replaced.push_str(&hide(word));
            is_named = false;
        } else {
            replaced.push_str(word);
            let is_secret = word.len() <= LONGEST_SPOKEN && of_field(word) == Kind::Secret;
            is_named = is_secret || (is_named && SPOKEN_LINKS.contains(&word.to_lowercase().as_str()));
        }
        rest = &rest[end..];
    }
    replaced.push_str(rest);
    replaced
}

/// A truncated text without the number at its end, which may be the beginning of a card number. `None` if there is none.
pub(super) fn without_cut_number(text: &str) -> Option<String> {
    let before = text.trim_end_matches(|character: char| character.is_ascii_digit() || " -+%._/".contains(character));
    let digits = text[before.len()..].bytes().filter(u8::is_ascii_digit).count();
    (digits >= SHORTEST_CUT).then(|| format!("{before}{HIDDEN}"))
}
