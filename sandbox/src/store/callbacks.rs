//! The queue of callbacks and the record of every attempt to deliver one.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Transaction};

use crate::{clock, store::StoreError};

/// One attempt to deliver a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAttempt {
    /// The payment's order number.
    pub order_number: String,
    /// The URL it was sent to.
    pub target: String,
    /// The JSON that was sent.
    pub body: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// When it was sent.
    pub at: SystemTime,
    /// What the receiver answered, if it did.
    pub http_status: Option<u16>,
    /// Why there was no answer, if there was none.
    pub error: Option<String>,
}

/// A callback whose time has come.
pub(crate) struct DueCallback {
    pub(crate) id: i64,
    pub(crate) target: String,
    pub(crate) body: String,
    pub(crate) attempts: u32,
    pub(crate) order_number: String,
}

/// How an attempt went.
pub(crate) struct AttemptResult {
    pub(crate) at: i64,
    pub(crate) http_status: Option<u16>,
    pub(crate) error: Option<String>,
}

/// Puts a callback into the queue, due at once.
pub(crate) fn enqueue(
    transaction: &Transaction<'_>,
    payment_id: i64,
    target: &str,
    body: &str,
    now: i64,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached("INSERT INTO callbacks (payment_id, target, body, next_attempt_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute((payment_id, target, body, now))?;
    Ok(())
}

/// The ids of the callbacks whose time has come, oldest first.
pub(crate) fn due(connection: &Connection, now: i64) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM callbacks WHERE next_attempt_at <= ?1 ORDER BY next_attempt_at, id")?;
    let due = statement.query_map([now], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(due)
}

/// A callback, if its time has come.
pub(crate) fn if_due(connection: &Connection, id: i64, now: i64) -> Result<Option<DueCallback>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT c.target, c.body, c.attempts, p.order_number
         FROM callbacks c JOIN payments p ON p.id = c.payment_id
         WHERE c.id = ?1 AND c.next_attempt_at <= ?2",
    )?;
    let found = statement.query_row((id, now), |row| {
        Ok(DueCallback { id, target: row.get(0)?, body: row.get(1)?, attempts: row.get(2)?, order_number: row.get(3)? })
    });
    Ok(found.optional()?)
}

/// When the next callback after `now` is due.
pub(crate) fn next_due(connection: &Connection, now: i64) -> Result<Option<i64>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT MIN(next_attempt_at) FROM callbacks WHERE next_attempt_at > ?1")?
        .query_row([now], |row| row.get(0))?)
}

/// Records an attempt and when the next one is due, if there is to be one.
pub(crate) fn record_attempt(
    transaction: &Transaction<'_>,
    callback: &DueCallback,
    result: &AttemptResult,
    next_attempt_at: Option<i64>,
) -> Result<(), StoreError> {
    let attempt = callback.attempts + 1;
    transaction
        .prepare_cached(
            "INSERT INTO callback_attempts (callback_id, attempt, at, http_status, error)
             VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute((callback.id, attempt, result.at, result.http_status, &result.error))?;
    transaction.prepare_cached("UPDATE callbacks SET attempts = ?2, next_attempt_at = ?3 WHERE id = ?1")?.execute((
        callback.id,
        attempt,
        next_attempt_at,
    ))?;
    Ok(())
}

/// Every attempt so far, oldest first.
pub(crate) fn attempts(connection: &Connection) -> Result<Vec<CallbackAttempt>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.order_number, c.target, c.body, a.attempt, a.at, a.http_status, a.error
         FROM callback_attempts a
         JOIN callbacks c ON c.id = a.callback_id
         JOIN payments p ON p.id = c.payment_id
         ORDER BY a.id",
    )?;
    let attempts = statement
        .query_map([], |row| {
            Ok(CallbackAttempt {
                order_number: row.get(0)?,
                target: row.get(1)?,
                body: row.get(2)?,
                attempt: row.get(3)?,
                at: clock::system_time(row.get(4)?),
                http_status: row.get(5)?,
                error: row.get(6)?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(attempts)
}
