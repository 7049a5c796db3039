//! What is due to be asked about: one narrow table, apart from the payments.

use rusqlite::Connection;

use crate::{
    pace::schedule::Class,
    storage::error::StorageError,
    values::{Millis, ids::PaymentId},
};

/// Makes a payment due, at once or later; never later than it was.
pub(super) fn put(
    db: &Connection,
    payment: &PaymentId,
    at: Millis,
    class: Class,
    since: Millis,
) -> Result<(), StorageError> {
    db.prepare_cached(
        "INSERT INTO due (payment_id, at, class, since) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (payment_id) DO UPDATE SET
            at = MIN(at, excluded.at), class = MIN(class, excluded.class), since = excluded.since",
    )?
    .execute((payment.as_str(), at, class as u8, since))?;
    Ok(())
}

/// Makes a payment due later, unless it is due anyway.
pub(super) fn put_unless_there(
    db: &Connection,
    payment: &PaymentId,
    at: Millis,
    class: Class,
    since: Millis,
) -> Result<(), StorageError> {
    db.prepare_cached("INSERT OR IGNORE INTO due (payment_id, at, class, since) VALUES (?1, ?2, ?3, ?4)")?
        .execute((payment.as_str(), at, class as u8, since))?;
    Ok(())
}

/// Asks again at a time, unless it was made due meanwhile: that hint may know more than the answer.
pub(super) fn ask_again(
    db: &Connection,
    payment: &PaymentId,
    leased_until: Millis,
    at: Millis,
    class: Class,
) -> Result<(), StorageError> {
    db.prepare_cached("UPDATE due SET at = ?3, class = ?4 WHERE payment_id = ?1 AND at = ?2")?.execute((
        payment.as_str(),
        leased_until,
        at,
        class as u8,
    ))?;
    Ok(())
}

/// Asks no more, unless it was made due meanwhile.
pub(super) fn ask_no_more(db: &Connection, payment: &PaymentId, leased_until: Millis) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM due WHERE payment_id = ?1 AND at = ?2")?
        .execute((payment.as_str(), leased_until))?;
    Ok(())
}

/// Asks no more, whatever was hinted.
pub(super) fn forget(db: &Connection, payment: &PaymentId) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM due WHERE payment_id = ?1")?.execute([payment.as_str()])?;
    Ok(())
}
