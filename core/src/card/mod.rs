//! Payment card: PAN, expiry, CVC and holder. Masked when printed (redaction), wiped when dropped (zeroization).

pub(crate) mod expiry_input;
pub(crate) mod input;

use std::{fmt, ops::RangeInclusive};

use strum::Display;
use zeroize::Zeroizing;

use crate::secret::Secret;

/// The fewest digits a card number has.
pub(crate) const PAN_MIN: usize = 13;
/// The most digits a card number has.
pub(crate) const PAN_MAX: usize = 20;

/// A payment card: number (PAN), expiry, CVC and the holder's name.
///
/// It is never printed: `Debug` and `Display` show at most the last four digits, and the number and the CVC are wiped
/// from memory when the last copy is dropped. Nothing is checked here; the request that carries the card reports every
/// violation at once.
///
/// **Handling card numbers puts the merchant under PCI DSS.** A merchant who does not want that uses
/// [`Gateway::create_pay_form`](crate::Gateway::create_pay_form): the payer then enters the card on the gateway's own
/// page.
///
/// ```
/// let card = kassa::Card::new("4111 1111 1111 1111", "08", 2031, "123", "Aibek Usenov");
/// assert_eq!(format!("{card:?}"), "Card(**** 1111)");
/// assert_eq!(card.masked_number(), "**** 1111");
/// ```
///
/// Source: `pan`, `expiryMonth`, `expiryYear`, `cvc` and `name` of `docs/interface.md#card-payment-request`.
#[cfg_attr(feature = "uniffi", derive(uniffi::Object))]
#[derive(Clone)]
pub struct Card {
    pan: Secret,
    expiry_month: String,
    expiry_year: i32,
    cvc: Secret,
    holder_name: String,
}

impl Card {
    /// A card as the payer types it.
    ///
    /// * `pan`: the full number, 13 to 20 digits; spaces and hyphens between the digits are left out when it is sent.
    /// * `expiry_month`: two digits, `"01"` to `"12"`.
    /// * `expiry_year`: four digits, such as 2031.
    /// * `cvc`: three characters.
    /// * `holder_name`: first name, then last name.
    pub fn new(
        pan: impl Into<String>,
        expiry_month: impl Into<String>,
        expiry_year: i32,
        cvc: impl Into<String>,
        holder_name: impl Into<String>,
    ) -> Self {
        let typed = Zeroizing::new(pan.into());
        Self {
            pan: Secret::new(without_separators(&typed)),
            expiry_month: expiry_month.into(),
            expiry_year,
            cvc: Secret::new(cvc),
            holder_name: holder_name.into(),
        }
    }
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl Card {
    /// The last four digits after a mask, for receipts and logs; only the mask if there is no valid number.
    pub fn masked_number(&self) -> String {
        let pan = self.pan.expose();
        let shown = has_valid_digits(pan).then(|| &pan[pan.len() - 4..]);
        shown.map_or_else(|| "****".to_owned(), |last| format!("**** {last}"))
    }
}

impl Card {
    pub(crate) fn pan(&self) -> &str {
        self.pan.expose()
    }

    pub(crate) fn expiry_month(&self) -> &str {
        &self.expiry_month
    }

    pub(crate) fn expiry_year(&self) -> i32 {
        self.expiry_year
    }

    pub(crate) fn cvc(&self) -> &str {
        self.cvc.expose()
    }

    pub(crate) fn holder_name(&self) -> &str {
        &self.holder_name
    }

    pub(crate) fn secrets(&self) -> (Secret, Secret) {
        (self.pan.clone(), self.cvc.clone())
    }
}

impl fmt::Debug for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Card({})", self.masked_number())
    }
}

impl fmt::Display for Card {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.masked_number())
    }
}

/// True if the check digit of a card number is right (the Luhn formula), which catches a mistyped digit.
pub(crate) fn passes_luhn(pan: &str) -> bool {
    let sum: u32 = pan
        .bytes()
        .rev()
        .enumerate()
        .map(|(place, byte)| {
            let digit = u32::from(byte.wrapping_sub(b'0'));
            match (place % 2, digit * 2) {
                (0, _) => digit,
                (_, doubled) if doubled > 9 => doubled - 9,
                (_, doubled) => doubled,
            }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// True if an expiry (year, month) is over. A card is good until the end of its month.
pub(crate) fn is_past(expiry: (i32, u8), today: (i32, u8)) -> bool {
    expiry < today
}

fn has_valid_digits(pan: &str) -> bool {
    (PAN_MIN..=PAN_MAX).contains(&pan.len()) && pan.bytes().all(|byte| byte.is_ascii_digit())
}

/// Zeroization: capacity is reserved first, because a string that grows leaves a copy of the number behind.
fn without_separators(typed: &str) -> String {
    let mut digits = String::with_capacity(typed.len());
    let is_separator = |c: &char| c.is_whitespace() || matches!(c, '-' | '\u{2010}' | '\u{2011}');
    digits.extend(typed.chars().filter(|c| !is_separator(c)));
    digits
}

// Card brands: determined by the first digits of a number (BIN), and the lengths that each allows.

/// The brand of a payment card, determined by its first digits.
///
/// Only ranges that are beyond doubt are known here; everything else is [`Unknown`](Self::Unknown), which is not a
/// reason to reject a card. Later versions may add brands.
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

/// The ranges of the first four digits of each brand. A shorter prefix covers all digits that can follow it.
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
    /// The brand of these digits, as soon as no other brand is possible.
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

    /// Whether a space follows after this number of digits.
    pub(crate) fn has_gap_after(self, digits: usize) -> bool {
        match self {
            Self::Amex => matches!(digits, 4 | 10),
            _ => digits > 0 && digits.is_multiple_of(4),
        }
    }

    /// True if every number ends in a check digit (the Luhn formula). UnionPay has issued cards without one, and for
    /// national systems it is not known: a valid card must not be rejected.
    pub(crate) fn has_check_digit(self) -> bool {
        !matches!(self, Self::UnionPay | Self::Elcart | Self::Unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_left_out() {
        assert_eq!(Card::new("4111 1111-1111\u{a0}11\u{2011}11", "01", 2030, "123", "A B").pan(), "4111111111111111");
    }

    #[test]
    fn number_that_is_not_valid_shows_no_digit() {
        for pan in ["", "1111", "411111111111", "4111x11111111111", "ж111111111111111"] {
            assert_eq!(Card::new(pan, "01", 2030, "123", "A B").masked_number(), "****");
        }
    }

    #[test]
    fn luhn_detects_a_mistyped_digit() {
        assert!(passes_luhn("4111111111111111"));
        assert!(passes_luhn("5555555555554444"));
        assert!(!passes_luhn("4111111111111112"));
    }

    /// Binary search by eye: a range in the wrong place would hide another.
    #[test]
    fn ranges_are_in_order_and_apart() {
        for pair in RANGES.windows(2) {
            assert!(pair[0].0.end() < pair[1].0.start(), "{pair:?}");
        }
    }

    #[test]
    fn brand_is_named_as_soon_as_no_other_is_left() {
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
