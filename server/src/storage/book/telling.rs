//! Telling: every change of a state has exactly one event, which holds the states that stand in the book by then.

use ring::rand::{SecureRandom, SystemRandom};

use super::{Book, changes::Changes, changes::NewEvent};
use crate::{
    events::{
        body::{Body, Data, PaymentData, ViaData},
        kind::EventKind,
    },
    storage::error::StorageError,
    tokens::decided_by::DecidedBy,
    values::ids::hex,
};

/// What an event tells beside its kind.
#[derive(Default)]
pub(super) struct Told<'a> {
    /// The place of the payment in the book, where it is about one.
    pub(super) payment: Option<usize>,
    pub(super) after: Option<String>,
    pub(super) reason: Option<&'a str>,
    pub(super) by: Option<&'a DecidedBy>,
}

/// Writes an event.
pub(super) fn tell(
    changes: &mut Changes,
    book: &mut Book,
    kind: EventKind,
    told: &Told<'_>,
) -> Result<(), StorageError> {
    let Book { head, payments, .. } = book;
    head.version += 1;
    head.touched.version = true;
    let kept = told.payment.map(|at| &mut payments[at]);
    let counted = match kept {
        Some(kept) => {
            // The count of its events is saved with its state, also where that stays.
            kept.touch_state();
            (&mut kept.events, Some(&kept.payment))
        }
        None => (&mut head.events, None),
    };
    let (events, payment) = counted;
    *events += 1;
    let number = *events;
    let id = new_event_id()?;
    let via = told.by.and_then(|by| by.via.as_ref());
    let data = Data {
        checkout: head.id.as_str(),
        reference: &head.reference,
        amount: &head.amount,
        currency: &head.currency,
        checkout_state: head.state.into(),
        version: head.version,
        payment: payment.map(|payment| PaymentData {
            id: payment.id.as_str(),
            method: payment.method.into(),
            state: payment.state.into(),
        }),
        number,
        after: told.after.as_deref(),
        reason: told.reason,
        by: told.by.map(|by| by.name.as_str()),
        via: via.map(|via| ViaData { role: via.role.into(), key: via.key.as_str() }),
    };
    let body = Body { id: &id, kind, timestamp_ms: changes.now, data }.json();
    let body = body.map_err(|problem| StorageError::failed(problem.to_string()))?;
    let payment = payment.map(|payment| payment.id.clone());
    changes.events.push(NewEvent { id, checkout: head.id.clone(), payment, number, version: head.version, kind, body });
    Ok(())
}

/// From random bits alone: a database that is restored from a backup must not give an identifier a second time.
fn new_event_id() -> Result<String, StorageError> {
    let mut bytes = [0; 16];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| StorageError::failed("the system has no random numbers for an event's identifier"))?;
    Ok(format!("evt_{}", hex(&bytes)))
}
