//! Money as exact decimals. Never a float, which would round.

use rust_decimal::Decimal;
use serde::{Serialize, Serializer, ser::Error as _};
use serde_json::value::RawValue;

use crate::{currency::KGS, error::PaymentError, violation::Rule};

/// How many tyiyn make a som.
pub(crate) const TYIYN_IN_A_SOM: Decimal = Decimal::ONE_HUNDRED;

/// An amount in som as a whole number of tyiyn. It refuses to round.
///
/// ```
/// use kassa::{som_to_tyiyn, Decimal};
/// assert_eq!(som_to_tyiyn("100.10".parse::<Decimal>().unwrap()).unwrap(), 10010);
/// assert!(som_to_tyiyn("0.005".parse::<Decimal>().unwrap()).is_err());
/// ```
///
/// # Errors
/// [`PaymentError::Invalid`] for an amount with a part of a tyiyn, or one that does not fit.
pub fn som_to_tyiyn(som: Decimal) -> Result<i64, PaymentError> {
    let whole = som.checked_mul(TYIYN_IN_A_SOM).filter(Decimal::is_integer).and_then(|tyiyn| i64::try_from(tyiyn).ok());
    let rule = "must be a whole number of tyiyn (no more than two decimals) that fits";
    whole.ok_or_else(|| PaymentError::invalid("som", Rule::Exact, None, rule))
}

/// A whole number of tyiyn in som.
///
/// ```
/// assert_eq!(kassa::tyiyn_to_som(10010).to_string(), "100.10");
/// ```
pub fn tyiyn_to_som(tyiyn: i64) -> Decimal {
    Decimal::new(tyiyn, 2)
}

/// Reads an amount digit for digit from the text of a JSON number, or from the text inside a JSON string. An amount that cannot be held
/// exactly is rejected: a rounded amount is a wrong amount.
pub(crate) fn read_amount(text: &str) -> Option<Decimal> {
    let of = |signs: &[u8]| text.bytes().all(|byte| byte.is_ascii_digit() || signs.contains(&byte));
    if of(b".-") {
        return Decimal::from_str_exact(text).ok();
    }
    // Checked first: most texts are not numbers, and an error costs an allocation.
    of(b".-+eE").then(|| read_scientific(text))?
}

/// Reads an amount as people and other programs write it: `100,00`, `1 234.50`, `390.00 KGS`, with the currency if its three letters are
/// next to it. An ambiguous amount, such as `1,234`, is rejected.
pub(crate) fn read_written_amount(text: &str) -> Option<(Decimal, Option<String>)> {
    if let Some(amount) = read_amount(text) {
        return Some((amount, None));
    }
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | '-') || c.is_whitespace();
    let word: String = text.chars().filter(|c| !is_of_number(*c)).collect();
    let (before, after) = text.split_once(&word).filter(|_| !word.is_empty()).unwrap_or((text, ""));
    // The word is before or after the number, in one piece.
    let number = match (before.trim(), after.trim()) {
        (number, "") | ("", number) => number,
        _ => return None,
    };
    let currency = match word.to_lowercase().as_str() {
        "" => None,
        "сом" | "som" | "с" => Some(KGS.to_owned()),
        letters if letters.len() == 3 && letters.bytes().all(|byte| byte.is_ascii_lowercase()) => {
            Some(word.to_uppercase())
        }
        _ => return None,
    };
    Some((read_grouped(number)?, currency))
}

/// A number with spaces between its thousands, and a comma or a point before two decimals at most.
fn read_grouped(text: &str) -> Option<Decimal> {
    let (whole, decimals) = match text.rsplit_once([',', '.']) {
        Some((whole, decimals)) if matches!(decimals.len(), 1 | 2) => (whole, decimals),
        Some(_) => return None,
        None => (text, ""),
    };
    let mut groups = whole.split(char::is_whitespace);
    let first = groups.next().unwrap_or_default();
    let digits = first.strip_prefix('-').unwrap_or(first);
    let is_of_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let rest: Vec<&str> = groups.collect();
    let is_grouped = rest.iter().all(|group| group.len() == 3 && is_of_digits(group));
    let is_short = rest.is_empty() || digits.len() <= 3;
    if digits.is_empty() || !is_of_digits(digits) || !is_grouped || !is_short || !is_of_digits(decimals) {
        return None;
    }
    let point = if decimals.is_empty() { "" } else { "." };
    Decimal::from_str_exact(&format!("{first}{}{point}{decimals}", rest.concat())).ok()
}

/// `1.5e3` is the same number as `1500`, and some JSON writers prefer it.
fn read_scientific(text: &str) -> Option<Decimal> {
    let (digits, exponent) = text.split_once(['e', 'E'])?;
    let value = Decimal::from_str_exact(digits).ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    if exponent < 0 {
        let scale = value.scale().checked_add(exponent.unsigned_abs())?;
        Decimal::try_from_i128_with_scale(value.mantissa(), scale).ok()
    } else {
        let most = usize::try_from(exponent).ok().filter(|exponent| *exponent <= 28)?;
        std::iter::repeat_n(Decimal::TEN, most).try_fold(value, Decimal::checked_mul)
    }
}

/// An amount as a JSON number, digit for digit: 100.10 stays 100.10.
pub(crate) struct ExactNumber(pub(crate) Decimal);

impl Serialize for ExactNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(S::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal(text: &str) -> Decimal {
        text.parse().expect("a decimal")
    }

    #[test]
    fn numbers_are_written_digit_for_digit() {
        for text in ["100.10", "1", "0.01", "79228162514264337593543950335", "1.000", "0.0000000000000000000000000001"]
        {
            assert_eq!(serde_json::to_string(&ExactNumber(decimal(text))).unwrap(), text);
        }
    }

    #[test]
    fn amounts_are_read_exactly_or_not_at_all() {
        assert_eq!(read_amount("100.10").unwrap().to_string(), "100.10");
        assert_eq!(read_amount("1.5e3"), Some(decimal("1500")));
        assert_eq!(read_amount("15e-1"), Some(decimal("1.5")));
        assert_eq!(read_amount("-3"), Some(decimal("-3")));
        for text in
            ["", "abc", "1,5", "1e400", "1e-400", "0.00000000000000000000000000001", "NaN", "1 000", "0x10", "1_0"]
        {
            assert_eq!(read_amount(text), None, "{text}");
        }
    }

    #[test]
    fn only_unambiguous_written_amounts_are_read() {
        for (text, amount, currency) in [
            ("390", "390", None),
            ("100,00", "100.00", None),
            ("390.00 KGS", "390.00", Some("KGS")),
            ("kgs 390", "390", Some("KGS")),
            ("1 234,50", "1234.50", None),
            ("1\u{a0}234\u{a0}567.5 сом", "1234567.5", Some("KGS")),
            ("12.50USD", "12.50", Some("USD")),
            ("-5,00", "-5.00", None),
        ] {
            let expected = Some((decimal(amount), currency.map(str::to_owned)));
            assert_eq!(read_written_amount(text), expected, "{text}");
        }
        for text in
            ["", "abc", "1,234", "1,234.50", "1 23", "12 34.00", "KGS", "1 KGS 2", "5 apples", "1,2,3", ",50", "--5,00"]
        {
            assert_eq!(read_written_amount(text), None, "{text}");
        }
    }

    #[test]
    fn conversion_refuses_to_round() {
        assert_eq!(som_to_tyiyn(decimal("1.10")).unwrap(), 110);
        assert_eq!(som_to_tyiyn(decimal("1.100")).unwrap(), 110);
        for text in ["1.101", "0.001", "79228162514264337593543950335", "92233720368547758.08"] {
            assert!(matches!(som_to_tyiyn(decimal(text)), Err(PaymentError::Invalid { .. })), "{text}");
        }
        assert_eq!(som_to_tyiyn(decimal("92233720368547758.07")).unwrap(), i64::MAX);
    }

    proptest! {
        #[test]
        fn tyiyn_survive_the_way_through_som(tyiyn in any::<i64>()) {
            prop_assert_eq!(som_to_tyiyn(tyiyn_to_som(tyiyn)).unwrap(), tyiyn);
        }

        #[test]
        fn what_is_written_is_read_back(mantissa in any::<i64>(), scale in 0u32..=28) {
            let amount = Decimal::new(mantissa, scale);
            let written = serde_json::to_string(&ExactNumber(amount)).unwrap();
            prop_assert_eq!(read_amount(&written), Some(amount));
        }
    }
}
