//! The database: SQLite, with one connection that writes. SQLite has one writer at a time, so a connection pool would
//! only wait.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior, config::DbConfig};

use crate::{
    domain::clock::Clock,
    settings::{Database, SandboxError},
    store::{
        StoreError,
        exchanges::NewExchange,
        migrations, stored_clock,
        touched::{Touched, Written},
        waiting_exchanges::{Flush, WaitingExchanges},
    },
};

/// How long to wait for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Room for every statement the sandbox uses.
const CACHED_STATEMENTS: usize = 64;

/// The database. Calls block: but for those of the nine endpoints, which are short, they run on blocking threads.
pub(crate) struct Store {
    connection: Mutex<Connection>,
    waiting: WaitingExchanges,
    touched: Arc<Touched>,
    /// What the times in it are read from.
    pub(crate) clock: Arc<Clock>,
    /// To a file: a second connection that only reads, so that long queries of the dashboard keep no payment waiting.
    onlooker: Option<Mutex<Connection>>,
}

impl Store {
    /// Opens the database and runs the migrations that it lacks.
    pub(crate) fn open(database: &Database) -> Result<Self, SandboxError> {
        let (path, opened) = match database {
            Database::Memory => (PathBuf::from(":memory:"), Connection::open_in_memory()),
            Database::File(path) => (path.clone(), Connection::open(path)),
        };
        let unusable =
            |error: rusqlite::Error| SandboxError::Database { path: path.clone(), detail: error.to_string() };
        let mut connection = opened.map_err(unusable)?;
        // Looked at before anything is set: a file that is refused stays as it is.
        if let Some(found) = migrations::newer_version(&connection).map_err(unusable)? {
            return Err(SandboxError::NewerDatabase { path, found, supported: migrations::VERSION });
        }
        configure(&connection).map_err(unusable)?;
        migrations::migrate(&mut connection).map_err(unusable)?;
        let clock = stored_clock::read(&connection).map_err(unusable)?;
        let onlooker = match database {
            Database::Memory => None,
            Database::File(path) => Some(Mutex::new(onlooker(path).map_err(unusable)?)),
        };
        let touched = Touched::by(&mut connection).map_err(unusable)?;
        let waiting = WaitingExchanges::default();
        Ok(Self { connection: Mutex::new(connection), waiting, touched, clock, onlooker })
    }

    /// Puts the clock ahead as far as that, where it is not already.
    pub(crate) fn put_clock_ahead(&self, ahead_ms: i64) -> Result<(), SandboxError> {
        if ahead_ms > self.clock.ahead_ms() {
            self.read(|connection| stored_clock::keep(connection, ahead_ms))
                .map_err(|error| SandboxError::System(error.to_string()))?;
            self.clock.set_ahead_ms(ahead_ms);
        }
        Ok(())
    }

    /// Long reads, for the dashboard: what was written before the call is seen.
    pub(crate) fn browse<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        self.flush()?;
        let connection = self.onlooker.as_ref().unwrap_or(&self.connection);
        // One read transaction: all that a page shows is of one moment.
        let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Deferred)?;
        work(&transaction)
    }

    /// Reads.
    pub(crate) fn read<T>(&self, work: impl FnOnce(&Connection) -> Result<T, StoreError>) -> Result<T, StoreError> {
        work(&self.lock())
    }

    /// Reads and writes in one transaction: all of it happens, or nothing.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.write_and_tell(work).map(|(value, _)| value)
    }

    /// The same, and what of it concerns background tasks.
    pub(crate) fn write_and_tell<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<(T, Written), StoreError> {
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        self.waiting.write(&transaction)?;
        transaction.commit()?;
        Ok((value, self.touched.take()))
    }

    /// Adds a request to the log. It is written with the next transaction, or when `flush` is called.
    pub(crate) fn log(&self, exchange: NewExchange) -> Flush {
        self.waiting.add(self.clock.now_ms(), exchange)
    }

    /// Writes what waits to be.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        if self.waiting.is_empty() { Ok(()) } else { self.write(|_| Ok(())) }
    }

    /// A panic while the lock was held rolled its transaction back, so the connection is still good.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that only reads.
fn onlooker(path: &Path) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    prepare_once(&connection)?;
    Ok(connection)
}

/// WAL with `NORMAL`: what was answered survives the death of the process; only a power cut can take the last moments.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    prepare_once(connection)
}

/// Prepared statements stay. Without the query planner stability guarantee a value that is bound can have one planned
/// anew, which costs more than to run it.
fn prepare_once(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}
