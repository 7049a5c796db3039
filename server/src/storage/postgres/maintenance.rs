//! Counting for the metrics: only from small indexes.

use tokio_postgres::Row;

use super::{
    aggregates::NOW,
    rows,
    session::{Problem, Query, Session, first},
};
use crate::{
    pace::{ClockChange, bucket::LONGEST_STOP, clock_change, queues::Queue},
    storage::{StorageError, outputs::Statistics},
    values::{Millis, PaymentState},
};

/// The limit of counting open payments.
const MOST_OPEN: i64 = 1_000_000;
/// The limit of the other counts: more detail helps nobody.
const MOST: i64 = 10_000;

const OPEN_PAYMENTS: &str = "SELECT states.state, (SELECT COUNT(*) FROM (
        SELECT 1 FROM payments WHERE payments.state = states.state
            AND state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming', 'mismatch', 'unverifiable') LIMIT $2) AS open)
    FROM unnest($1::text[]) WITH ORDINALITY AS states (state, place) ORDER BY place";
const STUCK_PAYMENTS: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM payments WHERE is_stuck
    AND state IN ('prepared', 'sending', 'unknown', 'awaiting', 'confirming', 'mismatch', 'unverifiable') LIMIT $1) AS stuck";
const DUE_PAYMENTS: &str = "SELECT SUM((SELECT COUNT(*) FROM (SELECT 1 FROM due
        WHERE due.queue = queues.queue AND at <= $1 LIMIT $2) AS one))::bigint,
        MIN((SELECT MIN(at) FROM due WHERE due.queue = queues.queue))
    FROM unnest($3::smallint[]) AS queues (queue)";
const STREAMS_GIVEN_UP: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM streams WHERE is_given_up LIMIT $1) AS given_up";
const REFUSED_EVENTS: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM refused_events LIMIT $1) AS refused";
/// The time since when a stream fails, or is due if it was not tried yet.
const OLDEST_UNDELIVERED: &str = "SELECT LEAST(
        (SELECT MIN(failing_since) FROM streams WHERE failing_since IS NOT NULL AND NOT is_given_up),
        (SELECT MIN(due_at) FROM streams WHERE due_at IS NOT NULL))";
const OLDEST_UNKNOWN: &str = "SELECT MIN(unknown_since) FROM payments WHERE unknown_since IS NOT NULL";
const WAIT: &str = "SELECT GREATEST(LEAST(MAX(not_before) - $1, $2), 0)
    FROM (SELECT not_before FROM question_limit UNION ALL SELECT not_before FROM sending_pauses) AS waits";
/// The tables that are written all the time. Dead rows pile up while a snapshot is open: by a backup, or a forgotten session.
const DEAD_ROWS: &str = "SELECT relname::text, n_dead_tup FROM pg_stat_user_tables
    WHERE relname IN ('checkouts', 'due', 'payments', 'question_limit', 'streams') AND schemaname = current_schema()
    ORDER BY relname";
const BYTES: &str = "SELECT pg_database_size(current_database())";

pub(super) async fn count(db: &Session) -> Result<Statistics, Problem> {
    let now: Millis = first(Some(&db.rows(NOW, &[]).await?))?;
    let states: Vec<&str> = PaymentState::MAY_TAKE_MONEY.iter().map(|state| <&str>::from(*state)).collect();
    let queues: Vec<i16> = Queue::all().map(Queue::number).collect();
    let queries: Vec<Query<'_>> = vec![
        (OPEN_PAYMENTS, vec![&states, &MOST_OPEN]),
        (STUCK_PAYMENTS, vec![&MOST]),
        (DUE_PAYMENTS, vec![&now, &MOST, &queues]),
        (STREAMS_GIVEN_UP, vec![&MOST]),
        (OLDEST_UNDELIVERED, vec![]),
        (BYTES, vec![]),
        (OLDEST_UNKNOWN, vec![]),
        (WAIT, vec![&now, &LONGEST_STOP]),
        (DEAD_ROWS, vec![]),
        (REFUSED_EVENTS, vec![&MOST]),
    ];
    let found = db.together(queries).await?;
    let number = |at: usize| first::<i64>(found.get(at)).map(i64::unsigned_abs);
    let age = |since: Option<Millis>| since.map_or(0, |since| (now - since).max(0));
    let oldest_due: Option<Millis> = found[2].first().map(|row| row.try_get(1)).transpose()?.flatten();
    Ok(Statistics {
        open_payments: found[0].iter().map(open_payments).collect::<Result<_, _>>()?,
        stuck_payments: number(1)?,
        due_payments: number(2)?,
        oldest_due_ms: age(oldest_due),
        streams_given_up: number(3)?,
        refused_events: number(9)?,
        oldest_undelivered_ms: age(first(found.get(4))?),
        database_bytes: number(5)?,
        oldest_unknown_ms: age(first(found.get(6))?),
        gateway_wait_ms: first(found.get(7))?,
        dead_rows: found[8].iter().map(dead_rows).collect::<Result<_, _>>()?,
    })
}

fn dead_rows(row: &Row) -> Result<(String, u64), Problem> {
    Ok((row.try_get(0)?, rows::count(row, 1)?))
}

fn open_payments(row: &Row) -> Result<(PaymentState, u64), Problem> {
    Ok((rows::id(row, "state")?, rows::count(row, 1)?))
}

// Pruning (retention): data that only serves repeated requests is deleted some time after the end. Data about money is stored
// forever: checkouts, payments, events and taken numbers, because each number pays once.

/// The idempotency keys and exchanges of ended checkouts, for which nothing can be begun any more.
const KEYS: &str = "WITH ended AS MATERIALIZED (
        SELECT id FROM checkouts WHERE keys_kept_since <= $1 ORDER BY keys_kept_since LIMIT $2
        FOR NO KEY UPDATE SKIP LOCKED
    ), keys AS (
        DELETE FROM idempotency USING ended WHERE idempotency.checkout_id = ended.id
    ), said AS (
        DELETE FROM exchanges USING ended, payments
        WHERE payments.checkout_id = ended.id AND exchanges.payment_id = payments.id
    )
    UPDATE checkouts SET keys_kept_since = NULL FROM ended WHERE checkouts.id = ended.id";
/// The hashes of callbacks: after this, a repeated one is a hint again.
const CALLBACKS: &str = "DELETE FROM callbacks WHERE (payment_id, same) IN
    (SELECT payment_id, same FROM callbacks WHERE at <= $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)";
/// The hashes of expired client tokens and staff sessions.
const TOKENS: &str = "DELETE FROM tokens WHERE hash IN
    (SELECT hash FROM tokens WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";
const SESSIONS: &str = "DELETE FROM staff_sessions WHERE hash IN
    (SELECT hash FROM staff_sessions WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// Removes data from before a time, and ended sessions, at most `most` of each kind. Returns the
/// largest number found of one kind.
pub(super) async fn prune(db: &Session, now: Millis, before: Millis, most: u32) -> Result<usize, Problem> {
    let (mut found, most) = (0, i64::from(most));
    for (sql, until) in [(KEYS, before), (CALLBACKS, before), (TOKENS, before), (SESSIONS, now)] {
        found = found.max(db.execute(sql, &[&until, &most]).await?);
    }
    Ok(usize::try_from(found).unwrap_or(usize::MAX))
}

// Moves stored times if the database's clock was set back: `crate::pace::clock`.

/// Moves future times back by the first parameter, and caps times in the past at the second one, the present.
const MOVE_BACK: [&str; 3] = [
    "UPDATE due SET at = CASE WHEN at > $2 THEN at - $1 ELSE at END, since = LEAST(since, $2) WHERE at > $2 OR since > $2",
    "UPDATE streams SET due_at = CASE WHEN due_at > $2 THEN due_at - $1 ELSE due_at END,
        failing_since = LEAST(failing_since, $2) WHERE due_at > $2 OR failing_since > $2",
    "UPDATE payments SET until = until - $1 WHERE state IN ('prepared', 'sending') AND until > $2",
];

/// Runs in sweeps, one server at a time.
pub(super) async fn compensate(db: &Session, now: Millis) -> Result<(), Problem> {
    let seen: Option<Millis> = db.row("SELECT seen_at FROM clock", &[]).await?.map(|row| row.try_get(0)).transpose()?;
    match clock_change(seen.unwrap_or_default(), now) {
        ClockChange::Small => return Ok(()),
        ClockChange::Forward => {}
        ClockChange::SetBack(by) => {
            tracing::warn!(target: "kassa_server", back_ms = by, "the database clock was set back: stored times are moved back by as much");
            for sql in MOVE_BACK {
                db.later(sql, vec![Box::new(by), Box::new(now)]);
            }
        }
    }
    db.later(
        "INSERT INTO clock (single, seen_at) VALUES (1, $1) ON CONFLICT (single) DO UPDATE SET seen_at = excluded.seen_at",
        vec![Box::new(now)],
    );
    Ok(())
}

// Whether the database accepts writes.

/// A message in the log (WAL) that nobody reads: its commit waits for the disk. It changes no row, so that concurrent servers do
/// not wait for each other, and leave no dead rows. A standby refuses it.
const WRITE: &str = "SELECT current_setting('transaction_read_only') = 'on',
    pg_logical_emit_message(TRUE, 'kassa', 'written'::text)::text";

pub(super) async fn check_writable(db: &Session) -> Result<(), Problem> {
    let row = db.row(WRITE, &[]).await?.ok_or_else(|| StorageError::failed("a row is missing"))?;
    let is_read_only: bool = row.try_get(0)?;
    if is_read_only { Err(StorageError::failed("it takes no writes, as it is read-only").into()) } else { Ok(()) }
}
