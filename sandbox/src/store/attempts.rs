//! The log of callbacks, for people to look through.

use rusqlite::{Connection, OptionalExtension, Row};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::all,
    faults::FaultName,
    store::{self, StoreError, WriteTransaction, word::optional_word},
};

/// One attempt to deliver a callback, with all that is known of it.
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
    /// When the callback is sent again by itself, if it is.
    pub(crate) next_attempt_at: Option<i64>,
}

/// How attempts went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Outcome {
    Delivered,
    Failed,
}

impl Outcome {
    /// All of them.
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

/// A page of the attempts, newest first: those of one order, where one is named, and those before an id, where one is
/// given.
pub(crate) fn page(
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

/// How many callbacks wait to be sent.
pub(crate) fn waiting(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection
        .prepare_cached("SELECT COUNT(*) FROM callbacks WHERE next_attempt_at IS NOT NULL")?
        .query_row((), |row| row.get(0))?)
}

/// Has a callback sent once more, now; false where there is none of this id.
pub(crate) fn deliver_again(transaction: &WriteTransaction<'_>, callback_id: i64) -> Result<bool, StoreError> {
    let changed = transaction
        .prepare_cached("UPDATE callbacks SET next_attempt_at = ?2, held_back = 0 WHERE id = ?1")?
        .execute((callback_id, store::stored_clock::now(transaction)?))?;
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
        fault: optional_word(row, "fault")?,
        response_head: row.get("response_head")?,
        response_body: row.get("response_body")?,
        next_attempt_at: row.get("next_attempt_at")?,
    })
}
