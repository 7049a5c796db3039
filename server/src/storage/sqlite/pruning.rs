//! Pruning (retention): what only answers those who ask again goes some time after the end. What says what became of money
//! stays for ever: checkouts, payments, events, and numbers that were taken, as each pays once.

use rusqlite::{Connection, ToSql};

use super::exchanges;
use crate::{storage::error::StorageError, values::Millis};

/// Removes what is from before, and sessions that are over now; so many of each kind at most. The most that was found of one
/// kind.
pub(super) fn prune(db: &Connection, now: Millis, before: Millis, most: u32) -> Result<usize, StorageError> {
    let found = [
        prune_keys(db, before, most)?,
        prune_callbacks(db, before, most)?,
        prune_hashes(db, "tokens", before, most)?,
        prune_hashes(db, "staff_sessions", now, most)?,
    ];
    Ok(found.into_iter().max().unwrap_or_default())
}

/// The idempotency keys of checkouts that ended, of which nothing can be begun any more, and what the gateway said of them.
fn prune_keys(db: &Connection, before: Millis, most: u32) -> Result<usize, StorageError> {
    let mut statement =
        db.prepare_cached("SELECT id FROM checkouts WHERE keys_kept_since <= ?1 ORDER BY keys_kept_since LIMIT ?2")?;
    let ids = statement.query_map((before, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for id in &ids {
        db.prepare_cached("DELETE FROM idempotency WHERE checkout_id = ?1")?.execute([id])?;
        exchanges::forget(db, id)?;
        db.prepare_cached("UPDATE checkouts SET keys_kept_since = NULL WHERE id = ?1")?.execute([id])?;
    }
    Ok(ids.len())
}

/// Hashes of callbacks: one that comes again is a hint again.
fn prune_callbacks(db: &Connection, before: Millis, most: u32) -> Result<usize, StorageError> {
    let mut statement =
        db.prepare_cached("SELECT payment_id, same FROM callbacks WHERE at <= ?1 ORDER BY at LIMIT ?2")?;
    let rows = statement.query_map((before, most), |row| Ok((row.get(0)?, row.get(1)?)))?;
    let rows = rows.collect::<Result<Vec<(String, Vec<u8>)>, _>>()?;
    for (payment, same) in &rows {
        let params: [&dyn ToSql; 2] = [payment, same];
        db.prepare_cached("DELETE FROM callbacks WHERE payment_id = ?1 AND same = ?2")?.execute(params)?;
    }
    Ok(rows.len())
}

/// Hashes of client tokens, or of the staff's sessions, that opened nothing any more.
fn prune_hashes(db: &Connection, table: &str, before: Millis, most: u32) -> Result<usize, StorageError> {
    let sql = format!("SELECT hash FROM {table} WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2");
    let mut statement = db.prepare_cached(&sql)?;
    let hashes = statement.query_map((before, most), |row| row.get(0))?.collect::<Result<Vec<Vec<u8>>, _>>()?;
    for hash in &hashes {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE hash = ?1"))?.execute([hash])?;
    }
    Ok(hashes.len())
}
