//! Transactions about payments that are begun, sent, confirmed, and decided by a person.

use rusqlite::{Connection, OptionalExtension};

use super::{books, pauses, rows::read};
use crate::{
    storage::{
        book::{payments, payments::KnownKey, resolving},
        error::StorageError,
        inputs::{BeginConfirmation, BeginPayment, Confirmed, Key, Resolve, Sent, TakePrepared},
        outputs::{Begun, ConfirmationBegun, Recorded, Resolved, Taken},
    },
    values::ids::CheckoutId,
};

fn known_key(db: &Connection, checkout: &CheckoutId, key: Option<&Key>) -> Result<Option<KnownKey>, StorageError> {
    let Some(key) = key else { return Ok(None) };
    let known: Option<(Vec<u8>, String)> = db
        .prepare_cached("SELECT fingerprint, payment_id FROM idempotency WHERE checkout_id = ?1 AND key = ?2")?
        .query_row((checkout.as_str(), &key.text), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    known.map(|(fingerprint, id)| Ok(KnownKey { fingerprint, payment: read(&id, "payment")? })).transpose()
}

pub(super) fn begin(db: &Connection, begin: &BeginPayment) -> Result<Begun, StorageError> {
    let Some(mut book) = books::open(db, &begin.checkout)? else { return Ok(Begun::Nowhere) };
    let known = known_key(db, &begin.checkout, begin.key.as_ref())?;
    let mut changes = books::begin(db, &payments::numbers_of_begun(begin))?;
    changes.pauses = pauses::read(db)?;
    let begun = payments::begin(&mut changes, &mut book, known, begin)?;
    books::save(db, &changes, &book)?;
    Ok(begun)
}

pub(super) fn take_prepared(db: &Connection, take: &TakePrepared) -> Result<Taken, StorageError> {
    let Some(mut book) = books::open(db, &take.checkout)? else { return Ok(Taken::Gone) };
    let mut changes = books::begin(db, &[])?;
    changes.pauses = pauses::read(db)?;
    let taken = payments::take_prepared(&mut changes, &mut book, take)?;
    books::save(db, &changes, &book)?;
    Ok(taken)
}

pub(super) fn record_send_outcome(db: &Connection, sent: &Sent) -> Result<Recorded, StorageError> {
    let mut book = books::open_known(db, &sent.payment)?;
    let mut changes = books::begin(db, &payments::numbers_of_sent(sent))?;
    changes.pauses = pauses::read(db)?;
    let recorded = payments::record_send_outcome(&mut changes, &mut book, 0, sent)?;
    books::save(db, &changes, &book)?;
    Ok(recorded)
}

pub(super) fn begin_confirmation(
    db: &Connection,
    begin: &BeginConfirmation,
) -> Result<ConfirmationBegun, StorageError> {
    let Some(mut book) = books::open(db, &begin.checkout)? else { return Ok(ConfirmationBegun::Nowhere) };
    let known = known_key(db, &begin.checkout, begin.key.as_ref())?;
    let mut changes = books::begin(db, &[])?;
    let begun = payments::begin_confirmation(&mut changes, &mut book, known, begin)?;
    books::save(db, &changes, &book)?;
    Ok(begun)
}

pub(super) fn record_confirmation(db: &Connection, confirmed: &Confirmed) -> Result<Recorded, StorageError> {
    let mut book = books::open_known(db, &confirmed.payment)?;
    let mut changes = books::begin(db, &payments::numbers_of_confirmed(confirmed))?;
    let recorded = payments::record_confirmation(&mut changes, &mut book, 0, confirmed)?;
    books::save(db, &changes, &book)?;
    Ok(recorded)
}

pub(super) fn resolve(db: &Connection, resolve: &Resolve) -> Result<Resolved, StorageError> {
    let Some(mut book) = books::open_at(db, &resolve.payment)? else { return Ok(Resolved::Nowhere) };
    book.payments[0].claims = books::claims(db, &resolve.payment)?;
    let mut changes = books::begin(db, &resolving::numbers_to_resolve(&book.payments[0]))?;
    let resolved = resolving::resolve(&mut changes, &mut book, 0, resolve)?;
    books::save(db, &changes, &book)?;
    Ok(resolved)
}
