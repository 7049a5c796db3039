//! Statistics for the metrics, pruning, compensation of clocks, and the check whether the file accepts writes.
//!
//! Statistics read only small indexes.

use rusqlite::{Connection, OptionalExtension, ToSql, types::FromSql};

use super::{
    connection::{now, version},
    rows, schedule,
};
use crate::{
    pace::{ClockChange, clock_change, queues::Queue},
    storage::{StorageError, outputs::Statistics},
    values::{Millis, PaymentState},
};

/// The limit of counting open payments: a million take 80 ms of a reading thread.
const MOST_OPEN: u32 = 1_000_000;
/// The limit of the other counts: more detail helps nobody.
const MOST: u32 = 10_000;

/// Payments that may take money. The condition repeats that of the index exactly: only then is the index used.
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
        gateway_wait_ms: schedule::gateway_wait(db, now)?.max(schedule::read_pauses(db)?.longest_wait(now)),
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

/// The time since when a stream fails, or is due if it was not tried yet.
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

// Pruning (retention): data that only serves repeated requests is deleted some time after the end. Data about money is stored
// forever: checkouts, payments, events and taken numbers, because each number pays once.

/// Removes data from before a time, and ended sessions, at most `most` of each kind. Returns the
/// largest number found of one kind.
pub(super) fn prune(db: &Connection, now: Millis, before: Millis, most: u32) -> Result<usize, StorageError> {
    let found = [
        prune_keys(db, before, most)?,
        prune_callbacks(db, before, most)?,
        prune_hashes(db, "tokens", before, most)?,
        prune_hashes(db, "staff_sessions", now, most)?,
    ];
    Ok(found.into_iter().max().unwrap_or_default())
}

/// The idempotency keys and exchanges of ended checkouts, for which nothing can be begun any more.
fn prune_keys(db: &Connection, before: Millis, most: u32) -> Result<usize, StorageError> {
    let mut statement =
        db.prepare_cached("SELECT id FROM checkouts WHERE keys_kept_since <= ?1 ORDER BY keys_kept_since LIMIT ?2")?;
    let ids = statement.query_map((before, most), |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    for id in &ids {
        db.prepare_cached("DELETE FROM idempotency WHERE checkout_id = ?1")?.execute([id])?;
        rows::forget(db, id)?;
        db.prepare_cached("UPDATE checkouts SET keys_kept_since = NULL WHERE id = ?1")?.execute([id])?;
    }
    Ok(ids.len())
}

/// The hashes of callbacks: after this, a repeated one is a hint again.
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

/// The hashes of expired client tokens or staff sessions.
fn prune_hashes(db: &Connection, table: &str, before: Millis, most: u32) -> Result<usize, StorageError> {
    let sql = format!("SELECT hash FROM {table} WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2");
    let mut statement = db.prepare_cached(&sql)?;
    let hashes = statement.query_map((before, most), |row| row.get(0))?.collect::<Result<Vec<Vec<u8>>, _>>()?;
    for hash in &hashes {
        db.prepare_cached(&format!("DELETE FROM {table} WHERE hash = ?1"))?.execute([hash])?;
    }
    Ok(hashes.len())
}

// Moves stored times if the clock was set back: `crate::pace::clock`.

/// Moves future times back by the first parameter, and caps times in the past at the second one, the present.
const MOVE_BACK: [&str; 3] = [
    "UPDATE due SET at = CASE WHEN at > ?2 THEN at - ?1 ELSE at END, since = MIN(since, ?2) WHERE at > ?2 OR since > ?2",
    "UPDATE streams SET due_at = CASE WHEN due_at > ?2 THEN due_at - ?1 ELSE due_at END,
        failing_since = MIN(failing_since, ?2) WHERE due_at > ?2 OR failing_since > ?2",
    "UPDATE payments SET until = until - ?1 WHERE state IN ('prepared', 'sending') AND until > ?2",
];

pub(super) fn compensate(db: &Connection, now: Millis) -> Result<(), StorageError> {
    let mut statement = db.prepare_cached("SELECT seen_at FROM clock")?;
    let seen: Option<Millis> = statement.query_row([], |row| row.get(0)).optional()?;
    match clock_change(seen.unwrap_or_default(), now) {
        ClockChange::Small => return Ok(()),
        ClockChange::Forward => {}
        ClockChange::SetBack(by) => {
            tracing::warn!(target: "kassa_server", back_ms = by, "the database clock was set back: stored times are moved back by as much");
            for sql in MOVE_BACK {
                db.prepare_cached(sql)?.execute((by, now))?;
            }
        }
    }
    let note =
        "INSERT INTO clock (only, seen_at) VALUES (1, ?1) ON CONFLICT (only) DO UPDATE SET seen_at = excluded.seen_at";
    db.prepare_cached(note)?.execute([now])?;
    Ok(())
}

// Whether the file accepts writes.

/// Writes a page without changing it. SQLite skips an update that changes nothing, but it performs this write.
pub(super) fn check_writable(db: &Connection) -> Result<(), StorageError> {
    // The version read in this transaction: a newer server may have migrated the file.
    Ok(db.pragma_update(None, "user_version", version(db)?)?)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::storage::sqlite::connection::open_in_memory;

    /// At a million rows, reading a table would take a hundred times as long.
    #[test]
    fn sqlite_statistics_queries_use_indexes_only() {
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

#[cfg(test)]
mod writable_tests {
    use super::{
        super::connection::{VERSION, open_writer, real_clock},
        *,
    };

    #[test]
    fn sqlite_writable_check_writes_to_disk() {
        let folder = tempfile::tempdir().unwrap();
        let db = open_writer(&folder.path().join("kassa.db"), real_clock()).unwrap();
        let length = || std::fs::metadata(folder.path().join("kassa.db-wal")).unwrap().len();
        let before = length();
        for _ in 0..2 {
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            check_writable(&db).unwrap();
            db.execute_batch("COMMIT").unwrap();
        }
        assert!(length() >= before + 2 * 4096, "{before} and {}", length());
        assert_eq!(version(&db), Ok(VERSION));
    }
}
