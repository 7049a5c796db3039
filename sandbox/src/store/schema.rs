//! The tables, and the version they are at (`user_version` in the file).

use rusqlite::{Connection, TransactionBehavior};

/// Step N brings a database from version N to N + 1. A step that was released is never edited.
const STEPS: [&str; 5] = [
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
];

/// The version this sandbox writes.
pub(super) const VERSION: i64 = STEPS.len() as i64;

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The file's version where it is newer than this sandbox.
pub(super) fn newer_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    Ok(Some(version(connection)?).filter(|found| *found > VERSION))
}

/// Takes the missing steps, all or none.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for step in STEPS.iter().skip(done) {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
