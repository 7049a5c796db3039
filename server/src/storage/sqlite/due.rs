//! What is due to be asked about: one narrow table, apart from the payments.

use rusqlite::Connection;

use crate::{
    pace::schedule::LEAST_DISTANCE,
    storage::{book::changes::DueChange, error::StorageError},
    values::ids::PaymentId,
};

/// Changes when a payment is asked about.
pub(super) fn apply(db: &Connection, change: &DueChange) -> Result<(), StorageError> {
    match change {
        DueChange::Put { payment, at, queue, since } => {
            // The last question may lie ahead, where the clock was set back since.
            let sql = "INSERT INTO due (payment_id, at, queue, since) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (payment_id) DO UPDATE SET
                    at = MAX(MIN(at, excluded.at), CASE WHEN asked_at <= excluded.at THEN asked_at + ?5 ELSE 0 END),
                    queue = MIN(queue, excluded.queue), since = excluded.since";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, queue.number(), since, LEAST_DISTANCE))?;
        }
        DueChange::PutUnlessThere { payment, at, queue, since } => {
            let sql = "INSERT OR IGNORE INTO due (payment_id, at, queue, since) VALUES (?1, ?2, ?3, ?4)";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, queue.number(), since))?;
        }
        DueChange::AskAgain { payment, leased_until, at, queue, since } => {
            let sql =
                "UPDATE due SET at = ?3, queue = ?4, since = COALESCE(?5, since) WHERE payment_id = ?1 AND at = ?2";
            db.prepare_cached(sql)?.execute((payment.as_str(), leased_until, at, queue.number(), since))?;
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
