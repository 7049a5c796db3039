//! The rate of questions, for all workers of all servers: the bucket's row, which is locked while it is changed.

use tokio_postgres::Row;

use super::{problem::Problem, session::Session};
use crate::{pace::limit::Bucket, storage::book::changes::Changes, storage::error::StorageError};

/// Locks it: one after another.
pub(super) const BUCKET: &str = "SELECT tokens, rate, filled_at, halved_at, not_before FROM question_limit FOR UPDATE";

/// The row that the schema made.
pub(super) fn bucket(rows: &[Row]) -> Result<Bucket, Problem> {
    let row = rows.first().ok_or(StorageError::Damaged { what: "rate of questions" })?;
    Ok(Bucket {
        tokens: row.try_get(0)?,
        rate: row.try_get(1)?,
        filled_at: row.try_get(2)?,
        halved_at: row.try_get(3)?,
        not_before: row.try_get(4)?,
    })
}

/// Writes it with the commit.
pub(super) fn write(db: &Session, bucket: &Bucket) {
    db.later(
        "UPDATE question_limit SET tokens = $1, rate = $2, filled_at = $3, halved_at = $4, not_before = $5",
        vec![
            Box::new(bucket.tokens),
            Box::new(bucket.rate),
            Box::new(bucket.filled_at),
            Box::new(bucket.halved_at),
            Box::new(bucket.not_before),
        ],
    );
}

/// The gateway has trouble. Last in a transaction, as everybody waits for this row.
pub(super) async fn note_troubles(db: &Session, changes: &Changes) -> Result<(), Problem> {
    if changes.troubles.is_empty() {
        return Ok(());
    }
    db.flush().await?;
    let bucket = bucket(&db.rows(BUCKET, &[]).await?)?;
    let troubled = changes.troubles.iter().fold(bucket, |bucket, wait| bucket.troubled(*wait, changes.now));
    write(db, &troubled);
    Ok(())
}
