//! Search for secrets in a text, in any encoding: card numbers with any separators, and words.

use std::{collections::VecDeque, ops::Range};

use zeroize::Zeroizing;

/// The places of a card number (PAN): its digits in order, with anything between them except letters and other digits.
/// Payers, forms and error pages group them by spaces of any width, hyphens, dots, slashes, or invisible characters.
pub(super) fn of_card_number(text: &str, number: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // The last digits, each with its place, as many as the number has.
    let mut last = VecDeque::with_capacity(number.len() + 1);
    for (place, character) in text.char_indices() {
        if !character.is_ascii_digit() {
            if character.is_alphanumeric() {
                last.clear();
            }
            continue;
        }
        last.push_back((place, character));
        if last.len() > number.len() {
            last.pop_front();
        }
        if last.len() == number.len() && last.iter().map(|(_, digit)| *digit).eq(number.chars()) {
            found.extend(last.front().map(|(first, _)| *first..place + 1));
            last.clear();
        }
    }
    found
}

/// The places of a text as a whole word, between characters that are neither letters nor digits, or the ends.
///
/// A number next to a point and digits is a part of a larger one: 737 is not a word of 100.737 and 737.50. A comma
/// separates numbers, because it is used in lists of values.
pub(super) fn of_word<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    let step = word.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(offset) = text.get(from..).filter(|rest| can_hold(rest, word))?.find(word) {
            let place = from + offset..from + offset + word.len();
            let (before, after) = (text[..place.start].chars().rev(), text[place.end..].chars());
            let goes_on =
                goes_on(word.chars().next(), before, is_number) || goes_on(word.chars().next_back(), after, is_number);
            from = if goes_on { place.start + step } else { place.end };
            if !goes_on {
                return Some(place);
            }
        }
        from = text.len();
        None
    })
}

/// Whether a word continues beyond one of its ends; `beyond` iterates outwards.
fn goes_on(end: Option<char>, mut beyond: impl Iterator<Item = char>, is_number: bool) -> bool {
    let is_alphanumeric = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    match beyond.next() {
        Some('.') if is_number => beyond.next().is_some_and(|character| character.is_ascii_digit()),
        neighbour => is_alphanumeric(end) && is_alphanumeric(neighbour),
    }
}

/// The places of a text anywhere, also inside words.
pub(super) fn of_text<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let places = can_hold(text, part).then(|| text.match_indices(part));
    places.into_iter().flatten().map(|(start, part)| start..start + part.len())
}

/// Most values are shorter than a password, and need no search.
fn can_hold(text: &str, part: &str) -> bool {
    !part.is_empty() && text.len() >= part.len()
}

// Decoding, for searching only: percent-encoding, escapes of JSON and character references of HTML, as a reader of the text would decode
// them, and the place of each character in the source text.

/// The characters that begin a code.
const MARKS: [char; 3] = ['%', '\\', '&'];

/// The longest character reference that is recognized, such as `&thetasym;`.
const LONGEST_REFERENCE: usize = 10;

/// A text, decoded. It may hold a secret that the text hid, so it is wiped (zeroized).
pub(super) struct Decoded {
    text: Zeroizing<String>,
    /// The beginning of each code and each stretch without codes, and at last the end.
    stretches: Vec<Stretch>,
}

struct Stretch {
    decoded: usize,
    source: usize,
}

impl Decoded {
    /// `None` if there is nothing to decode, as in most texts. It takes time in proportion to the text's length.
    pub(super) fn of(source: &str) -> Option<Self> {
        let mut at = first_mark(source)?;
        // Zeroization: no code is shorter than its decoded text, so the text never has to move to grow.
        let mut decoded = Self { text: Zeroizing::new(String::with_capacity(source.len())), stretches: Vec::new() };
        let mut plain_from = 0;
        while let Some(offset) = source[at..].find(MARKS) {
            let start = at + offset;
            at = match code(&source[start..]) {
                Some((character, length)) => {
                    decoded.push(&source[plain_from..start], plain_from);
                    decoded.push(character.encode_utf8(&mut [0; 4]), start);
                    plain_from = start + length;
                    plain_from
                }
                None => start + 1,
            };
        }
        if decoded.stretches.is_empty() {
            return None;
        }
        decoded.push(&source[plain_from..], plain_from);
        decoded.stretches.push(Stretch { decoded: decoded.text.len(), source: source.len() });
        Some(decoded)
    }

    /// Whether a text may hold codes.
    pub(super) fn may_be(source: &str) -> bool {
        first_mark(source).is_some()
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The place in the source of a part of the decoded text.
    pub(super) fn in_source(&self, part: &Range<usize>) -> Range<usize> {
        self.place(part.start)..self.place(part.end)
    }

    fn place(&self, decoded: usize) -> usize {
        let later = self.stretches.partition_point(|stretch| stretch.decoded <= decoded);
        let stretch = &self.stretches[later.saturating_sub(1)];
        stretch.source + (decoded - stretch.decoded)
    }

    fn push(&mut self, text: &str, source: usize) {
        if !text.is_empty() {
            self.stretches.push(Stretch { decoded: self.text.len(), source });
            self.text.push_str(text);
        }
    }
}

fn first_mark(text: &str) -> Option<usize> {
    // The same characters as `MARKS`, as bytes: every response is searched.
    text.bytes().position(|byte| matches!(byte, b'%' | b'\\' | b'&'))
}

/// The character of the code at the beginning of a text, and the length of the code in bytes.
fn code(text: &str) -> Option<(char, usize)> {
    match text.as_bytes().first()? {
        b'%' => percent_encoded(text),
        b'\\' => Some(escaped(text)),
        _ => referenced(text),
    }
}

/// One character of UTF-8, which takes up to four codes of a byte each.
fn percent_encoded(text: &str) -> Option<(char, usize)> {
    let (first, mut length) = percent_byte(text)?;
    let mut bytes = vec![first];
    let first_length = length;
    for _ in 1..first.leading_ones().clamp(1, 4) {
        let Some((byte, more)) = text.get(length..).and_then(percent_byte) else { break };
        bytes.push(byte);
        length += more;
    }
    let character = std::str::from_utf8(&bytes).ok().and_then(|text| text.chars().next());
    Some(character.map_or((char::REPLACEMENT_CHARACTER, first_length), |character| (character, length)))
}

/// A text that was encoded several times has `%25` for the percent sign, as in `%2520`: all of it counts as one code.
fn percent_byte(text: &str) -> Option<(u8, usize)> {
    let digits = text.as_bytes().strip_prefix(b"%")?;
    let mut at = 0;
    while digits[at..].starts_with(b"25") && hex_byte(&digits[at + 2..]).is_some() {
        at += 2;
    }
    hex_byte(&digits[at..]).map(|byte| (byte, at + 3))
}

fn hex_byte(digits: &[u8]) -> Option<u8> {
    u8::try_from(hex(digits.get(..2)?)?).ok()
}

fn hex(digits: &[u8]) -> Option<u32> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    digits.iter().try_fold(0, |number, byte| Some(number * 16 + digit(byte)?))
}

/// An escape of JSON or of a programming language. JSON that was quoted several times has several backslashes, which
/// count as one.
fn escaped(text: &str) -> (char, usize) {
    let backslashes = text.bytes().take_while(|byte| *byte == b'\\').count();
    let rest = &text.as_bytes()[backslashes..];
    let of_code = |digits: usize| {
        let number = hex(rest.get(1..=digits)?)?;
        Some((char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), backslashes + 1 + digits))
    };
    let known = match rest.first() {
        Some(b'u') => of_code(4),
        Some(b'x') => of_code(2),
        Some(b'n' | b'r' | b't' | b'b' | b'f' | b'v') => Some(('\n', backslashes + 1)),
        Some(quoted @ (b'"' | b'\'' | b'/')) => Some((char::from(*quoted), backslashes + 1)),
        _ => None,
    };
    known.unwrap_or(('\\', backslashes))
}

/// A character reference by its number, or by a name. Names of letters are not known: every other name is a space or a
/// sign, which separates words.
fn referenced(text: &str) -> Option<(char, usize)> {
    let reference = text.as_bytes().strip_prefix(b"&")?;
    let length = reference.iter().take(LONGEST_REFERENCE).position(|byte| *byte == b';')?;
    let name = text.get(1..=length)?;
    let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
    let character = match name.strip_prefix('#') {
        Some(digits) => match digits.strip_prefix(['x', 'X']) {
            Some(digits) => number(digits, 16)?,
            None => number(digits, 10)?,
        },
        None => match name {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "apos" => '\'',
            _ if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric()) => ' ',
            _ => return None,
        },
    };
    Some((character, length + 2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words<'a>(text: &'a str, word: &'a str) -> Vec<&'a str> {
        of_word(text, word).map(|place| &text[..place.start]).collect()
    }

    #[test]
    fn word_is_bounded() {
        for text in
            ["737", "(737)", "cvc=737&x", "cvc_737", "code is 737.", "1, 737", "12,737,8", ". 737", "737.x", "№737"]
        {
            assert_eq!(words(text, "737").len(), 1, "{text}");
        }
        for text in ["17370", "7.37", "100.737", "737.50", "a737", "737ж", "x1.737 737.0", ""] {
            assert!(words(text, "737").is_empty(), "{text}");
        }
        assert_eq!(words("737 7377 737", "737"), ["", "737 7377 "]);
        assert_eq!(words("x-y x-y- a.-y", "-y"), ["x", "x-y x", "x-y x-y- a."]);
        assert_eq!(words("aa", ""), [""; 0]);
    }

    #[test]
    fn digits_of_a_card_number_stand_in_a_row() {
        let found = |text: &str| of_card_number(text, "1213").into_iter().map(|place| text[place].to_owned()).next();
        assert_eq!(found("12121 3 4").as_deref(), Some("121 3"));
        assert_eq!(found("1\u{200b}2 - 1/./3").as_deref(), Some("1\u{200b}2 - 1/./3"));
        assert_eq!(found("12a13"), None);
    }

    #[test]
    fn codes_are_decoded() {
        for (source, text) in [
            ("%34%31", "41"),
            ("a%2520b", "a b"),
            ("%25252525", "%"),
            ("%d0%BA%d0", "к\u{fffd}"),
            ("%zz%4%", "%zz%4%"),
            (r"\u0034\\u0031\x31\n\/", "411\n/"),
            (r"\u00zz\ud800", "\\u00zz\u{fffd}"),
            (r"\\\q", "\\q"),
            ("&#52;&#x31;&nbsp;&amp;&a=1;&; &#xd800;", "41 &&a=1;&; &#xd800;"),
        ] {
            let decoded = Decoded::of(source);
            assert_eq!(decoded.as_ref().map_or(source, Decoded::text), text, "{source}");
        }
        assert!(Decoded::of("100 % & more").is_none());
    }

    #[test]
    fn every_part_is_found_in_the_source() {
        let source = "ab%20cd%D0%BAe";
        let decoded = Decoded::of(source).unwrap();
        for (part, expected) in [("ab", "ab"), (" ", "%20"), ("b c", "b%20c"), ("кe", "%D0%BAe"), ("d", "d")] {
            let start = decoded.text().find(part).unwrap();
            assert_eq!(&source[decoded.in_source(&(start..start + part.len()))], expected, "{part}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_decoded_without_growing(source in "[%\\\\&0-9a-fux;#nк2 5]*") {
            let Some(decoded) = Decoded::of(&source) else { return Ok(()) };
            prop_assert!(decoded.text().len() <= source.len());
            for (start, character) in decoded.text().char_indices() {
                let place = decoded.in_source(&(start..start + character.len_utf8()));
                prop_assert!(source.get(place).is_some_and(|code| !code.is_empty()));
            }
        }
    }
}
