//! Changes of states, each with its event. What follows from what is decided by the pure state machines; here it is stored.

use rusqlite::{Connection, OptionalExtension};

use super::{
    outbox::{self, Told},
    rows::{Kept, read},
};
use crate::{
    checkouts::machine as checkout_machine,
    payments::machine::{self, Happened},
    storage::error::StorageError,
    tokens::decided_by::DecidedBy,
    values::{Millis, ids::CheckoutId, ids::PaymentId, states::CheckoutState, states::PaymentState},
};

/// Why something happened, and where a person decided, who.
#[derive(Clone, Copy, Default)]
pub(super) struct Why<'a> {
    pub(super) reason: Option<&'a str>,
    pub(super) by: Option<&'a DecidedBy>,
}

/// Something happened to a payment. True where that changed its state; what was read of it is then changed as well.
pub(super) fn happen(
    db: &Connection,
    now: Millis,
    kept: &mut Kept,
    happened: Happened,
    reason: Option<&str>,
) -> Result<bool, StorageError> {
    happen_for(db, now, kept, happened, Why { reason, by: None })
}

/// The same where a person may have decided.
pub(super) fn happen_for(
    db: &Connection,
    now: Millis,
    kept: &mut Kept,
    happened: Happened,
    why: Why<'_>,
) -> Result<bool, StorageError> {
    let payment = &mut kept.payment;
    let Some(change) = machine::next(payment.state, payment.method, happened) else { return Ok(false) };
    let was_under_way = payment.is_under_way();
    // Conditional on the state before: of two settlers one wins, whatever database this is.
    let changed = db
        .prepare_cached(
            "UPDATE payments SET state = ?2, is_stuck = is_stuck AND ?4, unknown_since = ?5 WHERE id = ?1 AND state = ?3",
        )?
        .execute((
            payment.id.as_str(),
            <&str>::from(change.to),
            <&str>::from(payment.state),
            !change.to.is_final(),
            (change.to == PaymentState::Unknown).then_some(now),
        ))?;
    if changed == 0 {
        return Ok(false);
    }
    payment.state = change.to;
    if was_under_way && !payment.is_under_way() {
        wait_no_longer(db, &payment.checkout)?;
    }
    payment.is_stuck &= !change.to.is_final();
    let after = change.after.map(|state| state.to_string());
    let told = Told { payment: Some(payment), after, reason: why.reason, by: why.by };
    outbox::write(db, now, &payment.checkout, change.event, &told)?;
    if change.to == PaymentState::Charged {
        happen_to_checkout(db, now, &payment.checkout, checkout_machine::Happened::PaymentCharged, Some(&payment.id))?;
    }
    Ok(true)
}

/// Something of it is no longer under way: whether it expires is looked at when it should.
fn wait_no_longer(db: &Connection, id: &CheckoutId) -> Result<(), StorageError> {
    db.prepare_cached("UPDATE checkouts SET expiry_due_at = expires_at WHERE id = ?1 AND expiry_due_at <> expires_at")?
        .execute([id.as_str()])?;
    Ok(())
}

/// Something happened to a checkout. True where that changed it.
pub(super) fn happen_to_checkout(
    db: &Connection,
    now: Millis,
    checkout: &CheckoutId,
    happened: checkout_machine::Happened,
    paid_by: Option<&PaymentId>,
) -> Result<bool, StorageError> {
    happen_to_checkout_for(db, now, checkout, happened, paid_by, None)
}

/// The same where a person may have decided.
pub(super) fn happen_to_checkout_for(
    db: &Connection,
    now: Millis,
    checkout: &CheckoutId,
    happened: checkout_machine::Happened,
    paid_by: Option<&PaymentId>,
    by: Option<&DecidedBy>,
) -> Result<bool, StorageError> {
    let state: String = db
        .prepare_cached("SELECT state FROM checkouts WHERE id = ?1")?
        .query_row([checkout.as_str()], |row| row.get(0))?;
    let state: CheckoutState = read(&state, "state")?;
    let Some(change) = checkout_machine::next(state, happened) else { return Ok(false) };
    let is_overpaid = change.to == state;
    let changed = db
        .prepare_cached(
            "UPDATE checkouts SET state = ?2, is_overpaid = is_overpaid OR ?4, refunds_due = refunds_due + ?4,
                paid_by = COALESCE(paid_by, ?5), keys_kept_since = ?6
             WHERE id = ?1 AND state = ?3",
        )?
        .execute((
            checkout.as_str(),
            <&str>::from(change.to),
            <&str>::from(state),
            is_overpaid,
            paid_by.map(PaymentId::as_str),
            now,
        ))?;
    if changed == 0 {
        return Ok(false);
    }
    let after = change.after.map(|state| state.to_string());
    outbox::write(db, now, checkout, change.event, &Told { after, by, ..Told::default() })?;
    Ok(true)
}

/// Takes a number for a payment, once and for all. False where it is another payment's.
pub(super) fn take_number(db: &Connection, number: &str, payment: &PaymentId) -> Result<bool, StorageError> {
    db.prepare_cached("INSERT OR IGNORE INTO taken_numbers (number, payment_id) VALUES (?1, ?2)")?
        .execute((number, payment.as_str()))?;
    let owner: Option<String> = db
        .prepare_cached("SELECT payment_id FROM taken_numbers WHERE number = ?1")?
        .query_row([number], |row| row.get(0))
        .optional()?;
    Ok(owner.as_deref() == Some(payment.as_str()))
}
