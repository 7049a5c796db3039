//! Write-behind: the newest requests of the log wait in memory, to be written many at a time. A transaction of its own for
//! each costs more than its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::Connection;

use crate::store::{
    StoreError,
    exchanges::{self, NewExchange},
};

/// So many are written without waiting for more.
const MOST: usize = 512;

/// The requests that were answered and are not in the database yet, each with its time, in the order of their answers.
#[derive(Default)]
pub(super) struct WaitingExchanges(Mutex<Vec<(i64, NewExchange)>>);

/// What is to be done about what waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flush {
    /// Somebody sees to it already.
    Seen,
    /// It is to be written soon.
    Soon,
    /// There is so much that it is to be written now.
    Now,
}

impl WaitingExchanges {
    pub(super) fn add(&self, at: i64, exchange: NewExchange) -> Flush {
        let mut waiting = self.lock();
        waiting.push((at, exchange));
        match waiting.len() {
            1 => Flush::Soon,
            MOST.. => Flush::Now,
            _ => Flush::Seen,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Writes them all, within the caller's transaction.
    pub(super) fn write(&self, connection: &Connection) -> Result<(), StoreError> {
        let waiting = std::mem::take(&mut *self.lock());
        waiting.iter().try_for_each(|(at, exchange)| exchanges::record(connection, *at, exchange))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(i64, NewExchange)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
