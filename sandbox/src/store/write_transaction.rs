//! A connection within a transaction.

use std::ops::Deref;

use rusqlite::Connection;

/// What is written by it happens as a whole, or not at all.
pub(crate) struct WriteTransaction<'a>(&'a Connection);

impl<'a> WriteTransaction<'a> {
    /// The connection has to be in a transaction.
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
