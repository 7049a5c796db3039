//! Amounts as people write them: `KGS 1,234.50`, or `1 234,50 сом`.

use rust_decimal::Decimal;

use crate::domain::{Language, Payment, PaymentKind};

/// A blank that no line is broken at, and so no amount.
const HARD_BLANK: char = '\u{a0}';

/// What a payment costs, exactly: a QR's tyiyn as som.
pub(super) fn price(payment: &Payment, language: Language) -> Option<String> {
    let amount = match payment.kind {
        PaymentKind::Qr => payment.amount?.checked_mul(Decimal::new(1, 2))?,
        _ => payment.amount?,
    };
    Some(shown(amount, &payment.currency, language))
}

fn shown(amount: Decimal, currency: &str, language: Language) -> String {
    let digits = two_decimals(amount).to_string();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, "00"));
    match language {
        Language::English => format!("{currency}{HARD_BLANK}{}.{fraction}", grouped(whole, ',')),
        Language::Russian | Language::Kyrgyz => {
            let currency = if currency == "KGS" { "сом" } else { currency };
            format!("{},{fraction}{HARD_BLANK}{currency}", grouped(whole, HARD_BLANK))
        }
    }
}

/// The same value with at least two decimals; more stay where they say something.
fn two_decimals(amount: Decimal) -> Decimal {
    let mut amount = amount.normalize();
    if amount.scale() < 2 {
        amount.rescale(2);
    }
    amount
}

fn grouped(digits: &str, separator: char) -> String {
    let mut grouped = String::with_capacity(digits.len() * 2);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(separator);
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(amount: &str, currency: &str) -> [String; 3] {
        let amount = Decimal::from_str_exact(amount).expect("an amount");
        Language::ALL.map(|language| shown(amount, currency, language).replace(HARD_BLANK, " "))
    }

    #[test]
    fn amounts_are_written_as_each_language_does() {
        assert_eq!(all("1234.5", "KGS"), ["KGS 1,234.50", "1 234,50 сом", "1 234,50 сом"]);
        assert_eq!(all("1000000", "USD"), ["USD 1,000,000.00", "1 000 000,00 USD", "1 000 000,00 USD"]);
        assert_eq!(all("999.00", "KGS")[0], "KGS 999.00");
    }

    #[test]
    fn no_digit_that_counts_is_lost() {
        assert_eq!(all("0.125", "KGS")[0], "KGS 0.125");
        assert_eq!(all("79228162514264337593543950335", "KGS")[0], "KGS 79,228,162,514,264,337,593,543,950,335.00");
    }
}
