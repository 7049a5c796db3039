//! The poll rate of all workers of all servers: the rows of its buckets, which are locked while they change. They change in
//! separate transactions, so that a server that stops in other work blocks nobody here.

use tokio_postgres::Row;

use super::{
    aggregates::NOW,
    session::{NOT_ON_DISK, Param, Problem, Session, first},
};
use crate::{
    pace::{
        bucket::Bucket,
        queues::{METHODS, QUEUES, Slots},
        rate_limit::{GatewayFeedback, PollLimit},
    },
    storage::StorageError,
    values::{Method, Millis},
};

/// Locks the buckets, one after another.
const BUCKETS: &str = "SELECT bucket, turn, tokens, rate, filled_at, halved_at, not_before, recovers_at
    FROM question_limit ORDER BY bucket FOR UPDATE";
const WRITE: &str =
    "UPDATE question_limit SET turn = n.turn, tokens = n.tokens, rate = n.rate, filled_at = n.filled_at,
        halved_at = n.halved_at, not_before = n.not_before, recovers_at = n.recovers_at
    FROM unnest($1::smallint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::bigint[]) AS n (bucket, turn, tokens, rate, filled_at, halved_at, not_before, recovers_at)
    WHERE question_limit.bucket = n.bucket";
/// The longest time that a server which stalls between two statements can block others.
const BRIEFLY: &str = "SELECT set_config('idle_in_transaction_session_timeout', '1s', TRUE)";

/// The polls taken out of the buckets.
pub(super) struct Granted {
    /// The number of polls of each queue.
    pub(super) polls: [u32; QUEUES],
    pub(super) limit: PollLimit,
    pub(super) now: Millis,
}

/// The wanted polls.
#[derive(Clone, Copy)]
pub(super) struct PollDemand {
    pub(super) due: [u32; QUEUES],
    pub(super) places: Slots,
    pub(super) per_second: u32,
}

/// Takes requests out of the buckets.
pub(super) async fn take(db: &Session, wanted: &PollDemand) -> Result<Granted, Problem> {
    let (before, now) = lock(db).await?;
    let (limit, polls) = before.grant(&wanted.due, wanted.places, wanted.per_second, now);
    // If nothing was granted, nothing is written: the buckets fill from the last write. A clock that was set back is recorded.
    if polls.iter().any(|count| *count > 0) || before.is_ahead(now) {
        write(db, &before, &limit);
    }
    Ok(Granted { polls, limit, now })
}

/// Puts back unused requests, or takes the excess.
pub(super) async fn correct(db: &Session, unused: &[i64; METHODS], granted: &PollLimit) -> Result<(), Problem> {
    let (before, _) = lock(db).await?;
    write(db, &before, &before.corrected(unused, granted));
    Ok(())
}

/// Records that the gateway fails, or answers.
pub(super) async fn note(db: &Session, heard: &[(Method, GatewayFeedback)]) -> Result<(), Problem> {
    let (before, now) = lock(db).await?;
    let limit = heard.iter().fold(before, |limit, (method, heard)| limit.with_feedback(*method, heard, now));
    write(db, &before, &limit);
    Ok(())
}

async fn lock(db: &Session) -> Result<(PollLimit, Millis), Problem> {
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (BRIEFLY, vec![]), (BUCKETS, vec![]), (NOW, vec![])]).await?;
    Ok((limit(found.get(2).map_or(&[], Vec::as_slice))?, first(found.get(3))?))
}

/// The rows that the schema made.
fn limit(rows: &[Row]) -> Result<PollLimit, Problem> {
    if rows.len() != METHODS + 1 {
        return Err(StorageError::Damaged { what: "poll rate" }.into());
    }
    let mut limit = PollLimit::full(1, 0);
    for row in rows {
        let bucket = bucket(row)?;
        match usize::try_from(row.try_get::<_, i16>(0)? - 1) {
            Err(_) => (limit.all, limit.turn) = (bucket, row.try_get(1)?),
            Ok(method) => limit.methods.get_mut(method).into_iter().for_each(|of| *of = bucket),
        }
    }
    Ok(limit)
}

fn bucket(row: &Row) -> Result<Bucket, Problem> {
    Ok(Bucket {
        tokens: row.try_get(2)?,
        rate: row.try_get(3)?,
        filled_at: row.try_get(4)?,
        halved_at: row.try_get(5)?,
        not_before: row.try_get(6)?,
        recovers_at: row.try_get(7)?,
    })
}

/// Writes the changed buckets with the commit.
fn write(db: &Session, before: &PollLimit, limit: &PollLimit) {
    let buckets = |limit: &PollLimit| {
        (0_i16..).zip(std::iter::once((limit.all, limit.turn)).chain(limit.methods.map(|of| (of, 0))))
    };
    let changed: Vec<_> =
        buckets(before).zip(buckets(limit)).filter(|(old, new)| old != new).map(|(_, new)| new).collect();
    if changed.is_empty() {
        return;
    }
    let column = |of: fn(&Bucket) -> Millis| -> Param {
        Box::new(changed.iter().map(|(_, (bucket, _))| of(bucket)).collect::<Vec<_>>())
    };
    db.later(
        WRITE,
        vec![
            Box::new(changed.iter().map(|(number, _)| *number).collect::<Vec<_>>()),
            Box::new(changed.iter().map(|(_, (_, turn))| *turn).collect::<Vec<_>>()),
            column(|bucket| bucket.tokens),
            column(|bucket| bucket.rate),
            column(|bucket| bucket.filled_at),
            column(|bucket| bucket.halved_at),
            column(|bucket| bucket.not_before),
            column(|bucket| bucket.recovers_at),
        ],
    );
}
