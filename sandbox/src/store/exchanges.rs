//! The request log of the gateway's endpoints, its write-behind buffer, and the history of one payment. The buffer exists because a
//! transaction for each request would cost more than its response.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

use rusqlite::Connection;

use crate::{
    domain::{EndpointName, PaymentStatus, clock},
    faults::FaultName,
    store::{
        StoreError,
        columns::{optional_parsed, parsed},
        payments::Record,
    },
};

/// One request to one of the gateway's endpoints, and its outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The endpoint's path, e.g. `/api/v1.1.0/payment`.
    pub endpoint: String,
    /// The order number or transaction id in it, if it could be read.
    pub order_number: Option<String>,
    /// The HTTP status of the response; `None` if a fault withheld it from the client.
    pub http_status: Option<u16>,
    /// The injected fault, if any.
    pub fault: Option<FaultName>,
    /// The time of the response.
    pub at: SystemTime,
}

/// A request to record.
pub(crate) struct NewExchange {
    pub(crate) endpoint: EndpointName,
    pub(crate) order_number: Option<String>,
    pub(crate) http_status: Option<u16>,
    pub(crate) fault: Option<FaultName>,
    /// The payment that the request created, if the request has no number of it.
    pub(crate) payment_id: Option<i64>,
    pub(crate) took: Duration,
    pub(crate) request_head: String,
    pub(crate) request_body: Option<String>,
    pub(crate) response_head: String,
    pub(crate) response_body: Option<String>,
}

/// Records requests, each with the time of its response.
pub(super) fn record_all(connection: &Connection, requests: &[(i64, NewExchange)]) -> Result<(), StoreError> {
    requests.iter().try_for_each(|(at, request)| record(connection, *at, request))
}

/// Records a request with the time of its response.
pub(crate) fn record(connection: &Connection, at: i64, new: &NewExchange) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO exchanges (at, endpoint, order_number, http_status, fault, payment_id, took_us, request_head,
                request_body, response_head, response_body)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
        )?
        .execute((
            at,
            new.endpoint.path(),
            &new.order_number,
            new.http_status,
            new.fault.map(FaultName::as_str),
            new.payment_id,
            i64::try_from(new.took.as_micros()).unwrap_or(i64::MAX),
            &new.request_head,
            &new.request_body,
            &new.response_head,
            &new.response_body,
        ))?;
    Ok(())
}

/// All requests so far, in the order of their responses; only those of one payment if one of its numbers is given.
pub(crate) fn all(connection: &Connection, number: Option<&str>) -> Result<Vec<ReceivedRequest>, StoreError> {
    let mut statement = connection.prepare_cached(
        "SELECT endpoint, order_number, http_status, at, fault FROM exchanges
         WHERE ?1 IS NULL OR order_number = ?1
            OR order_number IN (SELECT gateway_number FROM payments WHERE order_number = ?1)
         ORDER BY id",
    )?;
    let requests = statement
        .query_map([number], |row| {
            Ok(ReceivedRequest {
                endpoint: row.get(0)?,
                order_number: row.get(1)?,
                http_status: row.get(2)?,
                at: clock::system_time(row.get(3)?),
                fault: optional_parsed(row, "fault")?,
            })
        })?
        .collect::<Result<_, _>>()?;
    Ok(requests)
}

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

/// The limit of each kind: a payment with thousands of status queries still fits on a page.
const MAX_SHOWN: usize = 200;

/// The requests about a payment: those with one of its numbers, and the one that created it. The latest ones, oldest first.
pub(crate) fn of_payment(connection: &Connection, record: &Record) -> Result<Vec<Exchange>, StoreError> {
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
                fault: optional_parsed(row, "fault")?,
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
        .query_map([id], |row| Ok(StateChange { at: row.get("at")?, status: parsed(row, "status")? }))?
        .collect::<Result<_, _>>()?;
    Ok(changes)
}

/// The number of buffered requests at which they are written at once.
const MAX_BUFFERED: usize = 512;

/// The answered requests that are not in the database yet, each with its time.
#[derive(Default)]
pub(super) struct WriteBehindLog(Mutex<Vec<(i64, NewExchange)>>);

/// The time at which the buffer must be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// A write is already scheduled.
    Scheduled,
    /// Soon: schedule a write.
    Soon,
    /// Now: the buffer is full.
    Now,
}

impl WriteBehindLog {
    pub(super) fn add(&self, at: i64, exchange: NewExchange) -> Flush {
        let mut waiting = self.lock();
        waiting.push((at, exchange));
        match waiting.len() {
            1 => Flush::Soon,
            MAX_BUFFERED.. => Flush::Now,
            _ => Flush::Scheduled,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Takes all, for writing.
    pub(super) fn take(&self) -> Vec<(i64, NewExchange)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(i64, NewExchange)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{settings::Database, store::Store};

    #[test]
    fn old_requests_without_a_payment_are_deleted() {
        let store = Store::open(&Database::Memory).expect("a store");
        let before = "INSERT INTO payments (id, kind, order_number, gateway_number, currency, description,
                confirmation_page, status, otp_attempts_left, created_at)
                VALUES (1, 'mbank', 'A-1', 'G-1', 'KGS', '', 0, 'CREATED', 3, 0);
            INSERT INTO exchanges (id, at, endpoint, order_number, payment_id) VALUES
                (1, 0, 'a stranger''s', NULL, NULL), (2, 0, 'unknown', 'A-2', NULL), (3, 0, 'kept', 'A-1', NULL),
                (4, 0, 'kept', 'G-1', NULL), (5, 0, 'kept', NULL, 1), (1001, 0, 'new', NULL, NULL),
                (100999, 0, 'new', NULL, NULL);";
        let new = NewExchange {
            endpoint: EndpointName::Payment,
            order_number: None,
            http_status: Some(401),
            fault: None,
            payment_id: None,
            took: Duration::ZERO,
            request_head: String::new(),
            request_body: None,
            response_head: String::new(),
            response_body: None,
        };
        let left = store.write(|transaction| {
            transaction.execute_batch(before)?;
            record(transaction, 0, &new)?;
            all(transaction, None)
        });
        let left: Vec<_> = left.expect("requests").into_iter().map(|request| request.endpoint).collect();
        assert_eq!(left, ["kept", "kept", "kept", "new", "new", EndpointName::Payment.path()]);
    }
}
