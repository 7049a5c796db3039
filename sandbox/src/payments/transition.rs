//! State transitions: the one place where a stored status changes. The change, its record and its callback are one
//! transaction.

use crate::{
    callbacks::notice,
    domain::Event,
    faults::FaultSet,
    store::{
        StoreError, WriteTransaction,
        payments::{self, Record},
    },
};

/// Lets an event happen to a payment and returns it as it stands then.
/// Where the state machine has no such transition, nothing happens.
pub(crate) fn apply(
    transaction: &WriteTransaction<'_>,
    faults: &FaultSet,
    record: Record,
    event: Event,
) -> Result<Record, StoreError> {
    let Some(next) = record.payment.status.after(event) else {
        return Ok(record);
    };
    let reason = match event {
        Event::Reject(reason) => Some(reason),
        Event::Charge | Event::Hold => None,
    };
    payments::set_status(transaction, record.id, next, reason)?;
    let changed = payments::by_id(transaction, record.id)?;
    notice::of_change(transaction, faults, &changed)?;
    Ok(changed)
}
