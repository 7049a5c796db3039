//! The receipt of a paid checkout: the payer's proof of payment, with the numbers that the shop needs to find it.

use kassa::Language;

use super::texts::Texts;
use crate::{
    checkouts::CheckoutView,
    locale::{moment, money},
    payments::Payment,
    values::{Method, PaymentState},
};

/// The lines of a receipt: each a name and a value.
pub(super) type Receipt = Vec<(&'static str, String)>;

/// The receipt of the payment that paid the checkout; empty if none did.
pub(super) fn receipt(view: &CheckoutView, merchant: Option<&str>, t: &'static Texts, language: Language) -> Receipt {
    let checkout = &view.checkout;
    let paid_by = checkout.paid_by.as_ref().and_then(|id| view.payment(id));
    let Some(payment) = paid_by.filter(|payment| payment.state == PaymentState::Charged) else { return Vec::new() };
    let shown = |amount| money(amount, &checkout.currency, language);
    let lines = [
        (t.paid_to, merchant.map(str::to_owned)),
        (t.order, Some(checkout.reference.clone())),
        (t.amount, Some(shown(checkout.amount))),
        (t.commission, payment.commission.map(shown)),
        (t.total, payment.total.map(shown)),
        (t.paid_at, payment.charged_at.map(|at| format!("{} ({})", moment(at, language), t.clock))),
        (t.paid_by, Some(method_name(payment.method, t).to_owned())),
        (t.card, payment.card_last4.as_ref().map(|digits| format!("•••• {digits}"))),
        (t.phone, payment.phone_last2.as_ref().map(|digits| format!("••• {digits}"))),
        (t.operation, operation_number(payment)),
    ];
    lines.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// The name of a payment method.
pub(super) fn method_name(method: Method, t: &Texts) -> &'static str {
    match method {
        Method::PayForm => t.pay_form,
        Method::Card => t.card,
        Method::Qr => t.qr,
        Method::Mbank => t.mbank,
        Method::Megapay => t.megapay,
    }
}

/// The number by which the gateway finds the payment: its own, the transaction of a QR code, or the merchant's.
fn operation_number(payment: &Payment) -> Option<String> {
    let reference = &payment.reference;
    let known = [&reference.gateway_number, &reference.transaction_id, &reference.order_number];
    known.into_iter().flatten().next().cloned()
}
