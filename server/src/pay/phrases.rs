//! Amounts and moments, as people write them in each language.

use kassa::{Decimal, Language};
use time::{OffsetDateTime, UtcOffset, format_description::FormatItem, macros::format_description};

use crate::values::Millis;

const ENGLISH: &[FormatItem<'_>] = format_description!("[day padding:none] [month repr:long] [year], [hour]:[minute]");
const OTHERS: &[FormatItem<'_>] = format_description!("[day].[month].[year], [hour]:[minute]");
/// Bishkek: UTC+6 all year round.
const HOURS: i8 = 6;
/// Neither a number nor an amount is broken over two lines.
const NO_BREAK: char = '\u{a0}';

/// An amount with its currency: `390,50 сом`, `1,000 som`.
pub(super) fn money(amount: Decimal, currency: &str, language: Language) -> String {
    let digits = if amount.fract().is_zero() { format!("{:.0}", amount.trunc()) } else { format!("{amount:.2}") };
    let (whole, rest) = digits.split_once('.').unwrap_or((&digits, ""));
    let is_english = language == Language::English;
    let (group, point) = if is_english { (',', '.') } else { (NO_BREAK, ',') };
    let mut text = grouped(whole, group);
    if !rest.is_empty() {
        text.push(point);
        text.push_str(rest);
    }
    let currency = match currency {
        "KGS" if is_english => "som",
        "KGS" => "сом",
        other => other,
    };
    format!("{text}{NO_BREAK}{currency}")
}

fn grouped(digits: &str, group: char) -> String {
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(group);
        }
        text.push(digit);
    }
    text
}

/// A moment by Bishkek's clock.
pub(super) fn moment(at: Millis, language: Language) -> String {
    let format = if language == Language::English { ENGLISH } else { OTHERS };
    let offset = UtcOffset::from_hms(HOURS, 0, 0).unwrap_or(UtcOffset::UTC);
    let at = OffsetDateTime::from_unix_timestamp(at.div_euclid(1000)).ok();
    at.and_then(|at| at.to_offset(offset).format(format).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_as_people_do() {
        for (amount, english, russian) in [
            ("390", "390 som", "390 сом"),
            ("390.00", "390 som", "390 сом"),
            ("390.5", "390.50 som", "390,50 сом"),
            ("1000", "1,000 som", "1 000 сом"),
            ("12345678.09", "12,345,678.09 som", "12 345 678,09 сом"),
        ] {
            let text = |language| money(amount.parse().unwrap(), "KGS", language).replace(NO_BREAK, " ");
            assert_eq!(text(Language::English), english);
            assert_eq!((text(Language::Russian), text(Language::Kyrgyz)), (russian.to_owned(), russian.to_owned()));
        }
        assert_eq!(money(7.into(), "USD", Language::Russian).replace(NO_BREAK, " "), "7 USD");
    }

    #[test]
    fn moments_are_bishkeks() {
        let at = 1_795_444_200_000; // 2026-11-23 14:30 UTC
        assert_eq!(moment(at, Language::English), "23 November 2026, 20:30");
        assert_eq!(moment(at, Language::Kyrgyz), "23.11.2026, 20:30");
    }
}
