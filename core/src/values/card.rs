//! Payment card: PAN, expiry, CVC and holder. Masked when printed (redaction), wiped when dropped (zeroization).

use std::fmt;

use zeroize::Zeroizing;

use crate::values::secret::Secret;

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
    /// The last four digits behind a mask, for receipts and logs; only the mask where there is no valid number.
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

/// True where the check digit of a card number is right (the Luhn formula), which catches a mistyped digit.
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

/// True where a month, a year before it, is over. A card is good until the end of its month.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_left_out() {
        assert_eq!(Card::new("4111 1111-1111\u{a0}11\u{2011}11", "01", 2030, "123", "A B").pan(), "4111111111111111");
    }

    #[test]
    fn a_number_that_is_not_valid_shows_no_digit() {
        for pan in ["", "1111", "411111111111", "4111x11111111111", "ж111111111111111"] {
            assert_eq!(Card::new(pan, "01", 2030, "123", "A B").masked_number(), "****");
        }
    }

    #[test]
    fn luhn_tells_a_mistyped_digit() {
        assert!(passes_luhn("4111111111111111"));
        assert!(passes_luhn("5555555555554444"));
        assert!(!passes_luhn("4111111111111112"));
    }
}
