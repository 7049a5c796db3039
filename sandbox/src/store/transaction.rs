//! The connection that writes. Each write is atomic, and all writes of a group share one transaction.
//! Also: the simulation clock of the database's times, and which tables a write changed.

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use rusqlite::{Connection, functions::FunctionFlags, hooks::Action};

use crate::{domain::clock::Clock, store::group_commit::Group};

/// The connection that writes, and the group whose transaction is open.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) group: Option<Arc<Group>>,
}

impl Writer {
    /// Writes within the open group's transaction, or starts one with a group of its own.
    pub(super) fn write<T>(
        &mut self,
        work: impl FnOnce(&WriteTransaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let Self { connection, group } = self;
        let (begin, undo) = match group {
            Some(_) => ("SAVEPOINT one", ["ROLLBACK TO one", "RELEASE one"].as_slice()),
            None => ("BEGIN IMMEDIATE", ["ROLLBACK"].as_slice()),
        };
        execute(connection, begin)?;
        let undo = Undo { connection, statements: undo };
        let value = work(&WriteTransaction::within_transaction(connection))?;
        std::mem::forget(undo);
        match group {
            Some(_) => execute(connection, "RELEASE one")?,
            None => *group = Some(Arc::default()),
        }
        Ok(value)
    }

    /// Whether the open group's transaction was rolled back.
    pub(super) fn was_rolled_back(&self) -> bool {
        self.group.is_some() && self.connection.is_autocommit()
    }
}

/// Rolls back a failed or panicked write, unless the transaction has ended already.
pub(super) struct Undo<'a> {
    pub(super) connection: &'a Connection,
    pub(super) statements: &'static [&'static str],
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        for statement in self.statements.iter().filter(|_| !self.connection.is_autocommit()) {
            if let Err(error) = execute(self.connection, statement) {
                tracing::error!(%error, "what failed could not be taken back");
            }
        }
    }
}

pub(super) fn execute(connection: &Connection, statement: &str) -> Result<(), StoreError> {
    connection.prepare_cached(statement)?.execute(())?;
    Ok(())
}

/// A connection within a transaction: its writes are atomic.
pub(crate) struct WriteTransaction<'a>(&'a Connection);

impl<'a> WriteTransaction<'a> {
    /// The connection must be in a transaction.
    pub(super) fn within_transaction(connection: &'a Connection) -> Self {
        Self(connection)
    }
}

impl Deref for WriteTransaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.0
    }
}

/// Reads the clock of a database, and makes it available to SQL.
pub(super) fn read_clock(connection: &Connection) -> rusqlite::Result<Arc<Clock>> {
    let clock = Arc::new(Clock::default());
    clock.set_ahead_ms(connection.query_row("SELECT ahead_ms FROM clock", (), |row| row.get(0))?);
    let function_clock = Arc::clone(&clock);
    connection
        .create_scalar_function("gateway_now", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(function_clock.now_ms()))?;
    Ok(clock)
}

/// The current time, in milliseconds since 1970.
pub(crate) fn gateway_now(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.prepare_cached("SELECT gateway_now()")?.query_row((), |row| row.get(0))?)
}

/// Stores the clock's offset, so that the time of a file never goes back.
pub(crate) fn store_clock(connection: &Connection, ahead_ms: i64) -> Result<(), StoreError> {
    connection.prepare_cached("UPDATE clock SET ahead_ms = ?1")?.execute([ahead_ms])?;
    Ok(())
}

/// The changed tables: set by SQLite's update hook, so that no write is missed.
#[derive(Default)]
pub(super) struct ChangeFlags {
    callbacks: AtomicBool,
    payments: AtomicBool,
}

/// The changes that affect background tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changes {
    /// A callback was enqueued, or its due time may have changed.
    pub(crate) callbacks: bool,
    /// A payment changed. A new one is not pending yet.
    pub(crate) payments: bool,
}

impl ChangeFlags {
    /// Watches the connection that writes.
    pub(super) fn watch(connection: &mut Connection) -> rusqlite::Result<Arc<Self>> {
        let flags = Arc::new(Self::default());
        let set = Arc::clone(&flags);
        let hook = move |action, _: &str, table: &str, _| match (table, action) {
            ("callbacks", _) => set.callbacks.store(true, Ordering::Relaxed),
            ("payments", Action::SQLITE_UPDATE) => set.payments.store(true, Ordering::Relaxed),
            _ => {}
        };
        connection.update_hook(Some(hook))?;
        Ok(flags)
    }

    /// The changes since the last call.
    pub(super) fn take(&self) -> Changes {
        let take = |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        Changes { callbacks: take(&self.callbacks), payments: take(&self.payments) }
    }
}

/// A failure of the database, or a value in it that this sandbox did not write.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error(transparent)]
    Database(#[from] rusqlite::Error),
    /// A write could not be committed.
    #[error("what was written together could not be committed: {0}")]
    NotCommitted(String),
}
