//! The decoded form of a gateway's text, for searching only: without percent-encoding, JSON escapes, HTML character references
//! and invisible characters, and with the digits of every script as `0` to `9`.

use std::ops::Range;

use crate::values::card_number::{ascii_digit, is_unseen};

/// The depth of nested encodings that is decoded: an address within an address, within JSON, within JSON.
const MOST_LAYERS: usize = 6;
/// The longest character reference that is read, such as `&#1114111;`.
const LONGEST_REFERENCE: usize = 10;

/// A character, and its place in the original text, in bytes.
struct Unit {
    c: char,
    source: Range<usize>,
}

/// A text with some of its layers decoded.
pub(super) struct Decoded {
    text: String,
    /// For each character, its start in the text, and its place in the source.
    places: Vec<(usize, Range<usize>)>,
}

impl Decoded {
    /// The original text, then with one layer after another decoded. Any of them may be the intended one: in `LIKE
    /// '%0555000101%'` nothing is encoded, though `%05` looks like it. It takes time in proportion to the source's length.
    pub(super) fn layers(source: &str) -> Vec<Self> {
        let unit = |(at, c): (usize, char)| Unit { c, source: at..at + c.len_utf8() };
        let mut units: Vec<Unit> = source.char_indices().map(unit).collect();
        let mut layers = vec![Self::of(&units)];
        for _ in 0..MOST_LAYERS {
            let Some(next) = without_a_layer(&units) else { break };
            units = next;
            layers.push(Self::of(&units));
        }
        layers
    }

    fn of(units: &[Unit]) -> Self {
        let (mut text, mut places) = (String::with_capacity(units.len()), Vec::with_capacity(units.len()));
        for Unit { c, source } in units {
            if !is_unseen(*c) && (c.is_whitespace() || !c.is_control()) {
                places.push((text.len(), source.clone()));
                text.push(ascii_digit(*c).unwrap_or(*c));
            }
        }
        Self { text, places }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place of a part of the text in the source, including invisible characters in between.
    pub(super) fn in_source(&self, part: &Range<usize>) -> Range<usize> {
        let first = self.places.partition_point(|(at, _)| *at < part.start);
        let behind = self.places.partition_point(|(at, _)| *at < part.end);
        let start = self.places.get(first).map_or(0, |(_, source)| source.start);
        let last = behind.checked_sub(1).and_then(|last| self.places.get(last));
        start..last.map_or(start, |(_, source)| source.end.max(start))
    }
}

/// The characters, decoded once; `None` if there is nothing to decode.
fn without_a_layer(units: &[Unit]) -> Option<Vec<Unit>> {
    let (mut decoded, mut rest, mut has_codes) = (Vec::with_capacity(units.len()), units, false);
    while let Some(first) = rest.first() {
        let (c, length) = code(rest).unwrap_or((first.c, 1));
        let end = rest.get(length - 1).map_or(first.source.end, |last| last.source.end);
        decoded.push(Unit { c, source: first.source.start..end });
        has_codes |= length > 1;
        rest = rest.get(length..).unwrap_or_default();
    }
    has_codes.then_some(decoded)
}

/// The character that a text begins with in code, and how many characters the code takes.
fn code(units: &[Unit]) -> Option<(char, usize)> {
    match units.first()?.c {
        '%' => percent_encoded(units),
        '\\' => escaped(units),
        '&' => referenced(units),
        _ => None,
    }
}

/// A UTF-8 character of up to four percent-encoded bytes.
fn percent_encoded(units: &[Unit]) -> Option<(char, usize)> {
    let length = percent_byte(units)?.leading_ones().max(1) as usize;
    let bytes: Option<Vec<u8>> = (0..length).map(|index| percent_byte(units.get(index * 3..)?)).collect();
    let text = String::from_utf8(bytes?).ok()?;
    Some((text.chars().next()?, length * 3))
}

fn percent_byte(units: &[Unit]) -> Option<u8> {
    let is_code = units.first()?.c == '%';
    is_code.then(|| hex(units.get(1..3)?)).flatten().and_then(|number| u8::try_from(number).ok())
}

fn hex(units: &[Unit]) -> Option<u32> {
    units.iter().try_fold(0, |number, unit| Some(number * 16 + unit.c.to_digit(16)?))
}

/// An escape of JSON or of a programming language.
fn escaped(units: &[Unit]) -> Option<(char, usize)> {
    match units.get(1)?.c {
        'u' => Some((char::from_u32(hex(units.get(2..6)?)?)?, 6)),
        'x' => Some((char::from_u32(hex(units.get(2..4)?)?)?, 4)),
        'n' | 'r' | 't' => Some(('\n', 2)),
        same @ ('"' | '\'' | '/' | '\\') => Some((same, 2)),
        _ => None,
    }
}

/// A character reference by its number, or by one of the names that occur next to digits and in addresses.
fn referenced(units: &[Unit]) -> Option<(char, usize)> {
    let end = units.iter().take(LONGEST_REFERENCE).position(|unit| unit.c == ';')?;
    let name: String = units.get(1..end)?.iter().map(|unit| unit.c).collect();
    let number = |digits: &str, radix: u32| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let c = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16)?,
            None => number(digits, 10)?,
        },
        None => match name.as_str() {
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            "nbsp" => ' ',
            "plus" => '+',
            "sol" => '/',
            "lt" => '<',
            "gt" => '>',
            _ => return None,
        },
    };
    Some((c, end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(source: &str) -> Decoded {
        Decoded::layers(source).pop().unwrap()
    }

    #[test]
    fn encoded_text_is_decoded_as_readers_see_it() {
        for (source, text) in [
            ("plain 1 текст", "plain 1 текст"),
            ("%2B996%20%35", "+996 5"),
            ("%252B996 %25252B", "+996 +"),
            (r"\u0034\\u0031\/\x31", "41/1"),
            ("&#52;&#x31;&nbsp;&amp;#53;", "41 5"),
            ("%d0%BA %d0 %zz %4", "к %d0 %zz %4"),
            ("4\u{200b}0\u{ad}0\u{1}0", "4000"),
            ("٠٧٠٠ ０", "0700 0"),
            (r"\q &x; &#xd800; \u00zz", r"\q &x; &#xd800; \u00zz"),
        ] {
            assert_eq!(decoded(source).text(), text, "{source}");
        }
    }

    #[test]
    fn decoding_keeps_every_layer() {
        for (source, texts) in [("4%1", &["4%1"][..]), (r"%254\u0031", &[r"%254\u0031", "%41", "A"][..])] {
            let layers = Decoded::layers(source);
            assert_eq!(layers.iter().map(Decoded::text).collect::<Vec<_>>(), texts, "{source}");
        }
    }

    #[test]
    fn every_part_is_found_in_the_source() {
        let source = "a%2520b\u{200b}c%D0%BAe";
        let decoded = decoded(source);
        for (part, expected) in [("a", "a"), (" ", "%2520"), ("bc", "b\u{200b}c"), ("кe", "%D0%BAe"), ("", "")] {
            let start = decoded.text().find(part).unwrap();
            assert_eq!(&source[decoded.in_source(&(start..start + part.len()))], expected, "{part}");
        }
    }
}
