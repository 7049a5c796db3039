//! Masks named values in texts that are neither JSON nor markup: forms, queries, URLs, header lines and log lines.

use url::form_urlencoded;

use super::names::{Kind, of_field};
use crate::recording::json_text::is_json;

/// The separators of pairs in forms, queries and lines.
const BETWEEN_PAIRS: [char; 4] = ['&', ';', '?', '#'];
const BEHIND_NAMES: [char; 2] = ['=', ':'];
const ENDS_OF_LINES: [char; 2] = ['\n', '\r'];
/// In bytes. If the text before a separator is longer, its end is the name.
const LONGEST_NAME: usize = 64;

/// Masks the values that are found in a text.
pub(super) trait MaskText {
    /// A named value.
    fn named(&mut self, name: &str, value: &str) -> String;
    /// A text without fields.
    fn free(&mut self, text: &str) -> String;
}

/// A text with the values of its pairs masked.
pub(super) fn in_pairs(text: &str, mask: &mut dyn MaskText) -> String {
    let mut masked = String::with_capacity(text.len());
    for line in text.split_inclusive(ENDS_OF_LINES) {
        let content = line.trim_end_matches(ENDS_OF_LINES);
        let mut rest = content;
        loop {
            let end = pair_length(rest);
            masked.push_str(&in_pair(&rest[..end], mask));
            let Some(separator) = rest[end..].chars().next() else { break };
            masked.push(separator);
            rest = &rest[end + separator.len_utf8()..];
        }
        masked.push_str(&line[content.len()..]);
    }
    masked
}

/// The length of the pair at the beginning of a line. A secret may contain separators:
/// after a colon it extends to the end of the line, after an equals sign to the next name.
fn pair_length(line: &str) -> usize {
    let mut end = line.find(BETWEEN_PAIRS).unwrap_or(line.len());
    let secret = names(&line[..end]).find(|(_, _, name)| of_field(name) == Kind::Secret);
    match secret {
        None => end,
        Some((_, ":", _)) => line.len(),
        Some(_) => {
            while !line[end..].is_empty() && !line[end..].starts_with('&') && !begins_pair(&line[end + 1..]) {
                end = line[end + 1..].find(BETWEEN_PAIRS).map_or(line.len(), |next| end + 1 + next);
            }
            end
        }
    }
}

fn begins_pair(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|character: char| !character.is_alphanumeric() && !"_-.[]%".contains(character));
    end.is_some_and(|end| end > 0 && text[end..].starts_with('='))
}

/// Each separator in a pair that may follow a name, with its position and the name. In `error: otp=1` the second one does.
fn names(pair: &str) -> impl Iterator<Item = (usize, &str, String)> {
    // Base64 ends with equals signs.
    let end = pair.trim_end_matches(['=', ' ', '\t']).len();
    let mut start = 0;
    pair.match_indices(BEHIND_NAMES).filter_map(move |(at, separator)| {
        let text = &pair[start..at];
        start = at + 1;
        let mut cut = text.len().saturating_sub(LONGEST_NAME);
        while !text.is_char_boundary(cut) {
            cut += 1;
        }
        let name = text[cut..].rsplit(['/', ',', '{', '<', '(']).next().unwrap_or_default();
        (at + 1 < end && !name.trim().is_empty()).then(|| (at, separator, decoded(name)))
    })
}

fn in_pair(pair: &str, mask: &mut dyn MaskText) -> String {
    for (at, separator, name) in names(pair) {
        let value = &pair[at + 1..];
        let is_plain = matches!(of_field(&name), Kind::Other | Kind::Number);
        if separator == ":" && is_plain && !is_json(value) {
            // A URL, a time or a sentence.
            continue;
        }
        let plain = decoded(value);
        let masked = mask.named(&name, &plain);
        if masked != plain {
            let is_encoded = plain != value;
            let masked = if is_encoded { form_urlencoded::byte_serialize(masked.as_bytes()).collect() } else { masked };
            return format!("{}{separator}{masked}", mask.free(&pair[..at]));
        }
        if separator == "=" || is_json(value) {
            return format!("{}{separator}{value}", mask.free(&pair[..at]));
        }
    }
    mask.free(pair)
}

/// Text before it was encoded in a form or a query.
fn decoded(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let spaced = text.replace('+', " ");
    percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
}
