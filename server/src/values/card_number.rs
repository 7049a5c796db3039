//! Card numbers (PAN) where none may be: found by their length and their check digit (Luhn), however they are written.

const LENGTHS: std::ops::RangeInclusive<usize> = 13..=19;

/// What may stand between the digits of a card number as people write it.
fn is_separator(c: char) -> bool {
    matches!(c, ' ' | '-' | '.' | '_' | '/' | '\u{a0}' | '\t')
}

/// True where a text holds something that looks like a card number: 13 to 19 digits with a right check digit, also with
/// single separators between them.
///
/// ```
/// use kassa_server::looks_like_card_number;
///
/// assert!(looks_like_card_number("order 4000-0000-0000-2016"));
/// assert!(!looks_like_card_number("order 17 of 2026-11-23"));
/// ```
pub fn looks_like_card_number(text: &str) -> bool {
    runs(text).iter().any(|groups| has_card_number(groups))
}

/// Runs of groups of digits with a single separator between two of them.
fn runs(text: &str) -> Vec<Vec<String>> {
    let (mut runs, mut groups, mut group) = (Vec::new(), Vec::new(), String::new());
    for c in text.chars().chain(['x']) {
        if let Some(digit) = c.to_digit(10) {
            group.extend(char::from_digit(digit, 10));
            continue;
        }
        let has_ended = group.is_empty() || !is_separator(c);
        if !group.is_empty() {
            groups.push(std::mem::take(&mut group));
        }
        if has_ended && !groups.is_empty() {
            runs.push(std::mem::take(&mut groups));
        }
    }
    runs
}

fn has_card_number(groups: &[String]) -> bool {
    (0..groups.len()).any(|first| {
        let mut digits = String::new();
        groups[first..].iter().any(|group| {
            digits.push_str(group);
            LENGTHS.contains(&digits.len()) && has_check_digit(&digits)
        })
    })
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
        ] {
            assert!(looks_like_card_number(text), "{text}");
        }
        for text in
            ["", "4000000000002017", "996555000101", "2026-11-23T09:05:07", "40000000 -- 00002016", "400000000000201"]
        {
            assert!(!looks_like_card_number(text), "{text}");
        }
    }
}
