//! What is paid, to whom, and for what.

use askama::Template;

use crate::{
    domain::PaymentKind,
    messages::Message,
    pages::{money, view::View},
    payments::qr_code::{QrCode, site},
    store::payments::Record,
};

/// What `templates/payer/summary.html` shows.
#[derive(Template)]
#[template(path = "payer/summary.html")]
pub(super) struct Summary {
    price_label: String,
    /// The price; a QR code without a sum has none until its payer names one.
    price: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    label: String,
    value: String,
    /// Whether it is a number for machines.
    is_code: bool,
}

impl Summary {
    pub(super) fn of(view: &View<'_>) -> Self {
        let record = view.record;
        let rows = match record.payment.kind {
            PaymentKind::Qr => rows_of_code(view),
            PaymentKind::Card | PaymentKind::Mbank | PaymentKind::PayForm => rows_of_order(view),
        };
        Self {
            price_label: view.say(Message::Amount),
            price: money::price(&record.payment, view.frame.language()),
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

/// What a row says; a row without a value is not shown.
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

/// What a bank's app shows of a code that was scanned.
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

/// Whom the payer pays: by the name the merchant gave, else by a site of theirs.
fn merchant(record: &Record) -> Option<String> {
    let is_form = record.payment.kind == PaymentKind::PayForm;
    let name = Some(&record.description).filter(|name| is_form && !name.trim().is_empty());
    let sites = || [&record.return_url, &record.callback_url].into_iter().flatten().find_map(|url| site(url));
    name.cloned().or_else(sites)
}

/// A masked card number the way it stands on cards, in groups of four.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_masked_card_stands_in_groups() {
        assert_eq!(grouped("411111******1111"), "4111 11•• •••• 1111");
        assert_eq!(grouped("422222***2222"), "4222 22•• •222 2");
    }
}
