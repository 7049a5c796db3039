//! Localization: amounts as people write them.

use rust_decimal::Decimal;

use crate::{
    checkout::{screen_texts::NO_BREAK, state::CheckoutDetails},
    currency::KGS,
    i18n::Language,
};

const GROUP: usize = 3;

/// An amount with its currency, as people write it in a language. It has no decimals, or two at least, and is not broken over two
/// lines.
///
/// ```
/// use kassa::{Decimal, Language, amount_text};
///
/// let amount = Decimal::new(139_050, 2);
/// assert_eq!(amount_text(amount, "KGS", Language::English), "1,390.50\u{a0}som");
/// assert_eq!(amount_text(amount, "KGS", Language::Kyrgyz), "1\u{a0}390,50\u{a0}сом");
/// ```
pub fn amount_text(amount: Decimal, currency: &str, language: Language) -> String {
    let (group, point) = if language == Language::English { (',', '.') } else { (NO_BREAK, ',') };
    let digits = amount.abs().normalize().to_string();
    let (whole, decimals) = digits.split_once('.').unwrap_or((&digits, ""));
    let mut text = String::new();
    if amount < Decimal::ZERO {
        text.push('-');
    }
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && index % GROUP == whole.len() % GROUP {
            text.push(group);
        }
        text.push(digit);
    }
    if !decimals.is_empty() {
        text.push(point);
        text.push_str(decimals);
        if decimals.len() == 1 {
            text.push('0');
        }
    }
    text.push(NO_BREAK);
    text.push_str(match (currency, language) {
        (KGS, Language::English) => "som",
        (KGS, _) => "сом",
        _ => currency,
    });
    text
}

/// The button that pays, with the amount: `Pay 390.50 som`. Before the amount is known there is
/// [`CheckoutLabels::pay`](crate::CheckoutLabels::pay).
///
/// ```
/// use kassa::{Decimal, Language, pay_text};
///
/// assert_eq!(pay_text(Decimal::from(390), "KGS", Language::Kyrgyz), "390\u{a0}сом төлөө");
/// ```
pub fn pay_text(amount: Decimal, currency: &str, language: Language) -> String {
    let amount = amount_text(amount, currency, language);
    match language {
        Language::English => format!("Pay {amount}"),
        Language::Russian => format!("Оплатить {amount}"),
        Language::Kyrgyz => format!("{amount} төлөө"),
    }
}

impl CheckoutDetails {
    /// What is to be paid, as people write it: [`amount_text`].
    pub fn amount_text(&self, language: Language) -> String {
        amount_text(self.amount, &self.currency, language)
    }

    /// The button that pays, with the amount: [`pay_text`].
    pub fn pay_text(&self, language: Language) -> String {
        pay_text(self.amount, &self.currency, language)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_and_have_no_decimals_or_two_at_least() {
        for (amount, english, russian) in [
            ("0", "0", "0"),
            ("390.5", "390.50", "390,50"),
            ("390.00", "390", "390"),
            ("999", "999", "999"),
            ("1000", "1,000", "1 000"),
            ("12345.6", "12,345.60", "12 345,60"),
            ("123456", "123,456", "123 456"),
            ("1234567.089", "1,234,567.089", "1 234 567,089"),
            ("0.05", "0.05", "0,05"),
            ("-390", "-390", "-390"),
            ("-1390.5", "-1,390.50", "-1 390,50"),
            ("-0.00", "0", "0"),
            (
                "79228162514264337593543950335",
                "79,228,162,514,264,337,593,543,950,335",
                "79 228 162 514 264 337 593 543 950 335",
            ),
        ] {
            let number: Decimal = amount.parse().unwrap();
            let shown = |language| amount_text(number, "KGS", language).replace(NO_BREAK, " ");
            assert_eq!(shown(Language::English), format!("{english} som"), "{amount}");
            assert_eq!(shown(Language::Russian), format!("{russian} сом"), "{amount}");
            assert_eq!(shown(Language::Kyrgyz), format!("{russian} сом"), "{amount}");
        }
        assert_eq!(amount_text(Decimal::from(7), "USD", Language::Russian), "7\u{a0}USD");
    }

    #[test]
    fn an_amount_is_not_broken_over_two_lines() {
        assert!(!amount_text(Decimal::from(1_390), "KGS", Language::Russian).contains(' '));
    }
}
