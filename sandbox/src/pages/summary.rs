//! What is paid, to whom, and for what.

use askama::Template;
use url::Url;

use crate::{
    domain::PaymentKind,
    messages::Message,
    pages::{money, view::View},
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
        let description = match record.payment.kind {
            PaymentKind::Card | PaymentKind::Mbank => Some(record.description.clone()),
            PaymentKind::PayForm | PaymentKind::Qr => None,
        };
        let rows = [
            (Message::Merchant, Some(merchant(record).unwrap_or_else(|| view.say(Message::TestMerchant)))),
            (Message::Description, description),
            (Message::Order, Some(record.payment.order_number.clone())),
            (Message::PayerCard, record.payment.masked_card.as_deref().map(grouped)),
            (
                Message::PayerPhone,
                record.payment.masked_phone.as_deref().map(|phone| format!("+{phone}").replace('*', "•")),
            ),
        ];
        Self {
            price_label: view.say(Message::Amount),
            price: money::price(&record.payment, view.frame.language()),
            rows: rows
                .into_iter()
                .filter_map(|(label, value)| {
                    let value = value.filter(|value| !value.is_empty())?;
                    Some(Row { label: view.say(label), value, is_code: label == Message::Order })
                })
                .collect(),
        }
    }
}

/// Whom the payer pays: by the name the merchant gave, else by a site of theirs.
fn merchant(record: &Record) -> Option<String> {
    let name = match record.payment.kind {
        PaymentKind::PayForm | PaymentKind::Qr => Some(&record.description).filter(|name| !name.trim().is_empty()),
        PaymentKind::Card | PaymentKind::Mbank => None,
    };
    let sites = || [&record.return_url, &record.callback_url].into_iter().flatten().find_map(|url| site(url));
    name.cloned().or_else(sites)
}

fn site(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    url.host_str().map(str::to_owned)
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

    #[test]
    fn a_merchant_without_a_name_is_known_by_its_site() {
        assert_eq!(site("https://shop.example/done?cart=7").as_deref(), Some("shop.example"));
        assert_eq!(site("myapp://paid"), None);
    }
}
