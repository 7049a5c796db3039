//! Virtual clock of the fake gateway: time moves when somebody waits for it, or when a test moves it.

use std::{
    future::poll_fn,
    sync::{Mutex, MutexGuard, PoisonError},
    task::Poll,
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use crate::transport::after;

pub(super) struct Clock {
    start: Instant,
    hands: Mutex<Hands>,
    moved: Notify,
}

#[derive(Default)]
struct Hands {
    passed: Duration,
    is_stopped: bool,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), hands: Mutex::default(), moved: Notify::new() }
    }

    /// The time since the clock was made.
    pub(super) fn passed(&self) -> Duration {
        self.hands().passed
    }

    pub(super) fn now(&self) -> Instant {
        after(self.start, self.passed())
    }

    pub(super) fn advance(&self, by: Duration) {
        self.change(|hands| hands.passed = hands.passed.saturating_add(by));
    }

    pub(super) fn stop(&self) {
        self.change(|hands| hands.is_stopped = true);
    }

    pub(super) fn run(&self) {
        self.change(|hands| hands.is_stopped = false);
    }

    /// Waits for a moment: as long as a stopped clock takes to get there, else no time at all, because a running one is
    /// set to that moment. Others on the same executor have their turn before.
    pub(super) async fn until(&self, moment: Instant) {
        let wanted = moment.saturating_duration_since(self.start);
        loop {
            let moved = self.moved.notified();
            if self.passed() >= wanted {
                return;
            }
            if self.hands().is_stopped {
                moved.await;
                continue;
            }
            give_way().await;
            if !self.hands().is_stopped {
                self.change(|hands| hands.passed = hands.passed.max(wanted));
            }
        }
    }

    fn change(&self, change: impl FnOnce(&mut Hands)) {
        change(&mut self.hands());
        self.moved.notify_waiters();
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets others on the same executor have their turn. Tokio's own would have the runtime wake it, which does not happen where
/// the runtime's thread is blocked by whoever waits here.
async fn give_way() {
    let mut has_waited = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut has_waited, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
