//! The table of the payer's pages, and which of them a payment waits on.

use crate::{
    domain::{PaymentKind, PaymentStatus},
    pages::{page::Page, pay_form, qr, three_ds, wallet},
    store::payments::Record,
};

/// All of them.
pub(crate) static PAGES: [Page; 4] = [three_ds::PAGE, pay_form::PAGE, wallet::PAGE, qr::PAGE];

/// The path of the page on which a payment waits for its payer, if it waits on one.
pub(crate) fn awaiting(record: &Record) -> Option<&'static str> {
    let payment = &record.payment;
    if payment.status != PaymentStatus::Created {
        return None;
    }
    match payment.kind {
        PaymentKind::Card => Some(three_ds::PATH),
        PaymentKind::PayForm if payment.masked_card.is_some() => Some(three_ds::PATH),
        PaymentKind::PayForm if payment.masked_phone.is_some() => Some(wallet::PATH),
        PaymentKind::PayForm => Some(pay_form::PATH),
        PaymentKind::Qr => Some(qr::PATH),
        // The password goes from the payer to the merchant.
        PaymentKind::Mbank => None,
    }
}
