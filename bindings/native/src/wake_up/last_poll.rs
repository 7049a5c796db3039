//! Mailbox between the continuation of a foreign future's polls and the Rust executor that runs it: the one says what the last
//! poll came to, and the other is woken.

use std::{sync::PoisonError, task::Waker};

use super::{Progress, sync::Mutex};

/// Of one future, whichever of its polls it is.
#[derive(Default)]
pub struct LastPoll(Mutex<State>);

#[derive(Default)]
struct State {
    progress: Option<Progress>,
    waker: Option<Waker>,
}

impl LastPoll {
    /// What the last poll came to, told once; where it goes on, the waker will be woken.
    pub fn progress(&self, waker: &Waker) -> Option<Progress> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let progress = state.progress.take();
        if progress.is_none() {
            state.waker = Some(waker.clone());
        }
        progress
    }

    /// The last poll is over.
    pub fn over(&self, progress: Progress) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.progress = Some(progress);
        let waker = state.waker.take();
        // A waker may take locks of its own.
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}
