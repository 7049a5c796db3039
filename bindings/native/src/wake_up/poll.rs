//! Poll state: decides the race between a poll that returns and its continuation, which may be called during the poll
//! already.
//!
//! A call that is over before its poll has returned wakes nobody: the caller is still there and is told so as the
//! poll's result.

use super::sync::atomic::{AtomicU8, Ordering};

const POLLING: u8 = 0;
const WAITING: u8 = 1;
const WOKEN: u8 = 2;
const READY: u8 = 3;

/// What a continuation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The future is to be polled again.
    Woken,
    /// The future has its result.
    Ready,
}

/// Of one poll of one future.
pub struct PollState(AtomicU8);

impl PollState {
    /// Of a poll that is about to begin.
    pub fn new() -> Self {
        Self(AtomicU8::new(POLLING))
    }

    /// Says that the poll has returned. Answers with what the continuation has said by then; if it has said nothing,
    /// the caller waits, and the continuation will find that [`over`](Self::over) is true.
    pub fn returned(&self) -> Option<Progress> {
        match self.0.compare_exchange(POLLING, WAITING, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => None,
            Err(READY) => Some(Progress::Ready),
            Err(_) => Some(Progress::Woken),
        }
    }

    /// What the continuation says, once. Answers whether the caller waits and is to be woken.
    pub fn over(&self, progress: Progress) -> bool {
        let state = match progress {
            Progress::Woken => WOKEN,
            Progress::Ready => READY,
        };
        self.0.swap(state, Ordering::AcqRel) == WAITING
    }
}
