//! Blocking calls of other languages (Python's `Gateway`): a thread waits for one of UniFFI's futures without an event
//! loop.
//!
//! The generated Python can only await, so a blocking caller would turn an event loop for each call. Here the thread
//! sleeps in the library, which leaves the interpreter's lock to others: a status query takes 0.80 of the time of
//! urllib3 and 0.54 of that of httpx (`BENCHMARKS.md`, "Python: a status query, blocking").
//!
//! A ticket is the address of a [`Waiter`] with two owners: the continuation of one poll, and the thread that waits.
//!
//! Why, and when it goes: `docs/adr/0005-fast-calls-from-other-languages.md`.

use std::{sync::Arc, time::Duration};

use crate::wake_up::Waiter;

/// Begins a wait of the calling thread. The ticket goes to the continuation, once, and to [`kassa_blocking_end`], once.
#[unsafe(no_mangle)]
pub extern "C" fn kassa_blocking_begin() -> u64 {
    let waiter = Arc::new(Waiter::new());
    // One share for the continuation, one for the waiter.
    let _ = Arc::into_raw(waiter.clone());
    Arc::into_raw(waiter) as u64
}

/// The continuation: takes the code, and wakes the waiter.
///
/// # Safety
/// The ticket is one of [`kassa_blocking_begin`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_blocking_wake(ticket: u64, code: i8) {
    // SAFETY: ownership. The ticket came from `Arc::into_raw` with a share for the continuation; UniFFI calls the
    // continuation of each poll exactly once, so that share is taken back here and nowhere else.
    let waiter = unsafe { Arc::from_raw(ticket as *const Waiter) };
    waiter.wake(code);
}

/// Waits for the code, but not for longer than so many milliseconds; below zero where it has not come yet.
///
/// # Safety
/// The ticket is one of [`kassa_blocking_begin`], its wait has not ended, and the calling thread is the one that began
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_blocking_wait(ticket: u64, milliseconds: u64) -> i8 {
    // SAFETY: liveness. The waiter's own share is given back by `kassa_blocking_end` only, and the wait has not ended,
    // so what the ticket points to lives; it is only ever shared, so a shared reference is sound.
    let waiter = unsafe { &*(ticket as *const Waiter) };
    waiter.wait(Duration::from_millis(milliseconds))
}

/// Ends a wait, whether the code has come or not.
///
/// # Safety
/// The ticket is one of [`kassa_blocking_begin`], and is given once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn kassa_blocking_end(ticket: u64) {
    // SAFETY: ownership. The ticket came from `Arc::into_raw` with a share for the waiter, who gives it back here and
    // only once.
    drop(unsafe { Arc::from_raw(ticket as *const Waiter) });
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_wait_ends_with_the_code_whichever_comes_first() {
        for code_is_first in [true, false] {
            let ticket = kassa_blocking_begin();
            // SAFETY: the ticket is new, and its code is given once.
            let over = move || unsafe { kassa_blocking_wake(ticket, 1) };
            // SAFETY: this thread has begun the wait, which has not ended.
            let wait = |milliseconds| unsafe { kassa_blocking_wait(ticket, milliseconds) };
            if code_is_first {
                over();
                assert_eq!(wait(u64::MAX), 1);
            } else {
                assert!(wait(0) < 0);
                let other = thread::spawn(over);
                assert_eq!(wait(u64::MAX), 1);
                other.join().unwrap();
            }
            // SAFETY: it ends once.
            unsafe { kassa_blocking_end(ticket) };
        }
    }

    #[test]
    fn a_wait_that_is_given_up_may_be_over_later() {
        let ticket = kassa_blocking_begin();
        // SAFETY: the ticket is new, and each of its two owners gives it back once.
        unsafe {
            kassa_blocking_end(ticket);
            kassa_blocking_wake(ticket, 0);
        }
    }
}
