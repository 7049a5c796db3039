//! The record of requests to the nine endpoints.

use std::time::SystemTime;

use rusqlite::Connection;

use crate::{clock, store::StoreError};

/// One request to one of the nine endpoints, as it was answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The endpoint's path, e.g. `/api/v1.1.0/payment`.
    pub endpoint: String,
    /// The order number or transaction id in it, if it had one that could be read.
    pub order_number: Option<String>,
    /// The HTTP status of the answer.
    pub http_status: u16,
    /// When it was answered.
    pub at: SystemTime,
}

/// Records a request.
pub(crate) fn record(
    connection: &Connection,
    endpoint: &str,
    order_number: Option<&str>,
    http_status: u16,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO exchanges (at, endpoint, order_number, http_status) VALUES (?1, ?2, ?3, ?4)")?
        .execute((clock::now_ms(), endpoint, order_number, http_status))?;
    Ok(())
}

/// Every request so far, in the order they were answered.
pub(crate) fn all(connection: &Connection) -> Result<Vec<ReceivedRequest>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT endpoint, order_number, http_status, at FROM exchanges ORDER BY id")?;
    let requests = statement
        .query_map([], |row| {
            Ok(ReceivedRequest {
                endpoint: row.get(0)?,
                order_number: row.get(1)?,
                http_status: row.get(2)?,
                at: clock::system_time(row.get(3)?),
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(requests)
}
