//! Counting for the metrics: from indexes alone, each of which holds little more than what is counted.

use rusqlite::{Connection, ToSql, types::FromSql};

use super::{connection::now, limit, pauses};
use crate::{
    pace::queues::Queue,
    storage::{error::StorageError, outputs::Statistics},
    values::{Millis, states::PaymentState},
};

/// So far open payments are counted: a million take 80 ms of one thread that reads.
const MOST_OPEN: u32 = 1_000_000;
/// That so many are late, stuck or given up is all that anybody needs to know.
const MOST: u32 = 10_000;

/// Those that may take money, word for word as the index has it: only then is the index used.
macro_rules! may_take_money {
    () => {
        "(state = 'prepared' OR state = 'sending' OR state = 'unknown' OR state = 'awaiting'
        OR state = 'confirming' OR state = 'mismatch' OR state = 'unverifiable')"
    };
}
const OPEN_PAYMENTS: &str =
    concat!("SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE ", may_take_money!(), " AND state = ?1 LIMIT ?2)");
const STUCK_PAYMENTS: &str =
    concat!("SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE is_stuck = 1 AND ", may_take_money!(), " LIMIT ?1)");
const DUE_PAYMENTS: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM due WHERE queue = ?1 AND at <= ?2 LIMIT ?3)";
const OLDEST_DUE: &str = "SELECT MIN(at) FROM due WHERE queue = ?1";
const STREAMS_GIVEN_UP: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM streams WHERE is_given_up = 1 LIMIT ?1)";
const REFUSED_EVENTS: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM refused_events LIMIT ?1)";
const OLDEST_FAILING: &str = "SELECT MIN(failing_since) FROM streams
    WHERE failing_since IS NOT NULL AND is_given_up = 0";
const OLDEST_WAITING: &str = "SELECT MIN(due_at) FROM streams WHERE due_at IS NOT NULL";
const OLDEST_UNKNOWN: &str = "SELECT MIN(unknown_since) FROM payments WHERE unknown_since IS NOT NULL";
const BYTES: &str = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()";

pub(super) fn count(db: &Connection) -> Result<Statistics, StorageError> {
    let now = now(db)?;
    let age = |since: Option<Millis>| since.map_or(0, |since| (now - since).max(0));
    Ok(Statistics {
        open_payments: open_payments(db)?,
        stuck_payments: number(db, STUCK_PAYMENTS, &[&MOST])?,
        due_payments: due_payments(db, now)?,
        oldest_due_ms: age(oldest_due(db)?),
        streams_given_up: number(db, STREAMS_GIVEN_UP, &[&MOST])?,
        refused_events: number(db, REFUSED_EVENTS, &[&MOST])?,
        oldest_undelivered_ms: age(oldest_undelivered(db)?),
        database_bytes: number(db, BYTES, &[])?,
        oldest_unknown_ms: age(one(db, OLDEST_UNKNOWN, &[])?),
        gateway_wait_ms: limit::wait_of(db, now)?.max(pauses::read(db)?.longest_wait(now)),
        dead_rows: Vec::new(),
    })
}

fn open_payments(db: &Connection) -> Result<Vec<(PaymentState, u64)>, StorageError> {
    let of = |state| Ok((state, number(db, OPEN_PAYMENTS, &[&<&str>::from(state), &MOST_OPEN])?));
    PaymentState::MAY_TAKE_MONEY.into_iter().map(of).collect()
}

fn due_payments(db: &Connection, now: Millis) -> Result<u64, StorageError> {
    Queue::all().map(|queue| number(db, DUE_PAYMENTS, &[&queue.number(), &now, &MOST])).sum()
}

fn oldest_due(db: &Connection) -> Result<Option<Millis>, StorageError> {
    let of = |queue: Queue| one(db, OLDEST_DUE, &[&queue.number()]);
    let firsts: Vec<Option<Millis>> = Queue::all().map(of).collect::<Result<_, _>>()?;
    Ok(firsts.into_iter().flatten().min())
}

/// Since when one fails, or since when it is due, where it was not tried yet.
fn oldest_undelivered(db: &Connection) -> Result<Option<Millis>, StorageError> {
    let moments: [Option<Millis>; 2] = [one(db, OLDEST_FAILING, &[])?, one(db, OLDEST_WAITING, &[])?];
    Ok(moments.into_iter().flatten().min())
}

fn number(db: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<u64, StorageError> {
    one::<i64>(db, sql, values).map(i64::unsigned_abs)
}

fn one<T: FromSql>(db: &Connection, sql: &str, values: &[&dyn ToSql]) -> Result<T, StorageError> {
    Ok(db.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::storage::sqlite::connection::open_in_memory;

    /// At a million rows, reading a table would take a hundred times as long.
    #[test]
    fn indexes_alone_are_read() {
        let db = open_in_memory(Arc::new(|| 0)).unwrap();
        for sql in [
            OPEN_PAYMENTS,
            STUCK_PAYMENTS,
            DUE_PAYMENTS,
            OLDEST_DUE,
            OLDEST_UNKNOWN,
            STREAMS_GIVEN_UP,
            REFUSED_EVENTS,
            OLDEST_FAILING,
            OLDEST_WAITING,
        ] {
            let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<Vec<String>, _>>().unwrap();
            let tables = ["payments", "due", "streams", "refused_events"];
            let reads = |step: &&String| tables.iter().any(|table| step.contains(table));
            assert!(steps.iter().any(|step| reads(&step)), "{steps:?}");
            assert!(steps.iter().filter(reads).all(|step| step.contains("USING COVERING INDEX")), "{sql}: {steps:?}");
        }
    }
}
