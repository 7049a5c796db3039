//! The rate of questions, for all workers: the bucket's state.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};

use crate::{
    pace::limit::{Bucket, LONGEST_STOP, tell_of_stop},
    storage::error::StorageError,
    values::Millis,
};

fn read(db: &Connection) -> Result<Option<Bucket>, StorageError> {
    let mut statement = db.prepare_cached(
        "SELECT tokens, rate, filled_at, halved_at, not_before, recovers_at FROM question_limit WHERE only = 1",
    )?;
    let bucket = statement.query_row([], |row| {
        Ok(Bucket {
            tokens: row.get(0)?,
            rate: row.get(1)?,
            filled_at: row.get(2)?,
            halved_at: row.get(3)?,
            not_before: row.get(4)?,
            recovers_at: row.get(5)?,
        })
    });
    Ok(bucket.optional()?)
}

fn write(db: &Connection, bucket: &Bucket) -> Result<(), StorageError> {
    db.prepare_cached(
        "INSERT INTO question_limit (only, tokens, rate, filled_at, halved_at, not_before, recovers_at)
         VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6)
         ON CONFLICT (only) DO UPDATE SET tokens = excluded.tokens, rate = excluded.rate,
            filled_at = excluded.filled_at, halved_at = excluded.halved_at, not_before = excluded.not_before,
            recovers_at = excluded.recovers_at",
    )?
    .execute((
        bucket.tokens,
        bucket.rate,
        bucket.filled_at,
        bucket.halved_at,
        bucket.not_before,
        bucket.recovers_at,
    ))?;
    Ok(())
}

/// How long no questions are asked still, as the gateway asked to wait.
pub(super) fn wait_of(db: &Connection, now: Millis) -> Result<Millis, StorageError> {
    let not_before = read(db)?.map_or(0, |bucket| bucket.not_before);
    Ok((not_before - now).clamp(0, LONGEST_STOP))
}

/// So many questions may be asked now, by work that takes some of them and says how many it used. Where it used none,
/// nothing is written, so that looking costs the disk nothing: the bucket fills from when it was written last.
pub(super) fn within(
    db: &Connection,
    wanted: u32,
    per_second: u32,
    now: Millis,
    work: impl FnOnce(u32) -> Result<u32, StorageError>,
) -> Result<Option<Millis>, StorageError> {
    let before = read(db)?;
    let (bucket, granted) = before.unwrap_or_else(|| Bucket::full(per_second, now)).take(wanted, per_second, now);
    let used = if granted > 0 { work(granted)? } else { 0 };
    let bucket = bucket.corrected(i64::from(granted) - i64::from(used));
    // A clock that was put back is noted.
    let may_stay = used == 0 && before.is_some_and(|before| before.filled_at <= now);
    if !may_stay {
        write(db, &bucket)?;
    }
    Ok((granted == 0).then(|| bucket.next_at(now) - now))
}

pub(super) fn trouble(db: &Connection, retry_after: Option<Duration>, now: Millis) -> Result<(), StorageError> {
    let before = read(db)?.unwrap_or_else(|| Bucket::full(1, now));
    let bucket = before.troubled(retry_after, now);
    tell_of_stop(&before, &bucket, now);
    write(db, &bucket)
}

/// Nothing is written where the rate recovers already.
pub(super) fn heard(db: &Connection, now: Millis) -> Result<(), StorageError> {
    match read(db)? {
        Some(before) if before.is_unheard(now) => {
            let bucket = before.heard(now);
            tell_of_stop(&before, &bucket, now);
            write(db, &bucket)
        }
        _ => Ok(()),
    }
}
