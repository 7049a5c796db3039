//! Graceful shutdown: tells all who wait on a gateway that it was closed.

use std::sync::{
    Mutex, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use tokio::sync::Notify;

/// What keeps something from others between two calls, and must not keep it beyond the close of its gateway.
pub(crate) trait EndsAtClose: Send + Sync {
    fn end_at_close(&self);
}

/// Whether a gateway was closed. All its clones share it.
#[derive(Default)]
pub(crate) struct Closing {
    is_closed: AtomicBool,
    closed: Notify,
    listeners: Mutex<Vec<Weak<dyn EndsAtClose>>>,
}

impl Closing {
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::SeqCst)
    }

    /// Refuses further calls, and tells nobody. In a forked child that is all: another thread of the parent may have held
    /// the locks.
    pub(crate) fn refuse(&self) {
        self.is_closed.store(true, Ordering::SeqCst);
    }

    /// Refuses further calls, and ends every wait.
    pub(crate) fn close(&self) {
        self.refuse();
        self.closed.notify_waiters();
        let listeners = std::mem::take(&mut *self.listeners.lock().unwrap_or_else(PoisonError::into_inner));
        for listener in listeners.iter().filter_map(Weak::upgrade) {
            listener.end_at_close();
        }
    }

    /// Waits until it is closed.
    pub(crate) async fn closed(&self) {
        // Before the flag is read: who sets it later wakes, whether this was polled or not.
        let woken = self.closed.notified();
        if !self.is_closed() {
            woken.await;
        }
    }

    /// Hears of the close, as long as it lives.
    pub(crate) fn tell(&self, listener: Weak<dyn EndsAtClose>) {
        let mut listeners = self.listeners.lock().unwrap_or_else(PoisonError::into_inner);
        listeners.retain(|known| known.strong_count() > 0);
        listeners.push(listener);
    }
}
