//! Where the sandbox remembers: one SQLite database behind one connection.

pub(crate) mod callbacks;
pub(crate) mod exchanges;
pub(crate) mod payments;
mod schema;
pub(crate) mod transitions;

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{error::SandboxError, options::Database};

/// How long to wait for another process that holds the file.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// Room for every statement the sandbox uses.
const CACHED_STATEMENTS: usize = 64;

/// A failure of the database, or a value in it that this sandbox did not write.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct StoreError(#[from] rusqlite::Error);

/// The database. Calls block: inside the server they run on blocking threads.
pub(crate) struct Store {
    connection: Mutex<Connection>,
}

impl Store {
    /// Opens the database and brings its schema up to date.
    pub(crate) fn open(database: &Database) -> Result<Self, SandboxError> {
        let (path, opened) = match database {
            Database::Memory => (PathBuf::from(":memory:"), Connection::open_in_memory()),
            Database::File(path) => (path.clone(), Connection::open(path)),
        };
        let unusable =
            |error: rusqlite::Error| SandboxError::Database { path: path.clone(), detail: error.to_string() };
        let mut connection = opened.map_err(unusable)?;
        // Looked at before anything is set: a file that is refused stays as it is.
        if let Some(found) = schema::newer_version(&connection).map_err(unusable)? {
            return Err(SandboxError::NewerDatabase { path, found, supported: schema::VERSION });
        }
        configure(&connection).map_err(unusable)?;
        schema::migrate(&mut connection).map_err(unusable)?;
        Ok(Self { connection: Mutex::new(connection) })
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
        let mut connection = self.lock();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let value = work(&transaction)?;
        transaction.commit()?;
        Ok(value)
    }

    /// A panic while the lock was held rolled its transaction back, so the connection is still good.
    fn lock(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// WAL with `NORMAL`: what was answered survives the death of the process; only a power cut can take the last moments.
fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    Ok(())
}
