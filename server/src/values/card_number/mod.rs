//! Finds card numbers (PAN) where none are allowed, in any notation: by the ranges of the issuers, by the lengths that each of
//! them uses, and by the check digit (Luhn). By length and check digit alone, one in ten other numbers would match: order numbers
//! made of a time, barcodes, tax numbers, bank accounts.

mod issuers;

use std::ops::{Range, RangeInclusive};

use issuers::{has_check_digit, is_issued};
use kassa::CardInput;

/// The lengths of all issuers' numbers.
const LENGTHS: RangeInclusive<usize> = 13..=19;

/// The country code with which a phone number begins.
const COUNTRY: &str = "996";

/// The characters between the digits of a card number as people write or paste it: spaces, dashes, invisible ones, and
/// a few signs.
pub(crate) fn is_separator(c: char) -> bool {
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

/// Soft hyphens, spaces without a width, joiners, marks of direction, variation selectors, and the frame of a keycap.
pub(crate) fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'
            ..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{2069}'
                | '\u{20e3}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
    )
}

/// The digit that a character means, in any script that the core reads a typed card number in.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    if c.is_ascii() || !c.is_numeric() {
        return c.is_ascii_digit().then_some(c);
    }
    CardInput::new().with_number(c).number().chars().next()
}

/// True if a text holds something that looks like a card number: digits in an issuer's range, as many as it uses, with a right
/// check digit; in any script, also with spaces and dashes between them. An identifier of this server, or a UUID, does not count.
///
/// ```
/// use kassa_server::looks_like_card_number;
///
/// assert!(looks_like_card_number("order 4000-0000-0000-2016"));
/// assert!(!looks_like_card_number("order 17 of 2026-11-23"));
/// // A right check digit alone makes no card number of an order number.
/// assert!(!looks_like_card_number("2026112614050606"));
/// ```
pub fn looks_like_card_number(text: &str) -> bool {
    !digits_of(text, &is_card_number).is_empty()
}

/// The text with card numbers masked: each digit of a run that contains one becomes a star, with any separators.
pub(crate) fn without_card_numbers(text: &str) -> String {
    let mut clean = text.to_owned();
    for digit in digits_of(text, &is_card_number).into_iter().rev() {
        clean.replace_range(digit, "*");
    }
    clean
}

/// The places, in bytes, of the digits of possible card numbers, for masking texts of others, such as the gateway: 13 to 19
/// digits with a right check digit count **for any issuer**. This also masks some order numbers, which is harmless.
pub(crate) fn digits_of_possible_card_numbers(text: &str) -> Vec<Range<usize>> {
    digits_of(text, &may_be_card_number)
}

/// The digits of each run that contains such a number, with any separators.
fn digits_of(text: &str, is_number: &impl Fn(&[Group], &str) -> bool) -> Vec<Range<usize>> {
    let identifiers = identifiers(text);
    let is_inside = |run: &Run| {
        let place = run.place();
        identifiers.iter().any(|identifier| identifier.start <= place.start && place.end <= identifier.end)
    };
    let runs = runs(text).into_iter().filter(|run| run.holds(is_number) && !is_inside(run));
    runs.flat_map(|run| {
        let place = run.place();
        let digits = text[place.clone()].char_indices().filter(|(_, c)| ascii_digit(*c).is_some());
        digits.map(move |(at, c)| place.start + at..place.start + at + c.len_utf8())
    })
    .collect()
}

/// Whether a text is an identifier of this server, or a UUID: 128 random bits in hexadecimal can contain many decimal digits in a
/// row. One without any letter may be anything.
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

/// The places of identifiers in a text. A response with a masked order number would count as another order's.
fn identifiers(text: &str) -> Vec<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let (mut places, mut at) = (Vec::new(), 0);
    for word in text.split_inclusive(|c: char| !is_part(c)) {
        let end = word.trim_end_matches(|c: char| !is_part(c)).len();
        if is_identifier(&word[..end]) {
            places.push(at..at + end);
        }
        at += word.len();
    }
    places
}

/// Digits with nothing between them.
struct Group {
    digits: String,
    /// Its place, in bytes.
    place: Range<usize>,
    /// Whether it is a part of a date, such as the three groups of `2026-11-26`.
    is_of_date: bool,
}

impl Group {
    /// A number of another known kind, so that adjacent digits do not belong to it: a part of a date, a
    /// phone with its country, a barcode (EAN-13, GTIN-14) or a device's number (IMEI), which have check digits of their own.
    fn is_of_another_kind(&self) -> bool {
        let is_whole = match self.digits.len() {
            12 => self.digits.starts_with(COUNTRY),
            13 | 14 => has_barcode_check_digit(&self.digits),
            15 => has_check_digit(&self.digits),
            _ => false,
        };
        self.is_of_date || is_whole
    }
}

/// Groups of digits with nothing but separators between two of them.
struct Run {
    groups: Vec<Group>,
}

impl Run {
    /// The place from its first digit to its last.
    fn place(&self) -> Range<usize> {
        let begins = self.groups.first().map_or(0, |group| group.place.start);
        begins..self.groups.last().map_or(begins, |group| group.place.end)
    }

    /// Whether consecutive groups form such a number. A group is never split: a longer number is another number.
    fn holds(&self, is_number: &impl Fn(&[Group], &str) -> bool) -> bool {
        (0..self.groups.len()).any(|first| {
            let mut digits = String::new();
            let mut longer = (first..self.groups.len()).map_while(|last| {
                digits.push_str(&self.groups[last].digits);
                // Keeps the time linear for a long text of single digits.
                (digits.len() <= *LENGTHS.end())
                    .then(|| LENGTHS.contains(&digits.len()) && is_number(&self.groups[first..=last], &digits))
            });
            longer.any(|is_one| is_one)
        })
    }
}

fn runs(text: &str) -> Vec<Run> {
    let (mut runs, mut groups) = (Vec::new(), Vec::<Group>::new());
    for (at, c) in text.char_indices().chain([(text.len(), 'x')]) {
        if let Some(digit) = ascii_digit(c) {
            let end = at + c.len_utf8();
            match groups.last_mut().filter(|group| group.place.end == at) {
                Some(group) => {
                    group.digits.push(digit);
                    group.place.end = end;
                }
                None => groups.push(Group { digits: digit.to_string(), place: at..end, is_of_date: false }),
            }
        } else if !is_separator(c) && !groups.is_empty() {
            mark_dates(text, &mut groups);
            runs.push(Run { groups: std::mem::take(&mut groups) });
        }
    }
    runs
}

fn mark_dates(text: &str, groups: &mut [Group]) {
    for first in 0..groups.len().saturating_sub(2) {
        let three = &mut groups[first..first + 3];
        if is_date(text, three) {
            three.iter_mut().for_each(|group| group.is_of_date = true);
        }
    }
}

/// `2026-11-26`, `26.11.2026` or `11/26/2026`. After the same separator again, it may be the end of something longer.
fn is_date(text: &str, groups: &[Group]) -> bool {
    let [first, second, third] = groups else { return false };
    let between = |one: &Group, next: &Group| &text[one.place.end..next.place.start];
    let separator = between(first, second);
    let is_alone = separator == between(second, third)
        && matches!(separator, "-" | "." | "/")
        && !text[..first.place.start].ends_with(separator);
    let number = |group: &Group| group.digits.parse::<u32>().unwrap_or(0);
    let (year, others) = match groups.iter().map(|group| group.digits.len()).collect::<Vec<_>>()[..] {
        [4, 2, 2] => (first, [second, third]),
        [1 | 2, 1 | 2, 4] => (third, [first, second]),
        _ => return false,
    };
    let [one, other] = others.map(number);
    is_alone
        && (1900..=2099).contains(&number(year))
        && (1..=12).contains(&one.min(other))
        && (1..=31).contains(&one.max(other))
}

fn may_be_card_number(_: &[Group], digits: &str) -> bool {
    has_check_digit(digits)
}

/// An amount and an adjacent date form no card number together, nor do a barcode and a price, unless
/// they are grouped as on a card.
fn is_card_number(groups: &[Group], digits: &str) -> bool {
    let is_one = || groups.len() == 1 || stand_on_cards(groups) || !groups.iter().any(Group::is_of_another_kind);
    has_check_digit(digits) && is_issued(digits) && is_one()
}

fn stand_on_cards(groups: &[Group]) -> bool {
    let lengths: Vec<usize> = groups.iter().map(|group| group.digits.len()).collect();
    matches!(lengths[..], [4, 4, 4, 4] | [4, 4, 4, 4, 1..=3] | [4, 6, 4 | 5] | [6, 13])
}

/// The check digit of barcodes: from the right, every other digit counts three times.
fn has_barcode_check_digit(digits: &str) -> bool {
    let value = |byte: u8| u32::from(byte.saturating_sub(b'0'));
    let places = digits.bytes().rev().enumerate();
    let sum: u32 = places.map(|(place, byte)| value(byte) * if place % 2 == 0 { 1 } else { 3 }).sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adjacent_numbers_are_no_card_number() {
        // Each of them would be one if it stood alone, without what stands between its digits.
        for text in [
            "Room 5201 2026-11-26 2021",
            "4500.00 26.11.2026 00",
            "4708307848535 395",
            "352880784321365 8",
            "4500 996555000104",
        ] {
            let digits: String = text.chars().filter(char::is_ascii_digit).collect();
            assert!(looks_like_card_number(&digits), "{digits}");
            assert!(!looks_like_card_number(text), "{text}");
        }
        for text in [
            "4000 0000 0000 2016-11-26",
            "4000-0000-0000-2016-11-26",
            "4000 0000 0000 2016 11.26",
            "26.11.2026 4000000000002016",
            "40 00 00 00 00 00 20 16",
            "4 0 0 0 0 0 0 0 0 0 0 0 2 0 1 6",
            "400000000000 2016",
            "4000000 000002016",
            "400000000000201 6",
            "3782 822463 10005",
            "3056 930902 5904",
            "4000 0000 0000 0000 006",
            // Behind the issuer's digits stands what would be a barcode of its own.
            "622202 1202000000076",
        ] {
            assert!(looks_like_card_number(text), "{text}");
        }
    }

    #[test]
    fn gateway_text_masks_card_number_of_any_issuer() {
        for number in ["2026112614050606", "4222222222222", "1000000000009"] {
            assert!(!looks_like_card_number(number) && has_check_digit(number), "{number}");
            assert_eq!(without_card_numbers(number), number);
            assert_eq!(digits_of_possible_card_numbers(number).len(), number.len());
        }
    }

    /// One in some hundred random identifiers has as many digits in a row, with a right check digit.
    #[test]
    fn identifier_in_a_text_has_no_card_number() {
        for text in [
            r#"{"orderNumber":"ab4111111111111111cd0123456789ef"}"#,
            "/pay/ab4111111111111111cd0123456789ef?id=pay_ab4111111111111111cd0123456789ef",
            "uuid 41111111-1111-1111-a111-111111111111.",
        ] {
            assert!(digits_of_possible_card_numbers(text).is_empty(), "{text}");
        }
        for (text, digits) in [
            ("ab4111111111111111cd 4111111111111111", 32),
            ("ab4111111111111111cd0123456789efa", 16),
            ("uuid a1111111-1111-1111-a111-411111111111 1111", 19),
        ] {
            assert_eq!(digits_of_possible_card_numbers(text).len(), digits, "{text}");
        }
    }

    #[test]
    fn card_number_is_detected_in_any_format() {
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
    fn masking_changes_only_card_number_digits() {
        for (text, clean) in [
            (r#"{"pan":"4000 0000 0000 2016","n":1}"#, r#"{"pan":"**** **** **** ****","n":1}"#),
            ("ж ٤٠٠٠ ٠٠٠٠ ٠٠٠٠ ٢٠١٦, 7 and 4000000000002016", "ж **** **** **** ****, 7 and ****************"),
            ("12 4000-0000-0000-2016 3", "** ****-****-****-**** *"),
            ("order 17 of 2026-11-23", "order 17 of 2026-11-23"),
        ] {
            let masked = without_card_numbers(text);
            assert_eq!(masked, clean);
            assert!(!looks_like_card_number(&masked), "{text}");
        }
    }
}
