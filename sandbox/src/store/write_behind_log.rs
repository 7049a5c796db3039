//! Write-behind: the newest requests of the log wait in memory, to be written many at a time. A transaction of its own for
//! each costs more than its answer.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::store::exchanges::NewExchange;

/// So many are written without waiting for more.
const MOST: usize = 512;

/// The requests that were answered and are not in the database yet, each with its time, in the order of their answers.
#[derive(Default)]
pub(super) struct WriteBehindLog(Mutex<Vec<(i64, NewExchange)>>);

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

impl WriteBehindLog {
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

    /// All of them, to be written.
    pub(super) fn take(&self) -> Vec<(i64, NewExchange)> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(i64, NewExchange)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
