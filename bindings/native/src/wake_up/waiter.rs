//! Thread parking: one thread that sleeps until the one poll that it waits for is over.
//!
//! There is no table of waiters: its lock could be held by another thread while the process forks, and the child would
//! wait for ever.

use std::time::{Duration, Instant};

use super::sync::{
    Thread,
    atomic::{AtomicI8, Ordering},
    thread,
};

/// Not one of UniFFI's codes (0 is ready, 1 is wake).
const STILL_WAITING: i8 = -1;

/// One wait of one thread.
pub struct Waiter {
    thread: Thread,
    code: AtomicI8,
}

impl Waiter {
    /// For the calling thread, which alone may [`wait`](Self::wait).
    pub fn new() -> Self {
        Self { thread: thread::current(), code: AtomicI8::new(STILL_WAITING) }
    }

    /// Takes the continuation's code, and wakes the thread.
    pub fn wake(&self, code: i8) {
        self.code.store(code, Ordering::Release);
        self.thread.unpark();
    }

    /// Sleeps until there is a code, though no longer than said; below zero where it has not come yet.
    pub fn wait(&self, longest: Duration) -> i8 {
        let started = Instant::now();
        loop {
            let code = self.code.load(Ordering::Acquire);
            let left = longest.saturating_sub(started.elapsed());
            if code != STILL_WAITING || left.is_zero() {
                return code;
            }
            thread::park_timeout(left);
        }
    }
}
