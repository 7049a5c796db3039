//! What a write touched: background tasks are woken for what concerns them, and for nothing else.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use rusqlite::{Connection, hooks::Action};

/// Change notification: set by the database itself, so that no write can forget to say so.
#[derive(Default)]
pub(super) struct ChangeFlags {
    callbacks: AtomicBool,
    payments: AtomicBool,
}

/// What concerns background tasks of what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Changes {
    /// A callback was put into the queue, or may be due at another time.
    pub(crate) callbacks: bool,
    /// A payment changed; one that is new is not pending yet.
    pub(crate) payments: bool,
}

impl ChangeFlags {
    /// Of a connection that writes.
    pub(super) fn by(connection: &mut Connection) -> rusqlite::Result<Arc<Self>> {
        let touched = Arc::new(Self::default());
        let noted = Arc::clone(&touched);
        let note = move |action, _: &str, table: &str, _| match (table, action) {
            ("callbacks", _) => noted.callbacks.store(true, Ordering::Relaxed),
            ("payments", Action::SQLITE_UPDATE) => noted.payments.store(true, Ordering::Relaxed),
            _ => {}
        };
        connection.update_hook(Some(note))?;
        Ok(touched)
    }

    /// What was touched since the last time.
    pub(super) fn take(&self) -> Changes {
        let take = |flag: &AtomicBool| flag.load(Ordering::Relaxed) && flag.swap(false, Ordering::Relaxed);
        Changes { callbacks: take(&self.callbacks), payments: take(&self.payments) }
    }
}
