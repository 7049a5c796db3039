//! The one place where a stored status changes. The change, its record and its callback are one transaction.

use rusqlite::Transaction;
use serde::Serialize;

use crate::{
    amount::Amount,
    clock,
    payment::PaymentKind,
    state::{Event, PaymentStatus},
    store::{
        StoreError, callbacks,
        payments::{self, Record},
    },
};

/// Lets an event happen to a payment and returns it as it stands then.
/// Where the state machine has no such transition, nothing happens.
pub(crate) fn apply(transaction: &Transaction<'_>, record: Record, event: Event) -> Result<Record, StoreError> {
    let Some(next) = record.payment.status.after(event) else {
        return Ok(record);
    };
    let reason = match event {
        Event::Reject(reason) => Some(reason.code()),
        Event::Charge | Event::Hold => None,
    };
    let now = clock::now_ms();
    transaction.prepare_cached("UPDATE payments SET status = ?2, reject_reason = ?3 WHERE id = ?1")?.execute((
        record.id,
        next.as_str(),
        reason,
    ))?;
    transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?.execute((
        record.id,
        next.as_str(),
        now,
    ))?;
    let changed = payments::by_id(transaction, record.id)?;
    if let Some(target) = &changed.callback_url {
        let body = callback_body(&changed, next);
        callbacks::enqueue(transaction, changed.id, target, &body, now)?;
    }
    Ok(changed)
}

/// The callback's body, its names and types as the interface's table has them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CallbackBody<'a> {
    order_number: &'a str,
    amount: Amount,
    currency: &'a str,
    status: &'a str,
    date_created: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    requisite: Option<&'a str>,
    provider: Option<&'a str>,
}

fn callback_body(record: &Record, status: PaymentStatus) -> String {
    let payment = &record.payment;
    let requisite = record.requisite.as_deref();
    let body = CallbackBody {
        order_number: &payment.order_number,
        // A QR without a sum, declined before its payer named one: nothing was asked for.
        amount: Amount(payment.amount.unwrap_or_default()),
        currency: &payment.currency,
        status: status.as_str(),
        date_created: clock::local_date_time(record.created_at),
        requisite: requisite.filter(|_| payment.kind == PaymentKind::Qr),
        provider: payment.provider.map(|provider| provider.as_str()),
    };
    // Strings and numbers only: there is nothing in it that JSON cannot say.
    serde_json::to_string(&body).unwrap_or_default()
}
