//! What is due to be asked about: one narrow table, apart from the payments.

use rusqlite::Connection;

use crate::{
    storage::{book::changes::DueChange, error::StorageError},
    values::ids::PaymentId,
};

/// Changes when a payment is asked about.
pub(super) fn apply(db: &Connection, change: &DueChange) -> Result<(), StorageError> {
    match change {
        DueChange::Put { payment, at, class, since } => {
            let sql = "INSERT INTO due (payment_id, at, class, since) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (payment_id) DO UPDATE SET
                    at = MIN(at, excluded.at), class = MIN(class, excluded.class), since = excluded.since";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, *class as u8, since))?;
        }
        DueChange::PutUnlessThere { payment, at, class, since } => {
            let sql = "INSERT OR IGNORE INTO due (payment_id, at, class, since) VALUES (?1, ?2, ?3, ?4)";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, *class as u8, since))?;
        }
        DueChange::AskAgain { payment, leased_until, at, class, since } => {
            let sql =
                "UPDATE due SET at = ?3, class = ?4, since = COALESCE(?5, since) WHERE payment_id = ?1 AND at = ?2";
            db.prepare_cached(sql)?.execute((payment.as_str(), leased_until, at, *class as u8, since))?;
        }
        DueChange::AskNoMore { payment, leased_until } => {
            let sql = "DELETE FROM due WHERE payment_id = ?1 AND at = ?2";
            db.prepare_cached(sql)?.execute((payment.as_str(), leased_until))?;
        }
        DueChange::Forget { payment } => forget(db, payment)?,
    }
    Ok(())
}

/// Asks no more, whatever was hinted.
pub(super) fn forget(db: &Connection, payment: &PaymentId) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM due WHERE payment_id = ?1")?.execute([payment.as_str()])?;
    Ok(())
}
