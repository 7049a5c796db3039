//! Counting for the metrics: from indexes alone, each of which holds little more than what is counted.

use tokio_postgres::Row;

use super::{
    books::NOW,
    problem::Problem,
    rows,
    session::{Query, Session, first},
};
use crate::{
    pace::{limit::LONGEST_STOP, queues::Queue},
    storage::outputs::Statistics,
    values::{Millis, states::PaymentState},
};

/// So far open payments are counted.
const MOST_OPEN: i64 = 1_000_000;
/// That so many are late, stuck or given up is all that anybody needs to know.
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
/// Since when one fails, or since when it is due, where it was not tried yet.
const OLDEST_UNDELIVERED: &str = "SELECT LEAST(
        (SELECT MIN(failing_since) FROM streams WHERE failing_since IS NOT NULL AND NOT is_given_up),
        (SELECT MIN(due_at) FROM streams WHERE due_at IS NOT NULL))";
const OLDEST_UNKNOWN: &str = "SELECT MIN(unknown_since) FROM payments WHERE unknown_since IS NOT NULL";
const WAIT: &str = "SELECT GREATEST(LEAST(MAX(not_before) - $1, $2), 0)
    FROM (SELECT not_before FROM question_limit UNION ALL SELECT not_before FROM sending_pauses) AS waits";
/// The tables that are written all the time. They pile up while somebody holds a snapshot: a backup, or a session that was forgotten.
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
