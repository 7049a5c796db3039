//! The audit trail of one payment, for people to read.

use rusqlite::Connection;

use crate::{
    domain::{EndpointName, PaymentStatus},
    faults::FaultName,
    store::{
        StoreError,
        payments::Record,
        word::{optional_word, word},
    },
};

/// A request about the payment, and its response.
pub(crate) struct Exchange {
    pub(crate) at: i64,
    pub(crate) endpoint: Option<EndpointName>,
    pub(crate) path: String,
    pub(crate) http_status: Option<u16>,
    pub(crate) fault: Option<FaultName>,
    pub(crate) took_us: Option<i64>,
    pub(crate) request_head: Option<String>,
    pub(crate) request_body: Option<String>,
    pub(crate) response_head: Option<String>,
    pub(crate) response_body: Option<String>,
}

/// A change of its status.
pub(crate) struct StateChange {
    pub(crate) at: i64,
    pub(crate) status: PaymentStatus,
}

/// Limit of what is shown of each kind: a payment whose status was asked for thousands of times still fits on a page.
const MAX_SHOWN: usize = 200;

/// The requests about a payment: those under one of its numbers, and the one that made it. The latest ones, oldest
/// first.
pub(crate) fn exchanges(connection: &Connection, record: &Record) -> Result<Vec<Exchange>, StoreError> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT * FROM exchanges WHERE id IN (
            SELECT id FROM exchanges WHERE order_number IN (?1, ?2)
            UNION SELECT id FROM exchanges WHERE payment_id = ?3
         ) ORDER BY id DESC LIMIT {MAX_SHOWN}"
    ))?;
    let numbers = record.payment.numbers();
    let mut exchanges: Vec<Exchange> = statement
        .query_map((&numbers[0], &numbers[1], record.id), |row| {
            let path: String = row.get("endpoint")?;
            Ok(Exchange {
                at: row.get("at")?,
                endpoint: EndpointName::of_path(&path),
                path,
                http_status: row.get("http_status")?,
                fault: optional_word(row, "fault")?,
                took_us: row.get("took_us")?,
                request_head: row.get("request_head")?,
                request_body: row.get("request_body")?,
                response_head: row.get("response_head")?,
                response_body: row.get("response_body")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    exchanges.reverse();
    Ok(exchanges)
}

/// The changes of a payment's status, oldest first.
pub(crate) fn state_changes(connection: &Connection, id: i64) -> Result<Vec<StateChange>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT status, at FROM state_changes WHERE payment_id = ?1 ORDER BY id")?;
    let changes = statement
        .query_map([id], |row| Ok(StateChange { at: row.get("at")?, status: word(row, "status")? }))?
        .collect::<Result<_, _>>()?;
    Ok(changes)
}
