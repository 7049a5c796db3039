//! Lets a thread of another language wait for one of UniFFI's futures without an event loop of its language.
//!
//! The future's continuation is a function of Kassa's own, so waking the waiter runs no code of the other language on Kassa's
//! threads: nothing there waits for an interpreter's lock, and nothing reaches an interpreter that is being taken down. There is no
//! table of waiters either, because its lock could be held by another thread while the process forks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI8, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

/// Not one of UniFFI's codes (0 is ready, 1 is wake).
const STILL_WAITING: i8 = -1;

struct Waiter {
    thread: Thread,
    code: AtomicI8,
}

impl Waiter {
    fn wait(&self, most: Duration) -> i8 {
        let started = Instant::now();
        loop {
            let code = self.code.load(Ordering::Acquire);
            let left = most.saturating_sub(started.elapsed());
            if code != STILL_WAITING || left.is_zero() {
                return code;
            }
            thread::park_timeout(left);
        }
    }
}

/// Begins a wait of the calling thread. The ticket goes to the continuation, once, and to [`kassa_wait_end`], once.
#[unsafe(no_mangle)]
pub extern "C" fn kassa_wait_begin() -> u64 {
    let waiter = Arc::new(Waiter { thread: thread::current(), code: AtomicI8::new(STILL_WAITING) });
    // One share for the continuation, one for the waiter.
    let _ = Arc::into_raw(waiter.clone());
    Arc::into_raw(waiter) as u64
}

/// The continuation: takes the code, and wakes the waiter.
///
/// # Safety
/// The ticket is one of [`kassa_wait_begin`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_wait_over(ticket: u64, code: i8) {
    // SAFETY: UniFFI calls the continuation of each poll exactly once, so this is the continuation's share.
    let waiter = unsafe { Arc::from_raw(ticket as *const Waiter) };
    waiter.code.store(code, Ordering::Release);
    waiter.thread.unpark();
}

/// Waits for the code, but not for longer than so many milliseconds; below zero where it has not come yet.
///
/// # Safety
/// The ticket is one of [`kassa_wait_begin`], and its wait has not ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_wait(ticket: u64, milliseconds: u64) -> i8 {
    // SAFETY: the waiter's share is given back by `kassa_wait_end` only.
    let waiter = unsafe { &*(ticket as *const Waiter) };
    waiter.wait(Duration::from_millis(milliseconds))
}

/// Ends a wait, whether the code has come or not.
///
/// # Safety
/// The ticket is one of [`kassa_wait_begin`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_wait_end(ticket: u64) {
    // SAFETY: this is the waiter's share.
    drop(unsafe { Arc::from_raw(ticket as *const Waiter) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_with_the_code_whichever_comes_first() {
        for code_is_first in [true, false] {
            let ticket = kassa_wait_begin();
            let over = move || unsafe { kassa_wait_over(ticket, 1) };
            if code_is_first {
                over();
                assert_eq!(unsafe { kassa_wait(ticket, u64::MAX) }, 1);
            } else {
                assert_eq!(unsafe { kassa_wait(ticket, 0) }, STILL_WAITING);
                let other = thread::spawn(over);
                assert_eq!(unsafe { kassa_wait(ticket, u64::MAX) }, 1);
                other.join().unwrap();
            }
            unsafe { kassa_wait_end(ticket) };
        }
    }

    #[test]
    fn a_wait_that_is_given_up_may_be_over_later() {
        let ticket = kassa_wait_begin();
        unsafe { kassa_wait_end(ticket) };
        unsafe { kassa_wait_over(ticket, 0) };
    }
}
