//! Card numbers (PAN) where none may be: found by their length and their check digit (Luhn), however they are written.

use std::ops::Range;

use kassa::CardInput;

const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// What may stand between the digits of a card number as people write or paste it: any space, any dash, what is not seen, and
/// a few signs.
fn is_separator(c: char) -> bool {
    c.is_whitespace() || is_dash(c) || is_unseen(c) || matches!(c, '.' | '_' | '/')
}

/// Unicode's dashes (category Pd), the minus sign and the hyphen bullet.
fn is_dash(c: char) -> bool {
    matches!(
        c,
        '-' | '\u{58a}' | '\u{5be}' | '\u{1400}' | '\u{1806}' | '\u{2010}'
            ..='\u{2015}'
                | '\u{2043}'
                | '\u{2212}'
                | '\u{2e17}'
                | '\u{2e1a}'
                | '\u{2e3a}'
                | '\u{2e3b}'
                | '\u{2e40}'
                | '\u{2e5d}'
                | '\u{301c}'
                | '\u{3030}'
                | '\u{30a0}'
                | '\u{fe31}'
                | '\u{fe32}'
                | '\u{fe58}'
                | '\u{fe63}'
                | '\u{ff0d}'
                | '\u{10ead}'
    )
}

/// Soft hyphens, spaces without a width, joiners, and marks of direction.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    )
}

/// The digit that a character means, in any script that the core reads a typed card number in.
fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() || !c.is_numeric() {
        return c.is_ascii_digit().then_some(c);
    }
    CardInput::new().with_number(c).number().chars().next()
}

/// True where a text holds something that looks like a card number: 13 to 19 digits with a right check digit, in any script,
/// also with spaces and dashes between them. A text that is an identifier of this server's, or a UUID, is none.
///
/// ```
/// use kassa_server::looks_like_card_number;
///
/// assert!(looks_like_card_number("order 4000-0000-0000-2016"));
/// assert!(!looks_like_card_number("order 17 of 2026-11-23"));
/// ```
pub fn looks_like_card_number(text: &str) -> bool {
    !is_identifier(text) && runs(text).iter().any(Run::has_card_number)
}

/// The same text without what looks like a card number: each digit of a run that holds one is a star, whatever stands between
/// them.
pub(crate) fn without_card_numbers(text: &str) -> String {
    let mut clean = text.to_owned();
    if is_identifier(text) {
        return clean;
    }
    for run in runs(text).into_iter().rev().filter(Run::has_card_number) {
        let masked = text[run.place.clone()].chars().map(|c| if ascii_digit(c).is_some() { '*' } else { c });
        clean.replace_range(run.place, &masked.collect::<String>());
    }
    clean
}

/// Identifiers of this server's, and UUIDs: 128 random bits in hexadecimal digits are now and then written with many decimal
/// ones in a row. One without any letter may be anything.
fn is_identifier(text: &str) -> bool {
    let bare = match text.split_once('_') {
        Some((prefix, rest)) if prefix.bytes().all(|byte| byte.is_ascii_lowercase()) => rest,
        _ => text,
    };
    let groups: Vec<usize> = bare.split('-').map(str::len).collect();
    let is_whole = matches!(groups[..], [32] | [8, 4, 4, 4, 12]);
    let mut digits = bare.bytes().filter(|byte| *byte != b'-');
    is_whole && digits.clone().all(|byte| byte.is_ascii_hexdigit()) && digits.any(|byte| byte.is_ascii_alphabetic())
}

/// Groups of digits with nothing but separators between two of them.
struct Run {
    groups: Vec<String>,
    /// From the first digit to behind the last one, in bytes.
    place: Range<usize>,
}

impl Run {
    fn has_card_number(&self) -> bool {
        (0..self.groups.len()).any(|first| {
            let mut digits = String::new();
            let mut longer = self.groups[first..].iter().map_while(|group| {
                digits.push_str(group);
                // A long text of single digits is read in its length, not in its square.
                (digits.len() <= *LENGTHS.end()).then(|| LENGTHS.contains(&digits.len()) && has_check_digit(&digits))
            });
            longer.any(|is_one| is_one)
        })
    }
}

fn runs(text: &str) -> Vec<Run> {
    let (mut runs, mut groups, mut group) = (Vec::new(), Vec::new(), String::new());
    let mut place = 0..0;
    for (at, c) in text.char_indices().chain([(text.len(), 'x')]) {
        if let Some(digit) = ascii_digit(c) {
            place.start = if groups.is_empty() && group.is_empty() { at } else { place.start };
            place.end = at + c.len_utf8();
            group.push(digit);
            continue;
        }
        let has_ended = !is_separator(c);
        if !group.is_empty() {
            groups.push(std::mem::take(&mut group));
        }
        if has_ended && !groups.is_empty() {
            runs.push(Run { groups: std::mem::take(&mut groups), place: place.clone() });
        }
    }
    runs
}

fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| match u32::from(byte.saturating_sub(b'0')) {
            digit if place % 2 == 0 => digit,
            digit if digit > 4 => digit * 2 - 9,
            digit => digit * 2,
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_found_however_they_are_written() {
        for text in [
            "4000000000002016",
            "4000 0000 0000 2016",
            "a 1 4000-0000-0000-2016.",
            "PAN:4000.0000.0000.2016x",
            "378282246310005",
            "40000000 -- 00002016",
            "4000\u{202f}0000\u{2009}0000\u{a0}2016",
            "4000 \u{2013} 0000 \u{2014} 0000 \u{2212} 2016",
            "4000\u{200b}0000\u{ad}0000\r\n2016",
            "٤٠٠٠ ٠٠٠٠ ٠٠٠٠ ٢٠١٦",
            "４０００００００００００２０１６",
            "40000000-0000-2016-0000-000000000000",
            "co_4000000000002016x8750438f2602d97d",
        ] {
            assert!(looks_like_card_number(text), "{text}");
        }
        for text in [
            "",
            "4000000000002017",
            "996555000101",
            "2026-11-23T09:05:07",
            "40000000, 00002016",
            "½²4000000000002017",
            "co_e8c712479866750438f2602d97d29b63",
            "e8c712479866750438f2602d97d29b63",
            "0f8fad5b-d9cb-469f-a165-400000002016",
            "0f8fad5b-d9cb-4000-0000-000000002016",
            "400000000000201",
        ] {
            assert!(!looks_like_card_number(text), "{text}");
        }
    }

    #[test]
    fn only_the_number_is_masked() {
        for (text, clean) in [
            (r#"{"pan":"4000 0000 0000 2016","n":1}"#, r#"{"pan":"**** **** **** ****","n":1}"#),
            ("ж ٤٠٠٠ ٠٠٠٠ ٠٠٠٠ ٢٠١٦, 7 and 4000000000002016", "ж **** **** **** ****, 7 and ****************"),
            ("12 4000-0000-0000-2016 3", "** ****-****-****-**** *"),
            ("order 17 of 2026-11-23", "order 17 of 2026-11-23"),
        ] {
            assert_eq!(without_card_numbers(text), clean);
            assert!(!looks_like_card_number(&without_card_numbers(text)), "{text}");
        }
    }
}
