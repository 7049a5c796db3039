//! Card brands: told by the first digits of a number (BIN), and what each says about the rest of it.

use std::ops::RangeInclusive;

use strum::Display;

use crate::values::card::{PAN_MAX, PAN_MIN};

/// The brand of a payment card, as its first digits tell it.
///
/// Only ranges that are beyond doubt are known here; everything else is [`Unknown`](Self::Unknown), which is no reason
/// to refuse a card. New brands may come with later versions.
///
/// Source: ISO/IEC 7812-1, and the ranges that the networks publish. 9417 is the range that ISO/IEC 7812-1 leaves to
/// Kyrgyzstan: 9 for national use, then the country's number 417 (ISO 3166-1).
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CardBrand {
    /// 4; 16 digits, and 13 or 19 on some cards.
    Visa,
    /// 51 to 55 and 2221 to 2720; 16 digits.
    Mastercard,
    /// 2200 to 2204; 16 to 19 digits.
    Mir,
    /// 62; 16 to 19 digits.
    UnionPay,
    /// 9417, the national system of Kyrgyzstan; 16 digits.
    Elcart,
    /// 34 and 37; 15 digits. Its security code has four digits, and the gateway takes three.
    Amex,
    /// 5018, 5020, 5038, 5893, 6304, 6759 and 6761 to 6763; 13 to 19 digits here.
    Maestro,
    /// 3528 to 3589; 16 to 19 digits.
    Jcb,
    /// None of these, or too few digits to tell.
    Unknown,
}

/// The first four digits by which each brand is known. Where it is known by fewer, all that follow count.
const RANGES: [(RangeInclusive<u32>, CardBrand); 16] = [
    (2200..=2204, CardBrand::Mir),
    (2221..=2720, CardBrand::Mastercard),
    (3400..=3499, CardBrand::Amex),
    (3528..=3589, CardBrand::Jcb),
    (3700..=3799, CardBrand::Amex),
    (4000..=4999, CardBrand::Visa),
    (5018..=5018, CardBrand::Maestro),
    (5020..=5020, CardBrand::Maestro),
    (5038..=5038, CardBrand::Maestro),
    (5100..=5599, CardBrand::Mastercard),
    (5893..=5893, CardBrand::Maestro),
    (6200..=6299, CardBrand::UnionPay),
    (6304..=6304, CardBrand::Maestro),
    (6759..=6759, CardBrand::Maestro),
    (6761..=6763, CardBrand::Maestro),
    (9417..=9417, CardBrand::Elcart),
];

impl CardBrand {
    /// The brand of a number of digits, as soon as they leave no other.
    pub(crate) fn of(digits: &str) -> Self {
        let first = &digits[..digits.len().min(4)];
        let bounds = |filler: &str| format!("{first}{}", filler.repeat(4 - first.len())).parse::<u32>();
        let (Ok(least), Ok(most)) = (bounds("0"), bounds("9")) else { return Self::Unknown };
        let range = RANGES.iter().find(|(range, _)| range.contains(&least) && range.contains(&most));
        range.map_or(Self::Unknown, |(_, brand)| *brand)
    }

    /// How many digits a number of this brand can have, the fewest first.
    pub(crate) fn number_lengths(self) -> Vec<usize> {
        match self {
            Self::Visa => vec![13, 16, 19],
            Self::Mastercard | Self::Elcart => vec![16],
            Self::Amex => vec![15],
            Self::Mir | Self::UnionPay | Self::Jcb => (16..=19).collect(),
            Self::Maestro => (PAN_MIN..=19).collect(),
            Self::Unknown => (PAN_MIN..=PAN_MAX).collect(),
        }
    }

    /// How many digits nearly all its cards have.
    pub(crate) fn usual_length(self) -> usize {
        if self == Self::Amex { 15 } else { 16 }
    }

    /// Where a space stands before a digit: after so many digits.
    pub(crate) fn has_gap_after(self, digits: usize) -> bool {
        match self {
            Self::Amex => matches!(digits, 4 | 10),
            _ => digits > 0 && digits.is_multiple_of(4),
        }
    }

    /// True where every number ends in a check digit (the Luhn formula). UnionPay has issued cards without one, and of
    /// national systems it is not known: a card that is right must not be refused.
    pub(crate) fn has_check_digit(self) -> bool {
        !matches!(self, Self::UnionPay | Self::Elcart | Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Binary search by eye: a range in the wrong place would hide another.
    #[test]
    fn ranges_are_in_order_and_apart() {
        for pair in RANGES.windows(2) {
            assert!(pair[0].0.end() < pair[1].0.start(), "{pair:?}");
        }
    }

    #[test]
    fn a_brand_is_named_as_soon_as_no_other_is_left() {
        for (digits, brand) in [
            ("", CardBrand::Unknown),
            ("4", CardBrand::Visa),
            ("5", CardBrand::Unknown),
            ("51", CardBrand::Mastercard),
            ("56", CardBrand::Unknown),
            ("22", CardBrand::Unknown),
            ("222", CardBrand::Unknown),
            ("223", CardBrand::Mastercard),
            ("2720", CardBrand::Mastercard),
            ("2721", CardBrand::Unknown),
            ("220", CardBrand::Unknown),
            ("2204", CardBrand::Mir),
            ("2205", CardBrand::Unknown),
            ("34", CardBrand::Amex),
            ("3527", CardBrand::Unknown),
            ("353", CardBrand::Jcb),
            ("6762", CardBrand::Maestro),
            ("62", CardBrand::UnionPay),
            ("941", CardBrand::Unknown),
            ("9417", CardBrand::Elcart),
        ] {
            assert_eq!(CardBrand::of(digits), brand, "{digits}");
        }
    }
}
