//! Redaction of card numbers: what has their length, their beginning and their check digit (Luhn's) is masked, wherever
//! it stands.

use crate::redact::mask;

/// The digits of the shortest card number.
const SHORTEST: usize = 13;

/// The text with everything in it masked that looks like a card number: 13 to 20 digits with the right check digit, in
/// one piece or in the groups that stand on cards.
pub(crate) fn without_card_numbers(text: &str) -> String {
    // Most texts have fewer digits in all.
    if text.bytes().filter(u8::is_ascii_digit).count() < SHORTEST {
        return text.to_owned();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|character: char| character.is_ascii_digit()) {
        let (before, digits) = rest.split_at(start);
        shown.push_str(before);
        let run = leading_digits(digits);
        let is_card = (SHORTEST..=20).contains(&run) && may_be_card(&digits[..run]);
        let grouped = if is_card { None } else { grouped_card(digits, shown.chars().next_back()) };
        let length = grouped.as_ref().map_or(run, |(length, _)| *length);
        match grouped {
            Some((_, card)) => shown.push_str(&mask::card(&card)),
            None if is_card => shown.push_str(&mask::card(&digits[..run])),
            None => shown.push_str(&digits[..run]),
        }
        rest = &digits[length..];
    }
    shown.push_str(rest);
    shown
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// What stands between the groups of a card number, as people type it, as forms send it and as addresses have it.
const SEPARATORS: [&str; 5] = [" ", "-", "+", "%20", "\u{a0}"];
const MOST_GROUPS: usize = 5;

/// The card number in groups that a text begins with: how long it is there, and its digits.
fn grouped_card(text: &str, before: Option<char>) -> Option<(usize, String)> {
    let mut end = leading_digits(text);
    let separator = *SEPARATORS.iter().find(|separator| text[end..].starts_with(**separator))?;
    if separator == "-" && before.is_some_and(char::is_alphanumeric) {
        // The inside of a UUID.
        return None;
    }
    let mut groups = vec![&text[..end]];
    let mut ends = vec![end];
    while let Some(rest) = text[end..].strip_prefix(separator).filter(|_| groups.len() < MOST_GROUPS) {
        let length = leading_digits(rest);
        if length == 0 {
            break;
        }
        end += separator.len() + length;
        groups.push(&rest[..length]);
        ends.push(end);
    }
    // What follows the number may be digits, too: its security code, or a date.
    (3..=groups.len()).rev().find_map(|count| {
        let card = groups[..count].concat();
        (stand_on_cards(&groups[..count]) && may_be_card(&card)).then(|| (ends[count - 1], card))
    })
}

fn stand_on_cards(groups: &[&str]) -> bool {
    let lengths: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    matches!(lengths.as_slice(), [4, 4, 4, 1..=4] | [4, 4, 4, 4, 1..=4] | [4, 6, 4 | 5])
}

/// Whether it begins as cards of banks do and has the right check digit. What begins with 0 or 1 is none: a time in
/// milliseconds is as long.
fn may_be_card(digits: &str) -> bool {
    !digits.starts_with(['0', '1']) && has_check_digit(digits)
}

/// Luhn's check.
fn has_check_digit(digits: &str) -> bool {
    let sum: u32 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, byte)| {
            let digit = u32::from(byte - b'0');
            match index % 2 {
                0 => digit,
                _ if digit > 4 => digit * 2 - 9,
                _ => digit * 2,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn card_numbers_are_found_by_their_check_digit() {
        assert_eq!(without_card_numbers("a 4111111111111111 b"), "a 411111******1111 b");
        assert_eq!(without_card_numbers("a 4111111111111112 b 12.50 é"), "a 4111111111111112 b 12.50 é");
    }

    #[test]
    fn card_numbers_are_found_in_groups() {
        for text in [
            "4111 1111 1111 1111",
            "4111-1111-1111-1111 12/30",
            "4111 1111 1111 1111 123",
            "pan=4111+1111+1111+1111&cvc=123",
            "/x?pan=4111%201111%201111%201111",
            "3782 822463 10005",
        ] {
            let shown = without_card_numbers(text);
            assert!(shown.contains("****") && !shown.contains("1111 1111") && !shown.contains("822463"), "{shown}");
        }
        for text in [
            "2026-11-20 14:05:09",
            "4111 1111 1111 1112",
            "0c5f1d9e-4111-4111-1111-111111111111",
            "+996 555 000 101, +996 555 000 102",
            "203.0.113.7 1 22 333",
            "order 1763695200123",
        ] {
            assert_eq!(without_card_numbers(text), text);
        }
    }
}
