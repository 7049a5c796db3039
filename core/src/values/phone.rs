//! Phone numbers. The interface does not show in which form the gateway wants one
//! (`docs/interface.md#what-is-not-shown`), so what is sent stays as it was written.

use std::ops::RangeInclusive;

use crate::values::violation::{Advice, AdviceTopic};

/// A number of the country has nine digits without its country code; none in the world has more than 15 (E.164).
const DIGITS: RangeInclusive<usize> = 9..=15;

/// True for what can be a phone number, as people write one: digits, after a plus or not, with spaces, hyphens and
/// parentheses. Letters are none of it, not even those of a keypad.
pub(crate) fn can_be_phone(text: &str) -> bool {
    let compact: String = text.chars().filter(|c| !matches!(c, ' ' | '-' | '(' | ')')).collect();
    let digits = compact.strip_prefix('+').unwrap_or(&compact);
    DIGITS.contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The form of the interface's test numbers.
pub(crate) fn advice_on_form(phone: &str) -> Option<Advice> {
    let recommended = phone.len() == 12 && phone.starts_with("996") && phone.bytes().all(|byte| byte.is_ascii_digit());
    (!recommended).then(|| Advice {
        field: "phone".to_owned(),
        topic: AdviceTopic::PhoneFormat,
        text: "phone is best written as 996XXXXXXXXX: the country code, nine digits, and nothing else".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn people_write_numbers_in_many_ways() {
        for text in [
            "996700000001",
            "+996700000001",
            "+996 (700) 00-00-01",
            "(+996) 700 000 001",
            "0700 000 001",
            "700000001",
            "123456789012345",
        ] {
            assert!(can_be_phone(text), "{text}");
        }
    }

    #[test]
    fn what_cannot_be_dialled_is_no_number() {
        for text in [
            "abc",
            "ж",
            "+",
            "-",
            "()",
            "12345678",
            "1234567890123456",
            "99670000000x",
            "996 700 000 001 доб. 5",
            "996+700000001",
            "++996700000001",
            "996.700.000.001",
            "996700000001\n",
            "996\u{a0}700000001",
            "٩٩٦٧٠٠٠٠٠٠٠١",
        ] {
            assert!(!can_be_phone(text), "{text:?}");
        }
    }
}
