//! Migrations: what brings the tables to the version of this sandbox. The version of a file is its `user_version`.

use rusqlite::{Connection, TransactionBehavior};

/// Migration N brings a database from version N to N + 1. One that was released is never edited.
const MIGRATIONS: [&str; 1] = [include_str!("migration_1.sql")];

/// The version this sandbox writes.
pub(super) const VERSION: i64 = MIGRATIONS.len() as i64;

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The file's version where it is newer than this sandbox.
pub(super) fn newer_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    Ok(Some(version(connection)?).filter(|found| *found > VERSION))
}

/// Runs the missing migrations, all or none.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()
}
