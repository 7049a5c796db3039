//! The log of the built-in receiver, limited to the latest requests.

use rusqlite::Connection;

use crate::store::{StoreError, WriteTransaction, transaction};

/// The number of requests that are stored.
const KEPT: u32 = 500;

/// A received request.
pub(crate) struct Received {
    pub(crate) at: i64,
    pub(crate) name: String,
    pub(crate) head: String,
    pub(crate) body: String,
    /// The length of the whole body; the stored part may be shorter.
    pub(crate) body_length: i64,
    pub(crate) answered: u16,
}

/// Records a request, and deletes the oldest ones if there are too many.
pub(crate) fn record(transaction: &WriteTransaction<'_>, new: &Received) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO received (at, name, head, body, body_length, answered) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            transaction::gateway_now(transaction)?,
            &new.name,
            &new.head,
            &new.body,
            new.body_length,
            new.answered,
        ))?;
    transaction
        .prepare_cached("DELETE FROM received WHERE id <= ?1 - ?2")?
        .execute((transaction.last_insert_rowid(), KEPT))?;
    Ok(())
}

/// The requests, newest first; only those to one name, if one is given.
pub(crate) fn latest(connection: &Connection, name: Option<&str>, count: u32) -> Result<Vec<Received>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT * FROM received WHERE ?1 IS NULL OR name = ?1 ORDER BY id DESC LIMIT ?2")?;
    let requests = statement
        .query_map((name, count), |row| {
            Ok(Received {
                at: row.get("at")?,
                name: row.get("name")?,
                head: row.get("head")?,
                body: row.get("body")?,
                body_length: row.get("body_length")?,
                answered: row.get("answered")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(requests)
}

/// Deletes all requests.
pub(crate) fn forget(transaction: &WriteTransaction<'_>) -> Result<(), StoreError> {
    transaction.execute("DELETE FROM received", ())?;
    Ok(())
}
