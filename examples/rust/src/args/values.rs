//! Values that are typed in a form of their own.

use std::time::Duration;

use kassa::Decimal;

/// An amount, exactly as its digits say.
pub(super) fn amount(text: &str) -> Result<Decimal, String> {
    Decimal::from_str_exact(text)
        .map_err(|_| "an amount is a decimal number such as 100.10, of at most 28 digits".to_owned())
}

/// Nobody waits longer, and no clock overflows before.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A time: seconds, or a number with `ms`, `s` or `m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(char::is_alphabetic);
    let unit = match &text[digits.len()..] {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        _ => return Err("a time is a number of seconds, or a number with ms, s or m".to_owned()),
    };
    let number: f64 = digits.parse().map_err(|_| "a time begins with a number".to_owned())?;
    Duration::try_from_secs_f64(number * unit)
        .ok()
        .filter(|duration| !duration.is_zero() && *duration <= LONGEST)
        .ok_or_else(|| "a time must be longer than zero and no longer than a year".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_unit() {
        for (text, millis) in [
            ("10", 10_000),
            ("0.5", 500),
            ("250ms", 250),
            ("20m", 1_200_000),
            ("3s", 3000),
            ("525600m", 31_536_000_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "0", "-1", "s", "5h", "1e400", "NaN", "ü", "525601m", "1e19"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
