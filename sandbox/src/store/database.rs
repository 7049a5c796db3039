//! The database: SQLite, with one connection that writes. SQLite has one writer at a time, so a pool would only wait.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, TransactionBehavior, config::DbConfig};

use crate::{
    domain::clock::Clock,
    settings::{Database, SandboxError},
    store::{
        StoreError, WriteTransaction,
        exchanges::{self, Flush, NewExchange, WriteBehindLog},
        group_commit, text_search,
        transaction::{self, ChangeFlags, Changes, Undo, Writer, execute},
    },
};

/// How long to wait for another process that locks the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// The page cache, in KiB: the pages that the next payments write to, and the inner pages of the indexes.
const CACHE_KIB: i64 = 16 * 1024;
/// Pages of the write-ahead log after which a checkpoint copies it into the file. A checkpoint
/// waits for the disk, and copies a page once, however many payments have written to it.
const CHECKPOINT: u32 = 8192;
/// Capacity for every statement of payments; lists of the dashboard are prepared each time.
const CACHED_STATEMENTS: usize = 64;

/// The database. Calls block. They run on blocking threads, except for the short ones of the gateway's endpoints.
pub(crate) struct Store {
    writer: Mutex<Writer>,
    log: WriteBehindLog,
    changes: Arc<ChangeFlags>,
    /// The clock of its times.
    pub(crate) clock: Arc<Clock>,
    /// For a file: a second connection that only reads, so that long queries of the dashboard delay no payment.
    reader: Option<Mutex<Connection>>,
}

impl Store {
    /// Opens the database and runs the missing migrations.
    pub(crate) fn open(database: &Database) -> Result<Self, SandboxError> {
        let (path, opened) = match database {
            Database::Memory => (PathBuf::from(":memory:"), Connection::open_in_memory()),
            Database::File(path) => (path.clone(), Connection::open(path)),
        };
        let unusable =
            |error: rusqlite::Error| SandboxError::Database { path: path.clone(), detail: error.to_string() };
        let mut connection = opened.map_err(unusable)?;
        // Checked first, so that a rejected file stays unchanged.
        if let Some(found) = newer_version(&connection).map_err(unusable)? {
            return Err(SandboxError::NewerDatabase { path, found, supported: SCHEMA_VERSION });
        }
        configure(&connection).map_err(unusable)?;
        migrate(&mut connection).map_err(unusable)?;
        let clock = transaction::read_clock(&connection).map_err(unusable)?;
        let reader = match database {
            Database::Memory => None,
            Database::File(path) => Some(Mutex::new(reader(path).map_err(unusable)?)),
        };
        let changes = ChangeFlags::watch(&mut connection).map_err(unusable)?;
        let log = WriteBehindLog::default();
        let writer = Mutex::new(Writer { connection, group: None });
        Ok(Self { writer, log, changes, clock, reader })
    }

    /// Moves the clock forward to this offset, unless it is already there or further.
    pub(crate) fn put_clock_ahead(&self, ahead_ms: i64) -> Result<(), SandboxError> {
        if ahead_ms > self.clock.ahead_ms() {
            self.write(|transaction| transaction::store_clock(transaction, ahead_ms))
                .map_err(|error| SandboxError::System(error.to_string()))?;
            self.clock.set_ahead_ms(ahead_ms);
        }
        Ok(())
    }

    /// Long reads, for the dashboard. They see everything written before the call.
    pub(crate) fn browse<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        // On a full disk, pages can still be read.
        let _flushed = self.flush();
        match &self.reader {
            Some(connection) => browse(&mut connection.lock().unwrap_or_else(PoisonError::into_inner), work),
            None => {
                let mut writer = self.lock();
                let _reported = self.end_group(&mut writer);
                browse(&mut writer.connection, work)
            }
        }
    }

    /// Reads. Requests in a group see uncommitted data and wait for its commit; for other callers, it is committed first.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut writer = self.lock();
        if !writer.group.as_ref().is_none_or(group_commit::join) {
            let _reported = self.end_group(&mut writer);
        }
        work(&writer.connection)
    }

    /// Reads and writes in one atomic transaction. It is committed at once, or with the group that the caller waits for.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.write_with_changes(work).map(|(value, _)| value)
    }

    /// The same; also returns the changes that affect background tasks.
    pub(crate) fn write_with_changes<T>(
        &self,
        work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<(T, Changes), StoreError> {
        let mut writer = self.lock();
        let written = writer.write(work);
        if writer.was_rolled_back() {
            // If the disk fails, SQLite may roll back the whole transaction by itself; then nothing of the group is left.
            let _reported = self.end_group(&mut writer);
        }
        let value = written?;
        if !writer.group.as_ref().is_none_or(group_commit::join) {
            self.end_group(&mut writer)?;
        }
        Ok((value, self.changes.take()))
    }

    /// Commits the open group, if any, and reports the result to the waiting requests.
    pub(crate) fn commit(&self) {
        let _reported = self.end_group(&mut self.lock());
    }

    fn end_group(&self, writer: &mut Writer) -> Result<(), StoreError> {
        let Some(group) = writer.group.take() else { return Ok(()) };
        let outcome = self.commit_with_log(&writer.connection);
        group.end(&outcome);
        outcome
    }

    fn commit_with_log(&self, connection: &Connection) -> Result<(), StoreError> {
        if connection.is_autocommit() {
            return Err(StoreError::NotCommitted("the database took it back by itself".to_owned()));
        }
        let _undo = Undo { connection, statements: &["ROLLBACK"] };
        let requests = self.log.take();
        exchanges::record_all(connection, &requests)
            .and_then(|()| execute(connection, "COMMIT"))
            .inspect_err(|error| tracing::error!(%error, requests = requests.len(), "requests are not on record"))
    }

    /// Adds a request to the log. It is written with the next transaction, or when `flush` is called.
    pub(crate) fn log(&self, exchange: NewExchange) -> Flush {
        self.log.add(self.clock.now_ms(), exchange)
    }

    /// Writes and commits the buffered requests.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let mut writer = self.lock();
        if !self.log.is_empty() {
            writer.write(|_| Ok(()))?;
        }
        self.end_group(&mut writer)
    }

    fn lock(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One read transaction: all data of a page is of one moment.
fn browse<T>(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
    work(&transaction)
}

/// A connection that only reads.
fn reader(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// WAL with `NORMAL`: committed data survives a crash of the process; only a power cut can lose the last moments.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT)?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    // The data for restoring a savepoint needs no file.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    prepare_once(connection)
}

/// Keeps prepared statements. Without the query planner stability guarantee, a bound
/// value can cause a statement to be planned again, which costs more than running it.
fn prepare_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// Migration N brings a database from version N to N + 1. A released migration is never edited.
const MIGRATIONS: [&str; 1] = [include_str!("migration_1.sql")];

/// The version that this sandbox writes.
const SCHEMA_VERSION: i64 = MIGRATIONS.len() as i64;

fn schema_version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// The file's version, if it is newer than this sandbox.
fn newer_version(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    Ok(Some(schema_version(connection)?).filter(|found| *found > SCHEMA_VERSION))
}

/// Runs the missing migrations, all or none.
fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = usize::try_from(schema_version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", SCHEMA_VERSION)?;
    transaction.commit()
}

const TABLES: [&str; 7] =
    ["callback_attempts", "callbacks", "state_changes", "payments", "payments_by_day", "exchanges", "received"];

/// Deletes payments with all their data, and the request log.
pub(crate) fn delete_all(transaction: &WriteTransaction<'_>) -> Result<(), StoreError> {
    for table in TABLES {
        transaction.execute(&format!("DELETE FROM {table}"), ())?;
    }
    text_search::forget(transaction)
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;
    use crate::{demo, domain::Provider, settings::Demo, store::payments};

    #[test]
    fn statements_are_planned_once() {
        let store = Store::open(&Database::Memory).expect("a store");
        demo::fill(&store, Demo::of(20)).expect("payments");
        let planned_anew: Vec<i32> = store
            .read(|connection| {
                connection.execute_batch("ANALYZE")?;
                for number in ["1", "2", "3"] {
                    payments::by_any_number(connection, number)?;
                    payments::by_order_number_and_provider(connection, number, Provider::MBank)?;
                }
                let columns = payments::COLUMNS;
                let clauses = [
                    "WHERE p.gateway_number = ?1".to_owned(),
                    format!("WHERE p.order_number = ?1 {}", payments::OPEN_FIRST),
                ];
                clauses
                    .iter()
                    .map(|clause| {
                        let statement = connection.prepare_cached(&format!("{columns} FROM payments p {clause}"))?;
                        assert!(statement.get_status(StatementStatus::Run) >= 3, "{clause}");
                        Ok(statement.get_status(StatementStatus::RePrepare))
                    })
                    .collect()
            })
            .expect("read");
        // The first time after the tables were analysed.
        assert!(planned_anew.iter().all(|times| *times <= 1), "{planned_anew:?}");
    }
}
