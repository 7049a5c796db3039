//! Search for secrets in a text: card numbers whatever separates their digits, and words.

use std::{collections::VecDeque, ops::Range};

/// Where a card number (PAN) stands: its digits in a row, with anything between them but letters and other digits.
/// Payers, forms and error pages group them by spaces of any width, hyphens, dots, slashes, or invisible characters.
pub(super) fn of_card_number(text: &str, number: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // The last digits, each with its place: as many as the number has.
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

/// Where a text stands as a word of its own, between characters that are no letters and no digits, or the ends.
///
/// A number with a point and digits beside it is a part of a larger one: 737 is no word of 100.737 and 737.50. A comma
/// parts numbers, because lists of values are written with it.
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

/// Whether a word goes on beyond one of its ends, given outwards.
fn goes_on(end: Option<char>, mut beyond: impl Iterator<Item = char>, is_number: bool) -> bool {
    let is_alphanumeric = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
    match beyond.next() {
        Some('.') if is_number => beyond.next().is_some_and(|character| character.is_ascii_digit()),
        neighbour => is_alphanumeric(end) && is_alphanumeric(neighbour),
    }
}

/// Where a text stands anywhere, inside words as well.
pub(super) fn of_text<'a>(text: &'a str, part: &'a str) -> impl Iterator<Item = Range<usize>> + 'a {
    let places = can_hold(text, part).then(|| text.match_indices(part));
    places.into_iter().flatten().map(|(start, part)| start..start + part.len())
}

/// Most values are shorter than a password, and need no search to be prepared for.
fn can_hold(text: &str, part: &str) -> bool {
    !part.is_empty() && text.len() >= part.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'a>(text: &'a str, word: &'a str) -> Vec<&'a str> {
        of_word(text, word).map(|place| &text[..place.start]).collect()
    }

    #[test]
    fn a_word_is_bounded() {
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
}
