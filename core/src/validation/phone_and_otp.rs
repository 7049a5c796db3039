//! Phone numbers, as people and phones write them. The interface does not show the form that the gateway expects
//! (`docs/interface.md#what-is-not-shown`): a number of Kyrgyzstan is sent in the form of its test numbers.

use std::ops::RangeInclusive;

use crate::{
    text::{ascii_digit, is_dash, is_dot, is_invisible, is_space},
    violation::{Advice, AdviceTopic},
};

pub(crate) const COUNTRY: &str = "996";
/// Digits after the country code.
pub(crate) const NATIONAL: usize = 9;
/// Digits with the country code of another country; E.164 allows no more.
const FOREIGN: RangeInclusive<usize> = 11..=15;

/// The phone number in the form that is sent to the gateway, from typed, pasted or autofilled text; `None` if the text
/// is not a phone number, or is ambiguous. Show it in a form, so that the payer notices a mistake before the one-time
/// password goes to someone else.
///
/// A number of Kyrgyzstan becomes `996XXXXXXXXX`: nine digits, optionally with a zero before them, or with the country
/// code `996`, `+996` or `00996` and an optional zero after it. A number of another country, of 11 to 15 digits, is
/// reduced to its digits. Spaces, hyphens, dots, parentheses, slashes, invisible characters and `tel:` are removed;
/// digits of any script are read.
///
/// ```
/// use kassa::normalized_phone;
///
/// assert_eq!(normalized_phone("0700 00-00-01").as_deref(), Some("996700000001"));
/// assert_eq!(normalized_phone("+996 (700) 00-00-01").as_deref(), Some("996700000001"));
/// assert_eq!(normalized_phone("+7 701 000 00 01").as_deref(), Some("77010000001"));
/// assert_eq!(normalized_phone("70000001"), None);
/// ```
///
/// Source: `phone` of `docs/interface.md#mobile-bank-payment-request`.
pub fn normalized_phone(typed: &str) -> Option<String> {
    let visible: String = typed.chars().filter(|c| !is_invisible(*c)).collect();
    let written = Written::read(without_scheme(visible.trim()))?;
    let (digits, has_country) = match written.digits.strip_prefix("00") {
        Some(rest) if !written.has_plus => (rest, true),
        _ => (written.digits.as_str(), written.has_plus),
    };
    if let Some(national) = national_of(digits, has_country) {
        return Some(format!("{COUNTRY}{national}"));
    }
    // After a slash a second number may begin. No country code begins with zero, and 996 without its nine digits is a
    // mistake.
    let is_foreign = FOREIGN.contains(&digits.len())
        && !is_dialled_in_russia(digits)
        && !written.has_slash
        && !digits.starts_with('0')
        && !digits.starts_with(COUNTRY);
    is_foreign.then(|| digits.to_owned())
}

/// In Russia and Kazakhstan 8 is dialled before a number, in place of the country code 7. No country has such numbers of its own.
fn is_dialled_in_russia(digits: &str) -> bool {
    digits.len() == 11 && (digits.starts_with("87") || digits.starts_with("89"))
}

/// The parts of a text that has only digits and separators.
struct Written {
    digits: String,
    has_plus: bool,
    has_slash: bool,
}

impl Written {
    fn read(text: &str) -> Option<Self> {
        let mut written = Self { digits: String::with_capacity(text.len()), has_plus: false, has_slash: false };
        for c in text.chars() {
            if let Some(digit) = ascii_digit(c) {
                written.digits.push(digit);
            } else if is_plus(c) {
                // At most one plus, and only before the first digit.
                if written.has_plus || !written.digits.is_empty() {
                    return None;
                }
                written.has_plus = true;
            } else if is_slash(c) {
                written.has_slash = true;
            } else if !(is_space(c) || is_dash(c) || is_dot(c) || is_bracket(c)) {
                return None;
            }
        }
        Some(written)
    }
}

/// The nine digits after the country code, if it is a number of Kyrgyzstan.
fn national_of(digits: &str, has_country: bool) -> Option<&str> {
    let is_whole = |digits: &str| digits.len() == NATIONAL && !digits.starts_with('0');
    if !has_country {
        let bare = if digits.len() == NATIONAL + 1 { digits.strip_prefix('0')? } else { digits };
        // Nine digits may begin with 996 themselves.
        if is_whole(bare) {
            return Some(bare);
        }
    }
    let rest = digits.strip_prefix(COUNTRY)?;
    let national = if rest.len() == NATIONAL + 1 { rest.strip_prefix('0')? } else { rest };
    is_whole(national).then_some(national)
}

/// Removes the scheme of a copied link (`tel:+996700000001`).
fn without_scheme(text: &str) -> &str {
    match text.split_at_checked(4) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("tel:") => rest,
        _ => text,
    }
}

fn is_plus(c: char) -> bool {
    matches!(c, '+' | '\u{fe62}' | '\u{ff0b}')
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\u{2044}' | '\u{2215}' | '\u{ff0f}')
}

fn is_bracket(c: char) -> bool {
    matches!(c, '(' | ')' | '[' | ']' | '\u{fe59}' | '\u{fe5a}' | '\u{ff08}' | '\u{ff09}' | '\u{ff3b}' | '\u{ff3d}')
}

/// The interface's test numbers are from Kyrgyzstan. `field` is the name of the phone's field, as in a violation.
pub(crate) fn advice_on_form(field: &str, phone: &str) -> Option<Advice> {
    let is_of_country = normalized_phone(phone).is_some_and(|phone| phone.starts_with(COUNTRY));
    (!is_of_country).then(|| Advice {
        field: field.to_owned(),
        topic: AdviceTopic::PhoneFormat,
        text: format!("{field} is not a number in Kyrgyzstan (996XXXXXXXXX)"),
    })
}

// One-time passwords (OTP), as in messages and as people type them.

/// The one-time password in the form that is sent: without spaces, hyphens, dots and invisible characters, and with
/// digits of any script as 0 to 9. All other characters are kept: the interface does not show the form of a password.
///
/// ```
/// assert_eq!(kassa::normalized_otp("101-101"), "101101");
/// ```
///
/// Source: `otp` of `docs/interface.md#mobile-bank-confirm-request`.
pub fn normalized_otp(typed: &str) -> String {
    // Zeroization: with enough capacity, the string never moves and leaves no copy behind.
    let mut otp = String::with_capacity(typed.len());
    let is_meant = |c: &char| !(is_invisible(*c) || c.is_whitespace() || is_dash(*c) || is_dot(*c));
    for c in typed.chars().filter(is_meant) {
        otp.push(ascii_digit(c).unwrap_or(c));
    }
    otp
}

/// Whether a normalized text can be a one-time password. The interface shows no form of it; a text without a digit is a
/// word, and would use up an attempt.
pub(crate) fn can_be_otp(normalized: &str) -> bool {
    normalized.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn local_phone_in_any_notation_is_normalized() {
        for text in [
            "996700000001",
            "+996700000001",
            "+996 (700) 00-00-01",
            "(+996) 700 000 001",
            "+996 0700 000 001",
            "+996 (0) 700 000 001",
            "9960700000001",
            "00996 700 000 001",
            "00 996 0700 000 001",
            "0700 000 001",
            "0(700)00/00/01",
            "700000001",
            "700.000.001",
            " 0700000001\n",
            "tel:+996-700-000-001",
            "TEL: 0700000001",
            "\u{202a}+996 700 000 001\u{202c}",
            "\u{feff}\u{2068}0700\u{200b}000\u{ad}001\u{2069}\u{200e}",
            "996\u{a0}700\u{202f}000\u{2009}001",
            "996\u{2011}700\u{2013}000\u{2212}001",
            "［996］ ７００ ０００ ００１",
            "＋996 700 000 001",
            "٩٩٦٧٠٠٠٠٠٠٠١",
            "۰۷۰۰۰۰۰۰۰۱",
        ] {
            assert_eq!(normalized_phone(text).as_deref(), Some("996700000001"), "{text:?}");
        }
        // Numbers of the country may begin with its code.
        for text in ["996555123", "0996555123", "996996555123", "+996 0996 555 123"] {
            assert_eq!(normalized_phone(text).as_deref(), Some("996996555123"), "{text:?}");
        }
    }

    #[test]
    fn foreign_phone_keeps_its_digits() {
        for (text, sent) in [
            ("+7 (701) 000-00-01", "77010000001"),
            ("77010000001", "77010000001"),
            ("007 701 000 00 01", "77010000001"),
            ("123456789012345", "123456789012345"),
        ] {
            assert_eq!(normalized_phone(text).as_deref(), Some(sent), "{text:?}");
        }
    }

    #[test]
    fn invalid_or_ambiguous_phone_is_rejected() {
        for text in [
            "",
            "abc",
            "ж",
            "+",
            "-",
            "()",
            "tel:",
            "70000001",
            "7000000012",
            "+700000001",
            "055512345",
            "00700000001",
            "+0700000001",
            "+00996700000001",
            "99670000000",
            "9967000000012",
            "99600700000001",
            "+996 996 700 000 001",
            "1234567890123456",
            "8 701 000 00 01",
            "89161234567",
            "99670000000x",
            "996 700 000 001 доб. 5",
            "tel:+996700000001;ext=5",
            "996+700000001",
            "++996700000001",
            "+996700000001 +996700000002",
            "0700 000 001\n0700 000 002",
            "0700000\n001",
            "700 000 001/02",
            "0700 000 001, 002",
            "①⑨⑨⑥",
        ] {
            assert_eq!(normalized_phone(text), None, "{text:?}");
        }
    }

    #[test]
    fn advice_is_given_only_for_foreign_phone() {
        assert_eq!(advice_on_form("phone", "0700 000 001"), None);
        assert!(advice_on_form("phone", "+7 701 000 00 01").is_some());
    }

    proptest! {
        #[test]
        fn what_is_normalized_stays_as_it_is(typed in "[+0]{0,2}[0-9 ()/-]{8,18}|\\PC{0,20}") {
            if let Some(phone) = normalized_phone(&typed) {
                prop_assert_eq!(normalized_phone(&phone), Some(phone));
            }
        }
    }

    #[test]
    fn otp_loses_only_its_separators() {
        for text in [
            "101101",
            "101 101",
            "101-101",
            " 101\u{a0}101\n",
            "101\u{2011}101",
            "101.101.",
            "\u{202a}101101\u{202c}\u{feff}",
            "1 0 1 1 0 1",
            "１０１１０１",
            "١٠١١٠١",
        ] {
            assert_eq!(normalized_otp(text), "101101", "{text:?}");
        }
        for (text, otp) in [("A1-b2", "A1b2"), ("1+1", "1+1"), (" \u{200b}-\n", "")] {
            assert_eq!(normalized_otp(text), otp, "{text:?}");
        }
    }

    #[test]
    fn word_is_no_password() {
        assert!(can_be_otp("7") && can_be_otp("A1b2"));
        assert!(!can_be_otp("ж") && !can_be_otp("code") && !can_be_otp(""));
    }
}
