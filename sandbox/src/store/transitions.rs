//! The one place where a stored status changes. The change, its record and its callback are one transaction.

use rusqlite::Transaction;

use crate::{
    faults::FaultSet,
    state::{Event, PaymentStatus},
    store::{
        StoreError, clock, notices,
        payments::{self, Record},
    },
};

/// Lets an event happen to a payment and returns it as it stands then.
/// Where the state machine has no such transition, nothing happens.
pub(crate) fn apply(
    transaction: &Transaction<'_>,
    faults: &FaultSet,
    record: Record,
    event: Event,
) -> Result<Record, StoreError> {
    let Some(next) = record.payment.status.after(event) else {
        return Ok(record);
    };
    let reason = match event {
        Event::Reject(reason) => Some(reason.code()),
        Event::Charge | Event::Hold => None,
    };
    let now = clock::now(transaction)?;
    let since = |is_so: bool| is_so.then_some(now);
    transaction
        .prepare_cached(
            "UPDATE payments SET status = ?2, reject_reason = ?3, finished_at = ?4, pending_since = ?5 WHERE id = ?1",
        )?
        .execute((record.id, next.as_str(), reason, since(next.is_final()), since(next == PaymentStatus::Pending)))?;
    transaction.prepare_cached("INSERT INTO state_changes (payment_id, status, at) VALUES (?1, ?2, ?3)")?.execute((
        record.id,
        next.as_str(),
        now,
    ))?;
    let changed = payments::by_id(transaction, record.id)?;
    notices::of_change(transaction, faults, &changed)?;
    Ok(changed)
}
