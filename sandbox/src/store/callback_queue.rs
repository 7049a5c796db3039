//! The queue of callbacks (an outbox: written in the transaction of the change that they report), and the log of all delivery attempts.

use std::time::SystemTime;

use rusqlite::{Connection, OptionalExtension, Row};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{all, clock},
    faults::FaultName,
    store::{self, StoreError, WriteTransaction, columns::optional_parsed},
};

/// The error of a callback that a fault dropped.
const NEVER_SENT: &str = "never sent: a fault lost it";

/// One attempt to deliver a callback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallbackAttempt {
    /// The payment's order number.
    pub order_number: String,
    /// The URL that it was sent to.
    pub target: String,
    /// The JSON body.
    pub body: String,
    /// 1 for the first attempt.
    pub attempt: u32,
    /// The time of the attempt.
    pub at: SystemTime,
    /// The HTTP status of the receiver's response, if any.
    pub http_status: Option<u16>,
    /// The reason why there was no response, if there was none.
    pub error: Option<String>,
    /// The fault injected into the callback, if any.
    pub fault: Option<FaultName>,
}

/// A due callback.
pub(crate) struct DueCallback {
    pub(crate) id: i64,
    pub(crate) target: String,
    pub(crate) body: String,
    pub(crate) attempts: u32,
    pub(crate) order_number: String,
    /// The time at which it became due.
    pub(crate) due_at: i64,
}

/// The result of an attempt.
pub(crate) struct AttemptResult {
    pub(crate) at: i64,
    pub(crate) took_ms: Option<i64>,
    pub(crate) http_status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) response_head: Option<String>,
    /// The first bytes of the response.
    pub(crate) response_body: Option<String>,
}

/// A callback to enqueue.
pub(crate) struct NewCallback<'a> {
    pub(crate) payment_id: i64,
    pub(crate) target: &'a str,
    pub(crate) body: &'a str,
    pub(crate) first_attempt: FirstAttempt,
    pub(crate) fault: Option<FaultName>,
}

/// The time of the first attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FirstAttempt {
    At(i64),
    /// After the payment's next callback was delivered or given up.
    AfterTheNext,
    Never,
}

/// Enqueues a callback.
pub(crate) fn enqueue(transaction: &WriteTransaction<'_>, new: &NewCallback<'_>) -> Result<(), StoreError> {
    let next_attempt_at = match new.first_attempt {
        FirstAttempt::At(at) => Some(at),
        FirstAttempt::AfterTheNext | FirstAttempt::Never => None,
    };
    transaction
        .prepare_cached(
            "INSERT INTO callbacks (payment_id, target, body, next_attempt_at, fault, held_back)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute((
            new.payment_id,
            new.target,
            new.body,
            next_attempt_at,
            new.fault.map(FaultName::as_str),
            new.first_attempt == FirstAttempt::AfterTheNext,
        ))?;
    if new.first_attempt == FirstAttempt::Never {
        // Recorded anyway, so that the log shows that the fault dropped it.
        let id = transaction.last_insert_rowid();
        let result = AttemptResult {
            at: store::transaction::gateway_now(transaction)?,
            took_ms: None,
            http_status: None,
            error: Some(NEVER_SENT.to_owned()),
            response_head: None,
            response_body: None,
        };
        insert_attempt(transaction, id, 1, &result)?;
    }
    Ok(())
}

fn insert_attempt(
    transaction: &WriteTransaction<'_>,
    callback_id: i64,
    attempt: u32,
    result: &AttemptResult,
) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "INSERT INTO callback_attempts (callback_id, attempt, at, http_status, error, took_ms, response_head,
                response_body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute((
            callback_id,
            attempt,
            result.at,
            result.http_status,
            &result.error,
            result.took_ms,
            &result.response_head,
            &result.response_body,
        ))?;
    Ok(())
}

/// The ids of due callbacks, oldest first.
pub(crate) fn due(connection: &Connection, now: i64) -> Result<Vec<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT id FROM callbacks WHERE next_attempt_at <= ?1 ORDER BY next_attempt_at, id")?;
    let due = statement.query_map([now], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(due)
}

/// A callback, if it is due.
pub(crate) fn if_due(connection: &Connection, id: i64, now: i64) -> Result<Option<DueCallback>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT c.target, c.body, c.attempts, p.order_number, c.next_attempt_at
         FROM callbacks c JOIN payments p ON p.id = c.payment_id
         WHERE c.id = ?1 AND c.next_attempt_at <= ?2",
    )?;
    let found = statement.query_row((id, now), |row| {
        Ok(DueCallback {
            id,
            target: row.get(0)?,
            body: row.get(1)?,
            attempts: row.get(2)?,
            order_number: row.get(3)?,
            due_at: row.get(4)?,
        })
    });
    Ok(found.optional()?)
}

/// The time at which the next callback after `now` is due.
pub(crate) fn next_due(connection: &Connection, now: i64) -> Result<Option<i64>, StoreError> {
    Ok(connection
        .prepare_cached("SELECT MIN(next_attempt_at) FROM callbacks WHERE next_attempt_at > ?1")?
        .query_row([now], |row| row.get(0))?)
}

/// Records an attempt, and the time of the next one, if any.
pub(crate) fn record_attempt(
    transaction: &WriteTransaction<'_>,
    callback: &DueCallback,
    result: &AttemptResult,
    next_attempt_at: Option<i64>,
) -> Result<(), StoreError> {
    let attempt = callback.attempts + 1;
    insert_attempt(transaction, callback.id, attempt, result)?;
    // If another delivery was requested during this one, it stays due.
    transaction
        .prepare_cached(
            "UPDATE callbacks SET attempts = ?2, next_attempt_at =
                CASE next_attempt_at WHEN ?4 THEN ?3 ELSE next_attempt_at END
             WHERE id = ?1",
        )?
        .execute((callback.id, attempt, next_attempt_at, callback.due_at))?;
    if next_attempt_at.is_none() { release(transaction, callback.id) } else { Ok(()) }
}

/// Releases the payment's earlier callbacks that were held back until this one was done. A forged callback does not count as the payment's.
fn release(transaction: &WriteTransaction<'_>, id: i64) -> Result<(), StoreError> {
    transaction
        .prepare_cached(
            "UPDATE callbacks SET held_back = 0, next_attempt_at = ?2
             WHERE held_back = 1 AND id < ?1
                AND payment_id = (SELECT payment_id FROM callbacks WHERE id = ?1 AND fault IS NOT 'callback-forged')",
        )?
        .execute((id, store::transaction::gateway_now(transaction)?))?;
    Ok(())
}

/// All attempts so far, oldest first; of one order, if it is given.
pub(crate) fn attempts(connection: &Connection, order: Option<&str>) -> Result<Vec<CallbackAttempt>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT p.order_number, c.target, c.body, a.attempt, a.at, a.http_status, a.error, c.fault
         FROM callback_attempts a
         JOIN callbacks c ON c.id = a.callback_id
         JOIN payments p ON p.id = c.payment_id
         WHERE ?1 IS NULL OR p.order_number = ?1 OR p.gateway_number = ?1
         ORDER BY a.id",
    )?;
    let attempts = statement
        .query_map([order], |row| {
            Ok(CallbackAttempt {
                order_number: row.get(0)?,
                target: row.get(1)?,
                body: row.get(2)?,
                attempt: row.get(3)?,
                at: clock::system_time(row.get(4)?),
                http_status: row.get(5)?,
                error: row.get(6)?,
                fault: optional_parsed(row, "fault")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(attempts)
}

/// All data of one delivery attempt.
pub(crate) struct Attempt {
    pub(crate) id: i64,
    pub(crate) callback_id: i64,
    pub(crate) payment_id: i64,
    pub(crate) order_number: String,
    pub(crate) target: String,
    pub(crate) body: String,
    pub(crate) attempt: u32,
    pub(crate) at: i64,
    pub(crate) took_ms: Option<i64>,
    pub(crate) http_status: Option<u16>,
    pub(crate) error: Option<String>,
    pub(crate) fault: Option<FaultName>,
    pub(crate) response_head: Option<String>,
    pub(crate) response_body: Option<String>,
    /// The time of the next automatic attempt, if any.
    pub(crate) next_attempt_at: Option<i64>,
}

/// The results of attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Outcome {
    Delivered,
    Failed,
}

impl Outcome {
    /// All values.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    fn condition(self) -> &'static str {
        match self {
            Self::Delivered => "AND a.http_status BETWEEN 200 AND 299",
            Self::Failed => "AND (a.http_status IS NULL OR a.http_status NOT BETWEEN 200 AND 299)",
        }
    }
}

const SELECT: &str = "SELECT a.*, c.payment_id, c.target, c.body, c.fault, c.next_attempt_at, p.order_number
     FROM callback_attempts a
     JOIN callbacks c ON c.id = a.callback_id
     JOIN payments p ON p.id = c.payment_id";

/// A page of the attempts, newest first: those of one order, if it is given, and those before an id, if it is given.
pub(crate) fn attempts_page(
    connection: &Connection,
    order: Option<&str>,
    outcome: Option<Outcome>,
    before: Option<i64>,
    count: usize,
) -> Result<Vec<Attempt>, StoreError> {
    let outcome = outcome.map_or("", Outcome::condition);
    let order_condition = match order {
        Some(_) => "p.order_number = ?1 OR p.gateway_number = ?1",
        None => "?1 IS NULL",
    };
    let sql = format!("{SELECT} WHERE ({order_condition}) {outcome} AND a.id < ?2 ORDER BY a.id DESC LIMIT {count}");
    let mut statement = connection.prepare_cached(&sql)?;
    let attempts = statement.query_map((order, before.unwrap_or(i64::MAX)), attempt)?.collect::<Result<_, _>>()?;
    Ok(attempts)
}

/// The attempts to deliver a payment's callbacks, oldest first.
pub(crate) fn of_payment(connection: &Connection, payment_id: i64) -> Result<Vec<Attempt>, StoreError> {
    let sql = format!("{SELECT} WHERE c.payment_id = ?1 ORDER BY a.id DESC LIMIT 200");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut attempts: Vec<Attempt> = statement.query_map([payment_id], attempt)?.collect::<Result<_, _>>()?;
    attempts.reverse();
    Ok(attempts)
}

/// One attempt.
pub(crate) fn by_id(connection: &Connection, id: i64) -> Result<Option<Attempt>, StoreError> {
    let sql = format!("{SELECT} WHERE a.id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([id], attempt).optional()?)
}

/// The number of callbacks that wait to be sent.
pub(crate) fn waiting(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection
        .prepare_cached("SELECT COUNT(*) FROM callbacks WHERE next_attempt_at IS NOT NULL")?
        .query_row((), |row| row.get(0))?)
}

/// Makes a callback due now. False if there is none with this id.
pub(crate) fn deliver_again(transaction: &WriteTransaction<'_>, callback_id: i64) -> Result<bool, StoreError> {
    let changed = transaction
        .prepare_cached("UPDATE callbacks SET next_attempt_at = ?2, held_back = 0 WHERE id = ?1")?
        .execute((callback_id, store::transaction::gateway_now(transaction)?))?;
    Ok(changed > 0)
}

fn attempt(row: &Row<'_>) -> rusqlite::Result<Attempt> {
    Ok(Attempt {
        id: row.get("id")?,
        callback_id: row.get("callback_id")?,
        payment_id: row.get("payment_id")?,
        order_number: row.get("order_number")?,
        target: row.get("target")?,
        body: row.get("body")?,
        attempt: row.get("attempt")?,
        at: row.get("at")?,
        took_ms: row.get("took_ms")?,
        http_status: row.get("http_status")?,
        error: row.get("error")?,
        fault: optional_parsed(row, "fault")?,
        response_head: row.get("response_head")?,
        response_body: row.get("response_body")?,
        next_attempt_at: row.get("next_attempt_at")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{settings::Database, store::Store};

    const PAYMENT: &str =
        "INSERT INTO payments (kind, order_number, gateway_number, currency, description, confirmation_page,
        status, otp_attempts_left, created_at) VALUES ('card', 'A-1', 'g', 'KGS', '', 0, 'CHARGE', 3, 1)";

    fn delivered() -> AttemptResult {
        AttemptResult {
            at: 5,
            took_ms: None,
            http_status: Some(200),
            error: None,
            response_head: None,
            response_body: None,
        }
    }

    #[test]
    fn callback_requested_in_flight_is_sent_again() {
        let store = Store::open(&Database::Memory).expect("a store");
        let due = store
            .write(|transaction| {
                transaction.execute(PAYMENT, ())?;
                let new = NewCallback {
                    payment_id: transaction.last_insert_rowid(),
                    target: "http://127.0.0.1:9",
                    body: "{}",
                    first_attempt: FirstAttempt::At(5),
                    fault: None,
                };
                enqueue(transaction, &new)?;
                let now = store.clock.now_ms();
                let first = if_due(transaction, 1, now)?.expect("due");
                assert!(deliver_again(transaction, 1)?);
                record_attempt(transaction, &first, &delivered(), None)?;
                let again = if_due(transaction, 1, now + 1000)?.expect("due again");
                record_attempt(transaction, &again, &delivered(), None)?;
                if_due(transaction, 1, now + 1000)
            })
            .expect("written");
        assert!(due.is_none(), "once more, and no more");
    }
}
