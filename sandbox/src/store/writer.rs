//! The connection that writes, one transaction for a group of writes: each of them happens as a whole, or not at all.

use std::sync::Arc;

use rusqlite::Connection;

use crate::store::{StoreError, WriteTransaction, group_commit::Group};

/// The connection that writes, and the group whose transaction is open on it.
pub(super) struct Writer {
    pub(super) connection: Connection,
    pub(super) group: Option<Arc<Group>>,
}

impl Writer {
    /// Writes within the open group's transaction, or begins one with a group of its own.
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

    /// Whether the open group's transaction is no longer there.
    pub(super) fn was_rolled_back(&self) -> bool {
        self.group.is_some() && self.connection.is_autocommit()
    }
}

/// Takes back what was written where it fails, or panics; where the transaction has ended, there is nothing to take back.
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
