//! The rate of questions, for all workers: the state of its buckets.

use rusqlite::Connection;

use crate::{
    pace::limit::{Bucket, Heard, Limit},
    storage::error::StorageError,
    values::{Millis, method::Method},
};

/// Nothing where nobody used it yet.
pub(super) fn read(db: &Connection) -> Result<Option<Limit>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT bucket, turn, tokens, rate, filled_at, halved_at, not_before, recovers_at FROM question_limit",
    )?;
    let mut rows = statement.query([])?;
    let (mut limit, mut is_there) = (Limit::full(1, 0), false);
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

/// Writes those buckets that changed.
pub(super) fn write(db: &Connection, before: Option<&Limit>, limit: &Limit) -> Result<(), StorageError> {
    let buckets = |limit: &Limit| std::iter::once((limit.all, limit.turn)).chain(limit.methods.map(|of| (of, 0)));
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

/// How long no questions are asked still about some method's payments, as the gateway asked to wait.
pub(super) fn wait_of(db: &Connection, now: Millis) -> Result<Millis, StorageError> {
    Ok(read(db)?.map_or(0, |limit| limit.longest_stop(now)))
}

/// The gateway has trouble, or answers. Nothing is written where the rate recovers already.
pub(super) fn note(db: &Connection, heard: &[(Method, Heard)], now: Millis) -> Result<(), StorageError> {
    let before = read(db)?;
    let mut limit = before.unwrap_or_else(|| Limit::full(1, now));
    for (method, heard) in heard {
        if !heard.troubles.is_empty() || limit.of(*method).is_unheard(now) {
            limit = limit.noted(*method, heard, now);
        }
    }
    let is_news = before.is_some() || heard.iter().any(|(_, heard)| !heard.troubles.is_empty());
    if is_news && before != Some(limit) {
        write(db, before.as_ref(), &limit)?;
    }
    Ok(())
}
