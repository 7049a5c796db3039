//! A queue of completions. Every call that begins in it ends once: it is taken with its completion, or given up.

use std::{
    collections::{HashMap, VecDeque},
    sync::PoisonError,
    time::Duration,
};

use super::sync::{Condvar, Mutex, MutexGuard};

/// Calls by number: those that go on as `T`, and those that are complete with `C`.
pub struct Queue<T, C> {
    calls: Mutex<Calls<T, C>>,
    is_complete: Condvar,
}

struct Calls<T, C> {
    going_on: HashMap<u64, T>,
    complete: VecDeque<(u64, C)>,
}

impl<T, C> Default for Queue<T, C> {
    fn default() -> Self {
        let calls = Calls { going_on: HashMap::new(), complete: VecDeque::new() };
        Self { calls: Mutex::new(calls), is_complete: Condvar::default() }
    }
}

impl<T, C> Queue<T, C> {
    /// A call begins.
    pub fn begin(&self, number: u64, call: T) {
        self.calls().going_on.insert(number, call);
    }

    /// A call is complete, unless it was given up. True where the queue was empty: many calls that are complete at once give one signal.
    pub fn complete(&self, number: u64, completion: C) -> bool {
        let mut calls = self.calls();
        let Some(call) = calls.going_on.remove(&number) else { return false };
        calls.complete.push_back((number, completion));
        let is_first = calls.complete.len() == 1;
        drop(calls);
        // A call may hold anything.
        drop(call);
        is_first
    }

    /// Wakes whoever sleeps in [`wait`](Self::wait).
    pub fn wake(&self) {
        self.is_complete.notify_one();
    }

    /// Gives a call up, complete or not. What it was is the caller's, to be dropped without the lock.
    pub fn give_up(&self, number: u64) -> (Option<T>, Option<C>) {
        let mut calls = self.calls();
        if let Some(call) = calls.going_on.remove(&number) {
            return (Some(call), None);
        }
        let at = calls.complete.iter().position(|(other, _)| *other == number);
        (None, at.and_then(|at| calls.complete.remove(at)).map(|(_, completion)| completion))
    }

    /// Gives all calls up that go on.
    pub fn give_all_up(&self) -> Vec<T> {
        self.calls().going_on.drain().map(|(_, call)| call).collect()
    }

    /// Takes completions, the oldest first, as long as there is room for them. True where some are left; no signal is given for those.
    pub fn take(&self, write: impl FnMut(u64, C) -> Result<(), C>) -> bool {
        taken(&mut self.calls(), write)
    }

    /// The same, but first sleeps until there is one, though no longer than said.
    pub fn wait(&self, longest: Duration, write: impl FnMut(u64, C) -> Result<(), C>) -> bool {
        let calls = self.calls();
        let (mut calls, _) = self
            .is_complete
            .wait_timeout_while(calls, longest, |calls| calls.complete.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        taken(&mut calls, write)
    }

    fn calls(&self) -> MutexGuard<'_, Calls<T, C>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken<T, C>(calls: &mut Calls<T, C>, mut write: impl FnMut(u64, C) -> Result<(), C>) -> bool {
    while let Some((number, completion)) = calls.complete.pop_front() {
        if let Err(completion) = write(number, completion) {
            calls.complete.push_front((number, completion));
            return true;
        }
    }
    false
}
