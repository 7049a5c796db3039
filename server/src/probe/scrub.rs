//! Redaction of output and reports: the SDK has masked the secrets of its own requests; this masks phones, and
//! the other secrets of the plan.

use super::plan::{PUBLISHED_OTP, ProbePlan};
use crate::values::card_number::without_card_numbers;

/// Shorter words occur by coincidence.
const SHORTEST_WORD: usize = 4;
/// The digits of a phone after the country code.
const NATIONAL_DIGITS: usize = 9;
const COUNTRY_CODE: &str = "996";

/// Masks data that must not leave this machine.
pub(super) struct Scrubber {
    /// Numbers, masked wherever their digits occur in a row, with any separators.
    numbers: Vec<String>,
    /// Words, masked if they are separate words.
    words: Vec<String>,
    /// One-time passwords, masked if no other digit is next to them: a gateway may echo one in a text or as a number.
    otps: Vec<String>,
}

impl Scrubber {
    pub(super) fn new(plan: &ProbePlan) -> Self {
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let phone = digits(&plan.phone);
        let national = phone.len().checked_sub(NATIONAL_DIGITS).and_then(|from| phone.get(from..)).map(str::to_owned);
        let numbers = plan.cards.iter().map(|card| digits(card)).chain([phone]).chain(national);
        // The published password is also a common success code.
        let otp = plan.otp.trim();
        let otps = [otp, otp.trim_start_matches('0')].map(str::to_owned);
        let is_hidden = |text: &String| otp != PUBLISHED_OTP && text.len() >= SHORTEST_WORD;
        let words = plan.secrets.iter().filter(|word| word.len() >= SHORTEST_WORD);
        Self {
            numbers: numbers.filter(|number| number.len() >= NATIONAL_DIGITS).collect(),
            words: words.cloned().collect(),
            otps: otps.into_iter().filter(is_hidden).collect(),
        }
    }

    /// Masks a text. Each digit becomes a star, so that the lengths in a QR code's text stay right.
    pub(super) fn text(&self, text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        for run in digit_runs(text) {
            let digits: String = run.iter().map(|(_, digit)| *digit).collect();
            let known = self.numbers.iter().flat_map(|number| places(&digits, number, number.len()));
            let phones = places(&digits, COUNTRY_CODE, COUNTRY_CODE.len() + NATIONAL_DIGITS);
            for (from, length) in known.chain(phones) {
                for (at, _) in run.iter().skip(from).take(length) {
                    if let Some(byte) = bytes.get_mut(*at) {
                        *byte = b'*';
                    }
                }
            }
        }
        // Only ASCII digits were replaced, with ASCII.
        let mut clean = String::from_utf8(bytes).unwrap_or_default();
        for word in &self.words {
            clean = without(&clean, word, char::is_alphanumeric);
        }
        for otp in &self.otps {
            clean = without(&clean, otp, |sign| sign.is_ascii_digit());
        }
        without_card_numbers(&clean)
    }
}

/// Runs of digits with only the usual separators in between, each digit with its place in the text.
fn digit_runs(text: &str) -> Vec<Vec<(usize, char)>> {
    let mut runs = vec![Vec::new()];
    for (at, sign) in text.char_indices() {
        match runs.last_mut() {
            Some(run) if sign.is_ascii_digit() => run.push((at, sign)),
            Some(run) if !matches!(sign, ' ' | '-' | '(' | ')') && !run.is_empty() => runs.push(Vec::new()),
            _ => {}
        }
    }
    runs
}

/// The places where a number begins in a run of digits, if `length` digits follow.
fn places(digits: &str, number: &str, length: usize) -> Vec<(usize, usize)> {
    let starts = 0..digits.len();
    starts
        .filter(|from| digits.get(*from..).is_some_and(|rest| rest.starts_with(number) && rest.len() >= length))
        .map(|from| (from, length))
        .collect()
}

/// The text without a word, wherever no character for which `is_part` is true is next to it.
fn without(text: &str, word: &str, is_part: impl Fn(char) -> bool) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(word) {
        let begins = before.chars().next_back().is_none_or(|sign| !is_part(sign));
        let ends = after.chars().next().is_none_or(|sign| !is_part(sign));
        clean.push_str(before);
        clean.push_str(if begins && ends { "***" } else { word });
        rest = after;
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrubber_masks_otp_in_strings_and_numbers() {
        let plan = ProbePlan { otp: "0451207".to_owned(), ..ProbePlan::default() };
        let scrubber = Scrubber::new(&plan);
        for (text, clean) in [
            ("{\"otp\":\"0451207\"}", "{\"otp\":\"***\"}"),
            ("{\"otp\":451207}", "{\"otp\":***}"),
            ("wrong code0451207x", "wrong code***x"),
            ("order 90451207", "order 90451207"),
        ] {
            assert_eq!(scrubber.text(text), clean);
        }
    }

    #[test]
    fn scrubber_masks_phones_cards_and_logins() {
        let plan = ProbePlan { secrets: vec!["merchant-7".to_owned()], ..ProbePlan::default() };
        let scrubber = Scrubber::new(&plan);
        for (text, clean) in [
            ("to +996 (772) 14-00-14.", "to +*** (***) **-**-**."),
            ("0772140014", "0*********"),
            ("1012996700123456110", "1012************110"),
            ("\"pan\":\"4047 3000 0000 7550\"", "\"pan\":\"**** **** **** ****\""),
            ("user merchant-7, not merchant-77", "user ***, not merchant-77"),
            ("FP20240319165056648 of 2024-03-19, 110", "FP20240319165056648 of 2024-03-19, 110"),
        ] {
            assert_eq!(scrubber.text(text), clean);
        }
    }
}
