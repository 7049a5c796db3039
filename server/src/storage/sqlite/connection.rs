//! Connections to the file: their settings, the database's clock, and migrations.

use std::{
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, TransactionBehavior, config::DbConfig, functions::FunctionFlags};

use crate::{
    storage::error::StorageError,
    values::{Millis, millis},
};

/// Migration N brings a database from version N to N + 1. One that was released is never edited.
const MIGRATIONS: [&str; 1] = [include_str!("migration_1.sql")];

/// The version that this server writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// The most memory that pages are kept in.
const CACHE_KIB: i64 = 32 * 1024;
/// The length of the write-ahead log at which it is written back: 64 MB.
const LOG_PAGES: i64 = 16_000;
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
    refuse_foreign(&connection)?;
    write_ahead(&connection)?;
    // A payment that was sent must not be forgotten by a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A group of 256 payments changes thousands of pages: they fit the cache, and the log is written back after many groups
    // instead of after each.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    // What a savepoint would have to restore is kept in memory: else pages of the database go into files elsewhere.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    prepare(&connection, clock)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Turns the write-ahead log on. While another process does the same with a new file, SQLite does not wait by itself.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(problem) if is_busy(&problem) && Instant::now() < until => thread::sleep(BUSY_PAUSE),
            done => return done,
        }
    }
}

fn is_busy(problem: &rusqlite::Error) -> bool {
    matches!(problem.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
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

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn refuse_newer(connection: &Connection) -> Result<(), StorageError> {
    match version(connection)? {
        found if found > VERSION => Err(StorageError::Newer { found, supported: VERSION }),
        _ => Ok(()),
    }
}

/// Tables are left alone that are another program's.
fn refuse_foreign(connection: &Connection) -> Result<(), StorageError> {
    if is_foreign(connection)? { Err(StorageError::failed("it is another program's")) } else { Ok(()) }
}

/// Whether there are tables, and none of a server's.
pub(super) fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    // One statement, as another process may be making them.
    let sql = "SELECT (SELECT user_version FROM pragma_user_version) = 0 AND EXISTS (SELECT 1 FROM sqlite_master)";
    connection.query_row(sql, [], |row| row.get(0))
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// So few that none of them waits too long for a disk that is slow.
    const OPENERS: usize = 3;

    /// SQLite itself does not wait there.
    #[test]
    fn many_may_begin_a_new_file_at_once() {
        for _ in 0..10 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("kassa.db");
            let start = Barrier::new(OPENERS);
            let open = || {
                start.wait();
                open_writer(&path, real_clock()).map(drop)
            };
            thread::scope(|scope| {
                let begun: Vec<_> = (0..OPENERS).map(|_| scope.spawn(open)).collect();
                for one in begun {
                    assert_eq!(one.join().unwrap(), Ok(()));
                }
            });
        }
    }
}
