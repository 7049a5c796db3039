//! The rate of questions, for all workers of all servers: the bucket's row, which is locked while it is changed. It is changed
//! in transactions of its own, so that whoever stops in the middle of something else stops nobody here.

use tokio_postgres::Row;

use super::{
    books::NOW,
    problem::Problem,
    session::{NOT_ON_DISK, Session, first},
};
use crate::{
    pace::limit::{Bucket, tell_of_stop},
    storage::{book::questions::Heard, error::StorageError},
    values::Millis,
};

/// Locks it: one after another.
const BUCKET: &str =
    "SELECT tokens, rate, filled_at, halved_at, not_before, recovers_at FROM question_limit FOR UPDATE";
/// Who is cut off, or stands still, between two statements keeps others waiting no longer than this.
const BRIEFLY: &str = "SELECT set_config('idle_in_transaction_session_timeout', '1s', TRUE)";

/// What was taken out of the bucket.
pub(super) struct Granted {
    pub(super) questions: u32,
    /// How long everybody waits, where there are none.
    pub(super) wait: Option<Millis>,
    /// The rate waits for the gateway to answer.
    pub(super) is_unheard: bool,
}

/// Takes questions out of the bucket.
pub(super) async fn take(db: &Session, wanted: u32, per_second: u32) -> Result<Granted, Problem> {
    let (before, now) = lock(db).await?;
    let (bucket, granted) = before.take(wanted, per_second, now);
    // Where none was granted, nothing is written: it fills from when it was written last. A clock that was put back is noted.
    if granted > 0 || before.filled_at > now {
        write(db, &bucket);
    }
    let wait = (granted == 0).then(|| bucket.next_at(now) - now);
    Ok(Granted { questions: granted, wait, is_unheard: bucket.is_unheard(now) })
}

/// Puts back what was taken and not used, or takes what was used beyond.
pub(super) async fn correct(db: &Session, unused: i64) -> Result<(), Problem> {
    let (bucket, _) = lock(db).await?;
    write(db, &bucket.corrected(unused));
    Ok(())
}

/// The gateway has trouble, or answers.
pub(super) async fn note(db: &Session, heard: &Heard) -> Result<(), Problem> {
    let (before, now) = lock(db).await?;
    let mut bucket = heard.troubles.iter().fold(before, |bucket, wait| bucket.troubled(*wait, now));
    if heard.is_well {
        bucket = bucket.heard(now);
    }
    tell_of_stop(&before, &bucket, now);
    write(db, &bucket);
    Ok(())
}

async fn lock(db: &Session) -> Result<(Bucket, Millis), Problem> {
    let found = db.together(vec![(NOT_ON_DISK, vec![]), (BRIEFLY, vec![]), (BUCKET, vec![]), (NOW, vec![])]).await?;
    Ok((bucket(found.get(2).map_or(&[], Vec::as_slice))?, first(found.get(3))?))
}

/// The row that the schema made.
fn bucket(rows: &[Row]) -> Result<Bucket, Problem> {
    let row = rows.first().ok_or(StorageError::Damaged { what: "rate of questions" })?;
    Ok(Bucket {
        tokens: row.try_get(0)?,
        rate: row.try_get(1)?,
        filled_at: row.try_get(2)?,
        halved_at: row.try_get(3)?,
        not_before: row.try_get(4)?,
        recovers_at: row.try_get(5)?,
    })
}

/// Writes it with the commit.
fn write(db: &Session, bucket: &Bucket) {
    db.later(
        "UPDATE question_limit
         SET tokens = $1, rate = $2, filled_at = $3, halved_at = $4, not_before = $5, recovers_at = $6",
        vec![
            Box::new(bucket.tokens),
            Box::new(bucket.rate),
            Box::new(bucket.filled_at),
            Box::new(bucket.halved_at),
            Box::new(bucket.not_before),
            Box::new(bucket.recovers_at),
        ],
    );
}
