//! Texts about payments for people.

use rust_decimal::Decimal;
use time::Duration;

use crate::{
    domain::{Language, Payment, PaymentKind, PaymentStatus, Provider, RejectReason, clock},
    messages::Message,
    store::payments::Record,
};

/// The outcomes of payments by their names in charts, in the order of their colours.
pub(crate) const OUTCOMES: [&str; 3] = ["Charged", "Rejected", "Open"];
/// Replaces a missing value.
pub(super) const NOTHING: &str = "–";

/// A stored time in Bishkek: `2026-11-20 14:05:09`.
pub(super) fn time(ms: i64) -> String {
    clock::local_date_time(ms).replace('T', " ")
}

/// A duration.
pub(super) fn duration(ms: i64) -> String {
    let duration = Duration::milliseconds(ms);
    let (minutes, hours, days) = (duration.whole_minutes(), duration.whole_hours(), duration.whole_days());
    match ms {
        ..1000 => format!("{ms} ms"),
        1000..60_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ if hours < 1 => format!("{minutes} min {} s", duration.whole_seconds() % 60),
        _ if days < 1 => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

/// The amount in the currency's main unit, also for a QR payment.
pub(super) fn amount(payment: &Payment) -> Option<Decimal> {
    match payment.kind {
        PaymentKind::Qr => payment.amount?.checked_mul(Decimal::new(1, 2)),
        _ => payment.amount,
    }
}

/// `1,234.50`, with all its digits, and at least two decimals.
pub(super) fn decimal(mut amount: Decimal) -> String {
    if amount.scale() < 2 {
        amount.rescale(2);
    }
    let text = amount.to_string();
    let (whole, places) = text.split_once('.').unwrap_or((&text, ""));
    let point = if places.is_empty() { "" } else { "." };
    format!("{}{point}{places}", grouped(whole))
}

/// Hundredths as `1,234.50`.
pub(super) fn minor(minor: i64) -> String {
    decimal(Decimal::new(minor, 2))
}

/// Hundredths of several currencies in one line, som first.
pub(super) fn amounts<'a>(amounts: impl Iterator<Item = (&'a String, i64)>) -> String {
    let mut amounts: Vec<_> = amounts.collect();
    amounts.sort_by_key(|(currency, _)| (*currency != "KGS", *currency));
    let amounts: Vec<_> =
        amounts.into_iter().map(|(currency, hundredths)| format!("{} {currency}", minor(hundredths))).collect();
    if amounts.is_empty() { NOTHING.to_owned() } else { amounts.join(", ") }
}

/// `1,234,567`.
pub(super) fn count(count: i64) -> String {
    grouped(&count.to_string())
}

fn grouped(digits: &str) -> String {
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.as_bytes()[index - 1].is_ascii_digit() {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A proportion: `87.5 %`.
pub(super) fn share(part: i64, whole: i64) -> String {
    if whole <= 0 {
        return NOTHING.to_owned();
    }
    let thousandths = (i128::from(part) * 1000 + i128::from(whole) / 2) / i128::from(whole);
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

/// The amount with its currency.
pub(super) fn money(payment: &Payment) -> String {
    match amount(payment) {
        Some(amount) => format!("{} {}", decimal(amount), payment.currency),
        None => "open".to_owned(),
    }
}

/// The kind of a payment.
pub(super) fn kind(kind: PaymentKind) -> &'static str {
    match kind {
        PaymentKind::Card => "Card",
        PaymentKind::Mbank => "Mobile bank",
        PaymentKind::Megapay => "MegaPay",
        PaymentKind::PayForm => "Pay-form",
        PaymentKind::Qr => "QR",
    }
}

/// The kind of a payment; for a pay-form with the provider.
pub(super) fn method(payment: &Payment) -> String {
    match payment.kind {
        PaymentKind::PayForm => {
            let provider = payment.provider.map_or("not chosen yet", Provider::as_str);
            format!("{}, {provider}", kind(payment.kind))
        }
        other => kind(other).to_owned(),
    }
}

/// The status of a payment.
pub(super) fn status(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Created => "Created",
        PaymentStatus::Pending => "Pending",
        PaymentStatus::Charged => "Charged",
        PaymentStatus::Rejected => "Rejected",
    }
}

/// The class of its badge.
pub(super) fn tone(status: PaymentStatus) -> &'static str {
    match status {
        PaymentStatus::Created => "calm",
        PaymentStatus::Pending => "wait",
        PaymentStatus::Charged => "good",
        PaymentStatus::Rejected => "bad",
    }
}

/// The class of the badge for an HTTP status, if any.
pub(super) fn http_tone(status: Option<u16>) -> &'static str {
    match status {
        Some(200..300) => "good",
        Some(300..500) => "wait",
        _ => "bad",
    }
}

/// The reason of a rejection.
pub(super) fn reason(reason: RejectReason) -> String {
    Language::English.say(Message::from(reason))
}

/// The short reason, for a chart.
pub(super) fn short_reason(reason: RejectReason) -> &'static str {
    match reason {
        RejectReason::Declined => "Declined",
        RejectReason::InsufficientFunds => "Insufficient funds",
        RejectReason::CancelledByPayer => "Payer cancelled",
        RejectReason::OtpAttemptsExhausted => "Wrong passwords",
        RejectReason::ProcessingError => "Provider failed",
    }
}

/// The masked card or phone.
pub(super) fn payer(record: &Record) -> Option<&str> {
    record.payment.masked_card.as_deref().or(record.payment.masked_phone.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_grouped_and_keep_their_digits() {
        for (text, shown) in [
            ("1", "1.00"),
            ("100.1", "100.10"),
            ("1234567.125", "1,234,567.125"),
            ("79228162514264337593543950335", "79,228,162,514,264,337,593,543,950,335"),
        ] {
            assert_eq!(decimal(Decimal::from_str_exact(text).expect("a decimal")), shown);
        }
        assert_eq!((minor(123_456), minor(5)), ("1,234.56".to_owned(), "0.05".to_owned()));
    }

    #[test]
    fn shares_are_rounded_and_nothing_has_none() {
        assert_eq!((share(2, 3), share(1, 1), share(0, 0)), ("66.7 %".into(), "100.0 %".into(), "–".into()));
    }
}
