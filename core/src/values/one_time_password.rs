//! One-time passwords (OTP), as messages show them and people type them.

use crate::values::{
    digits::ascii_digit,
    typed::{is_dash, is_dot, is_invisible},
};

/// A one-time password as it is sent: without the spaces, hyphens and dots by which messages group it and without marks
/// that are not seen, and with its digits, of whatever script, as 0 to 9. Whatever else it has stays: the interface does
/// not show of what a password is made.
///
/// ```
/// assert_eq!(kassa::normalized_otp("101-101"), "101101");
/// ```
///
/// Source: `otp` of `docs/interface.md#mobile-bank-confirm-request`.
pub fn normalized_otp(typed: &str) -> String {
    // Zeroization: with room for all of it, it never moves and leaves no copy behind.
    let mut otp = String::with_capacity(typed.len());
    let is_meant = |c: &char| !(is_invisible(*c) || c.is_whitespace() || is_dash(*c) || is_dot(*c));
    for c in typed.chars().filter(is_meant) {
        otp.push(ascii_digit(c).unwrap_or(c));
    }
    otp
}

/// Whether it can be one, where it is normalized. The interface shows no form of it; one without a digit is a word, and
/// would use up a try.
pub(crate) fn can_be_otp(normalized: &str) -> bool {
    normalized.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_loses_what_groups_it_and_nothing_else() {
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
    fn a_word_is_no_password() {
        assert!(can_be_otp("7") && can_be_otp("A1b2"));
        assert!(!can_be_otp("ж") && !can_be_otp("code") && !can_be_otp(""));
    }
}
