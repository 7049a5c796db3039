//! When payments are polled and sent: due polls, the poll rate of all workers, and the pauses of methods.

use rusqlite::Connection;

use super::rows::read;
use crate::{
    pace::{
        LEAST_DISTANCE,
        bucket::Bucket,
        rate_limit::{GatewayFeedback, PollLimit},
    },
    storage::{
        StorageError,
        aggregate::changes::{DueChange, Pauses},
    },
    values::{Method, Millis, PaymentId},
};

// Due polls: a narrow table, separate from the payments.

/// Changes when a payment is polled.
pub(super) fn apply_due_change(db: &Connection, change: &DueChange) -> Result<(), StorageError> {
    match change {
        DueChange::Put { payment, at, queue, since } => {
            // The last query may be in the future, if the clock was set back since.
            let sql = "INSERT INTO due (payment_id, at, queue, since) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (payment_id) DO UPDATE SET
                    at = MAX(MIN(at, excluded.at), CASE WHEN queried_at <= excluded.at THEN queried_at + ?5 ELSE 0 END),
                    queue = MIN(queue, excluded.queue), since = excluded.since";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, queue.number(), since, LEAST_DISTANCE))?;
        }
        DueChange::PutUnlessThere { payment, at, queue, since } => {
            let sql = "INSERT OR IGNORE INTO due (payment_id, at, queue, since) VALUES (?1, ?2, ?3, ?4)";
            db.prepare_cached(sql)?.execute((payment.as_str(), at, queue.number(), since))?;
        }
        DueChange::PollAgain { payment, leased_until, at, queue, since } => {
            let sql =
                "UPDATE due SET at = ?3, queue = ?4, since = COALESCE(?5, since) WHERE payment_id = ?1 AND at = ?2";
            db.prepare_cached(sql)?.execute((payment.as_str(), leased_until, at, queue.number(), since))?;
        }
        DueChange::StopPolling { payment, leased_until } => {
            let sql = "DELETE FROM due WHERE payment_id = ?1 AND at = ?2";
            db.prepare_cached(sql)?.execute((payment.as_str(), leased_until))?;
        }
        DueChange::Forget { payment } => forget_due(db, payment)?,
    }
    Ok(())
}

/// Ends polling, despite any hints.
pub(super) fn forget_due(db: &Connection, payment: &PaymentId) -> Result<(), StorageError> {
    db.prepare_cached("DELETE FROM due WHERE payment_id = ?1")?.execute([payment.as_str()])?;
    Ok(())
}

// The poll rate of all workers: the state of its buckets.

/// `None` if it was not used yet.
pub(super) fn read_limit(db: &Connection) -> Result<Option<PollLimit>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT bucket, turn, tokens, rate, filled_at, halved_at, not_before, recovers_at FROM question_limit",
    )?;
    let mut rows = statement.query([])?;
    let (mut limit, mut is_there) = (PollLimit::full(1, 0), false);
    while let Some(row) = rows.next()? {
        is_there = true;
        let bucket = Bucket {
            tokens: row.get(2)?,
            rate: row.get(3)?,
            filled_at: row.get(4)?,
            halved_at: row.get(5)?,
            not_before: row.get(6)?,
            recovers_at: row.get(7)?,
        };
        match usize::try_from(row.get::<_, i64>(0)? - 1) {
            Err(_) => (limit.all, limit.turn) = (bucket, row.get(1)?),
            Ok(method) => limit.methods.get_mut(method).into_iter().for_each(|of| *of = bucket),
        }
    }
    Ok(is_there.then_some(limit))
}

/// Writes the changed buckets.
pub(super) fn write_limit(db: &Connection, before: Option<&PollLimit>, limit: &PollLimit) -> Result<(), StorageError> {
    let buckets = |limit: &PollLimit| std::iter::once((limit.all, limit.turn)).chain(limit.methods.map(|of| (of, 0)));
    let mut known = before.into_iter().flat_map(buckets);
    for (number, (bucket, turn)) in (0_i64..).zip(buckets(limit)) {
        if known.next() == Some((bucket, turn)) {
            continue;
        }
        db.prepare_cached(
            "INSERT INTO question_limit (bucket, turn, tokens, rate, filled_at, halved_at, not_before, recovers_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
             ON CONFLICT (bucket) DO UPDATE SET turn = excluded.turn, tokens = excluded.tokens, rate = excluded.rate,
                filled_at = excluded.filled_at, halved_at = excluded.halved_at, not_before = excluded.not_before,
                recovers_at = excluded.recovers_at",
        )?
        .execute((
            number,
            turn,
            bucket.tokens,
            bucket.rate,
            bucket.filled_at,
            bucket.halved_at,
            bucket.not_before,
            bucket.recovers_at,
        ))?;
    }
    Ok(())
}

/// The rest of the longest pause of polling that the gateway's `Retry-After` caused.
pub(super) fn gateway_wait(db: &Connection, now: Millis) -> Result<Millis, StorageError> {
    Ok(read_limit(db)?.map_or(0, |limit| limit.longest_stop(now)))
}

/// Records that the gateway fails, or answers. Nothing is written if the rate is already recovering.
pub(super) fn record_feedback(
    db: &Connection,
    heard: &[(Method, GatewayFeedback)],
    now: Millis,
) -> Result<(), StorageError> {
    let before = read_limit(db)?;
    let mut limit = before.unwrap_or_else(|| PollLimit::full(1, now));
    for (method, heard) in heard {
        if !heard.overloads.is_empty() || limit.of(*method).is_unheard(now) {
            limit = limit.with_feedback(*method, heard, now);
        }
    }
    let is_news = before.is_some() || heard.iter().any(|(_, heard)| !heard.overloads.is_empty());
    if is_news && before != Some(limit) {
        write_limit(db, before.as_ref(), &limit)?;
    }
    Ok(())
}

// The pauses of sending by method, as the gateway's `Retry-After` caused them.

pub(super) fn read_pauses(db: &Connection) -> Result<Pauses, StorageError> {
    let mut statement = db.prepare_cached("SELECT method, not_before FROM sending_pauses")?;
    let rows = statement.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, Millis>(1)?)))?;
    let known = rows.map(|row| row.map_err(StorageError::from).and_then(|(name, at)| Ok((read(&name, "method")?, at))));
    Ok(Pauses::known(known.collect::<Result<_, _>>()?))
}

pub(super) fn write_pauses(db: &Connection, pauses: &Pauses) -> Result<(), StorageError> {
    for (method, until) in pauses.changed() {
        let method = <&str>::from(method);
        match until {
            Some(until) => db
                .prepare_cached(
                    "INSERT INTO sending_pauses (method, not_before) VALUES (?1, ?2)
                     ON CONFLICT (method) DO UPDATE SET not_before = excluded.not_before",
                )?
                .execute((method, until))?,
            None => db.prepare_cached("DELETE FROM sending_pauses WHERE method = ?1")?.execute([method])?,
        };
    }
    Ok(())
}
