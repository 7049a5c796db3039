//! Connections to the file: their settings, the database's clock, and migrations.

use std::{path::Path, sync::Arc, time::Duration};

use rusqlite::{Connection, TransactionBehavior, config::DbConfig, functions::FunctionFlags};

use crate::{
    storage::error::StorageError,
    values::{Millis, millis},
};

/// Migration N brings a database from version N to N + 1. One that was released is never edited.
const MIGRATIONS: [&str; 1] = [include_str!("migration_1.sql")];

/// The version that this server writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Room for every statement that is used.
const CACHED_STATEMENTS: usize = 128;

/// The database's clock, in milliseconds since the beginning of 1970.
pub type DatabaseClock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// The machine's own.
pub fn real_clock() -> DatabaseClock {
    Arc::new(|| std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, millis))
}

/// A connection that writes. Missing migrations are run; a newer file is refused, and stays as it is.
///
/// # Errors
/// [`StorageError::Newer`], or [`StorageError::Failed`] where the file cannot be used.
pub fn open_writer(path: &Path, clock: DatabaseClock) -> Result<Connection, StorageError> {
    writer(Connection::open(path)?, clock)
}

/// A database in memory, for tests.
///
/// # Errors
/// [`StorageError::Failed`] where there is no memory.
pub fn open_in_memory(clock: DatabaseClock) -> Result<Connection, StorageError> {
    writer(Connection::open_in_memory()?, clock)
}

fn writer(mut connection: Connection, clock: DatabaseClock) -> Result<Connection, StorageError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Looked at before anything is set.
    refuse_newer(&connection)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A payment that was sent must not be forgotten by a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    prepare(&connection, clock)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// A connection that only reads.
///
/// # Errors
/// [`StorageError::Failed`] where the file cannot be used.
pub fn open_reader(path: &Path, clock: DatabaseClock) -> Result<Connection, StorageError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    prepare(&connection, clock)?;
    Ok(connection)
}

fn prepare(connection: &Connection, clock: DatabaseClock) -> Result<(), StorageError> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Query planner stability: else a statement is compiled again whenever another value is bound to it.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.create_scalar_function("now_ms", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(clock()))?;
    Ok(())
}

/// The moment, by the database's clock.
pub(super) fn now(db: &Connection) -> Result<Millis, StorageError> {
    Ok(db.prepare_cached("SELECT now_ms()")?.query_row([], |row| row.get(0))?)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn refuse_newer(connection: &Connection) -> Result<(), StorageError> {
    match version(connection)? {
        found if found > VERSION => Err(StorageError::Newer { found, supported: VERSION }),
        _ => Ok(()),
    }
}

/// Runs the missing migrations, all or none. Two servers that start at once wait for one another.
fn migrate(connection: &mut Connection) -> Result<(), StorageError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    refuse_newer(&transaction)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}
