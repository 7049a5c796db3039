//! An untrusted report of the gateway: the expected and the reported values.

use kassa::Decimal;

use super::{labels, texts::Texts};
use crate::{checkouts::Checkout, payments::Payment, storage::staff::StoredExchange};

/// One value on both sides.
pub(super) struct Comparison {
    pub(super) name: &'static str,
    pub(super) expected: String,
    /// `None` if the gateway did not report it.
    pub(super) reported: Option<String>,
    /// Whether it does not match.
    pub(super) differs: bool,
}

/// The comparison for a payment in doubt, by its last untrusted report: for its own number, else for a number that callbacks
/// claimed. A report stored by an older program has no values.
pub(super) fn comparison(
    checkout: &Checkout,
    payment: &Payment,
    exchanges: &[StoredExchange],
    t: &Texts,
) -> Vec<Comparison> {
    if !payment.is_in_doubt && !payment.state.is_in_doubt() {
        return Vec::new();
    }
    let has_values = |stored: &&StoredExchange| {
        ["amount", "currency", "orderNumber"].iter().any(|name| stored.exchange.reported(name).is_some())
    };
    let reports = || exchanges.iter().rev().filter(has_values);
    let own = reports().find(|stored| stored.exchange.claim.is_none());
    let Some(last) = own.or_else(|| reports().next()) else { return Vec::new() };
    let exchange = &last.exchange;
    // The fields that differ follow the word.
    let fields = exchange.verdict().strip_prefix("mismatch: ").unwrap_or_default();
    let differs = |name: &str| fields.split(", ").any(|field| field == name);
    let currency = exchange.reported("currency").unwrap_or(&checkout.currency);
    let amount = |text: &str| match text.parse::<Decimal>() {
        Ok(amount) => labels::money(amount, currency, t),
        Err(_) => text.to_owned(),
    };
    let line = |name, field, expected, reported| Comparison { name, expected, reported, differs: differs(field) };
    let number = exchange.claim.as_ref().or(payment.reference.order_number.as_ref());
    let number = number.filter(|number| !number.is_empty()).map_or(t.not_said, String::as_str).to_owned();
    let expected = labels::money(checkout.amount, &checkout.currency, t);
    let reported = |name: &str| exchange.reported(name).map(str::to_owned);
    vec![
        line(t.amount, "amount", expected, exchange.reported("amount").map(amount)),
        line(t.currency, "currency", checkout.currency.clone(), reported("currency")),
        line(t.order_number, "orderNumber", number, reported("orderNumber")),
    ]
}
