//! The summary of a payment: amount, payee and purpose, with the amount as people write it: `KGS 1,234.50`, or `1 234,50 сом`.

use askama::Template;
use rust_decimal::Decimal;

use crate::{
    domain::{Language, Payment, PaymentKind},
    messages::Message,
    pages::frame::View,
    payments::qr_code::{QrCode, site},
    store::payments::Record,
};

/// The data of `templates/payer/summary.html`.
#[derive(Template)]
#[template(path = "payer/summary.html")]
pub(super) struct Summary {
    price_label: String,
    /// The price; `None` for a QR code without a sum until its payer enters one.
    price: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    label: String,
    value: String,
    /// Whether it is an identifier.
    is_code: bool,
}

impl Summary {
    pub(super) fn of(view: &View<'_>) -> Self {
        let record = view.record;
        let rows = match record.payment.kind {
            PaymentKind::Qr => rows_of_code(view),
            PaymentKind::Card | PaymentKind::Mbank | PaymentKind::Megapay | PaymentKind::PayForm => rows_of_order(view),
        };
        Self {
            price_label: view.say(Message::Amount),
            price: price(&record.payment, view.frame.language()),
            rows: rows
                .into_iter()
                .filter_map(|(label, value)| {
                    let value = value.filter(|value| !value.is_empty())?;
                    let is_code = matches!(label, Message::Order | Message::Transaction);
                    Some(Row { label: view.say(label), value, is_code })
                })
                .collect(),
        }
    }
}

/// The rows from labels and values, without empty values.
type Rows = Vec<(Message, Option<String>)>;

fn rows_of_order(view: &View<'_>) -> Rows {
    let record = view.record;
    let is_form = record.payment.kind == PaymentKind::PayForm;
    vec![
        (Message::Merchant, Some(merchant(record).unwrap_or_else(|| view.say(Message::TestMerchant)))),
        (Message::Description, Some(record.description.clone()).filter(|_| !is_form)),
        (Message::Order, Some(record.payment.order_number.clone())),
        (Message::PayerCard, record.payment.masked_card.as_deref().map(grouped)),
        (
            Message::PayerPhone,
            record.payment.masked_phone.as_deref().map(|phone| format!("+{phone}").replace('*', "•")),
        ),
    ]
}

/// The rows that a bank's app shows after scanning the code.
fn rows_of_code(view: &View<'_>) -> Rows {
    let code = QrCode::of(view.record);
    vec![
        (Message::Merchant, Some(code.payee.unwrap_or_else(|| view.say(Message::TestMerchant)))),
        (Message::Recipient, code.recipient),
        (Message::Description, code.comment),
        (Message::Transaction, Some(code.transaction)),
        (Message::PaymentSystem, Some(code.provider.to_owned())),
    ]
}

/// The merchant's name: the given one, else the host of one of its URLs.
fn merchant(record: &Record) -> Option<String> {
    let is_form = record.payment.kind == PaymentKind::PayForm;
    let name = Some(&record.description).filter(|name| is_form && !name.trim().is_empty());
    let sites = || [&record.return_url, &record.callback_url].into_iter().flatten().find_map(|url| site(url));
    name.cloned().or_else(sites)
}

/// A masked card number in groups of four, as on cards.
fn grouped(masked: &str) -> String {
    let mut grouped = String::new();
    for (index, character) in masked.chars().enumerate() {
        if index > 0 && index.is_multiple_of(4) {
            grouped.push(' ');
        }
        grouped.push(if character == '*' { '•' } else { character });
    }
    grouped
}

/// A no-break space, so that an amount is never split over two lines.
const HARD_BLANK: char = '\u{a0}';

/// The exact amount of a payment: a QR's tyiyn as som.
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
        Language::English => format!("{currency}{HARD_BLANK}{}.{fraction}", group_thousands(whole, ',')),
        Language::Russian | Language::Kyrgyz => {
            let currency = if currency == "KGS" { "сом" } else { currency };
            format!("{},{fraction}{HARD_BLANK}{currency}", group_thousands(whole, HARD_BLANK))
        }
    }
}

/// The same value with at least two decimals; further significant ones stay.
fn two_decimals(amount: Decimal) -> Decimal {
    let mut amount = amount.normalize();
    if amount.scale() < 2 {
        amount.rescale(2);
    }
    amount
}

fn group_thousands(digits: &str, separator: char) -> String {
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

    #[test]
    fn masked_card_stands_in_groups() {
        assert_eq!(grouped("411111******1111"), "4111 11•• •••• 1111");
        assert_eq!(grouped("422222***2222"), "4222 22•• •222 2");
    }

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
    fn significant_digits_are_kept() {
        assert_eq!(all("0.125", "KGS")[0], "KGS 0.125");
        assert_eq!(all("79228162514264337593543950335", "KGS")[0], "KGS 79,228,162,514,264,337,593,543,950,335.00");
    }
}
