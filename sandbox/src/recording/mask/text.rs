//! Finds named values, phones and known secrets in texts that are no JSON: forms, queries, addresses, lines, XML, multipart.

use url::form_urlencoded;

use super::names::{Kind, of_field};
use crate::recording::json_text::is_json;

/// The separators of pairs in forms, queries and lines.
const BETWEEN_PAIRS: [char; 6] = ['&', ';', '?', '#', '\n', '\r'];
const BEHIND_NAMES: [char; 2] = ['=', ':'];
/// In bytes. What is longer is a text that ends with a separator, such as base64.
const LONGEST_NAME: usize = 64;

/// Masks what is found in a text.
pub(super) trait MaskText {
    /// A value that has a name.
    fn named(&mut self, name: &str, value: &str) -> String;
    /// A text without fields.
    fn free(&mut self, text: &str) -> String;
}

/// A text with the values of its pairs masked.
pub(super) fn in_pairs(text: &str, mask: &mut dyn MaskText) -> String {
    let mut masked = String::with_capacity(text.len());
    for piece in text.split_inclusive(BETWEEN_PAIRS) {
        let pair = piece.strip_suffix(BETWEEN_PAIRS).unwrap_or(piece);
        masked.push_str(&in_pair(pair, mask));
        masked.push_str(&piece[pair.len()..]);
    }
    masked
}

/// Tries each separator: in `error: otp=1` the second one has the name.
fn in_pair(pair: &str, mask: &mut dyn MaskText) -> String {
    let mut name_start = 0;
    for (at, separator) in pair.match_indices(BEHIND_NAMES) {
        let (name, value) = (&pair[name_start..at], &pair[at + 1..]);
        name_start = at + 1;
        let name = name.rsplit(['/', '+', ',', '{']).next().unwrap_or(name);
        if name.len() > LONGEST_NAME || name.trim().is_empty() || value.trim_matches(['=', ' ', '\t']).is_empty() {
            continue;
        }
        let name = decoded(name);
        let is_plain = matches!(of_field(&name), Kind::Other | Kind::Number);
        if separator == ":" && is_plain && !is_json(value) {
            // An address, a time or a sentence.
            continue;
        }
        let plain = decoded(value);
        let masked = mask.named(&name, &plain);
        if masked != plain {
            let is_encoded = plain != value;
            let masked = if is_encoded { form_urlencoded::byte_serialize(masked.as_bytes()).collect() } else { masked };
            return format!("{}{masked}", &pair[..=at]);
        }
        if separator == "=" {
            return pair.to_owned();
        }
    }
    mask.free(pair)
}

/// Text as it was before a form or a query encoded it.
fn decoded(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}

/// XML and HTML: the text of `<name>value</name>`.
pub(super) fn in_tags(text: &str, mask: &mut dyn MaskText) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let Some(length) = rest[start..].find('>') else { break };
        let (tag, behind) = (&rest[start + 1..start + length], &rest[start + length + 1..]);
        masked.push_str(&rest[..=start + length]);
        rest = behind;
        let name = tag.split([' ', '/']).next().unwrap_or_default();
        let name = name.rsplit(':').next().unwrap_or(name);
        let end = behind.find('<').unwrap_or(behind.len());
        if !name.is_empty() && !behind[..end].trim().is_empty() {
            masked.push_str(&mask.named(name, &behind[..end]));
            rest = &behind[end..];
        }
    }
    masked.push_str(rest);
    masked
}

/// `multipart/form-data`: the content of each part by the name of its part. `None` if the text is none.
pub(super) fn in_multipart(text: &str, mask: &mut dyn MaskText) -> Option<String> {
    let boundary = text.lines().next().filter(|line| line.starts_with("--") && line.len() > 2)?;
    text.to_ascii_lowercase().contains("form-data").then_some(())?;
    let mut masked = String::with_capacity(text.len());
    let mut name: Option<&str> = None;
    let mut is_in_head = true;
    for line in text.split_inclusive('\n') {
        let content = line.trim_end_matches(['\r', '\n']);
        if content.starts_with(boundary) {
            (name, is_in_head) = (None, true);
        } else if is_in_head {
            is_in_head = !content.is_empty();
            let named = content.split("name=\"").nth(1).and_then(|rest| rest.split('"').next());
            name = named.or(name);
        } else {
            masked.push_str(&mask.named(name.unwrap_or_default(), content));
            masked.push_str(&line[content.len()..]);
            continue;
        }
        masked.push_str(line);
    }
    Some(masked)
}

/// A text with each Kyrgyz phone in it replaced: `996` and nine digits, in groups only behind a plus sign.
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

/// How long the phone is that a text begins with.
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

/// A text with a word replaced, where no letter or digit stands beside it.
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
