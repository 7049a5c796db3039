//! Transactions about what a person decides: what became of a payment of which nobody knows.

use rusqlite::Connection;

use super::{
    changes::{Why, happen_for, take_number},
    connection::now,
    due,
    rows::{self, Kept},
};
use crate::{
    pace::schedule::{Class, interval_at},
    payments::{
        machine::{Happened, is_for_a_person},
        payment::Payment,
    },
    storage::{error::StorageError, inputs::Resolve, outputs::Resolved},
    values::{Millis, ids::PaymentId, method::Method, states::PaymentState, states::Resolution},
};

pub(super) fn resolve(db: &Connection, resolve: &Resolve) -> Result<Resolved, StorageError> {
    let Some(mut kept) = rows::payment(db, &resolve.payment)? else { return Ok(Resolved::Nowhere) };
    let before = kept.payment.state;
    if before == resolve.resolution.state() {
        return Ok(Resolved::Again(kept.payment.into()));
    }
    let happened = match resolve.resolution {
        Resolution::Charged => Happened::ResolvedCharged,
        Resolution::NotCharged => Happened::ResolvedNotCharged,
    };
    let why = Why { reason: Some(&resolve.reason), by: Some(&resolve.by) };
    let now = now(db)?;
    let is_in_doubt = is_for_a_person(before, kept.payment.is_stuck);
    if is_in_doubt && has_moved(db, resolve, &kept.payment)? {
        return Ok(Resolved::Moved(kept.payment.into()));
    }
    if !is_in_doubt || !happen_for(db, now, &mut kept, happened, why)? {
        return Ok(Resolved::NotInDoubt(before));
    }
    let id = &kept.payment.id;
    db.prepare_cached("UPDATE payments SET is_resolved = 1 WHERE id = ?1")?.execute([id.as_str()])?;
    if kept.payment.state == PaymentState::Charged {
        take_claimed_numbers(db, kept.payment.method, id)?;
        due::forget(db, id)?;
    } else {
        keep_asking(db, now, &kept)?;
    }
    Ok(Resolved::Done(kept.payment.into()))
}

/// Whether something happened to the checkout since the person looked at it.
fn has_moved(db: &Connection, resolve: &Resolve, payment: &Payment) -> Result<bool, StorageError> {
    let Some(seen) = resolve.seen else { return Ok(false) };
    Ok(rows::checkout(db, &payment.checkout)?.is_none_or(|checkout| checkout.version != seen))
}

/// What the gateway knows by a number that was claimed for this pay-form, and not for another one, pays for nothing else.
fn take_claimed_numbers(db: &Connection, method: Method, id: &PaymentId) -> Result<(), StorageError> {
    if method != Method::PayForm {
        return Ok(());
    }
    let mut statement = db.prepare_cached("SELECT number FROM claims WHERE payment_id = ?1 AND state = 'open'")?;
    let numbers = statement.query_map([id.as_str()], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    numbers.iter().try_for_each(|number| take_number(db, number, id).map(|_| ()))
}

/// A person can be wrong: the gateway is asked on for a while, and a charge that it reports is told.
fn keep_asking(db: &Connection, now: Millis, kept: &Kept) -> Result<(), StorageError> {
    let payment = &kept.payment;
    if payment.method != Method::PayForm && !payment.reference.can_be_asked_about() {
        return Ok(());
    }
    let age = now - payment.begun_at;
    due::put_unless_there(db, &payment.id, now.saturating_add(interval_at(age)), Class::at_age(age), payment.begun_at)
}
