//! A queue of completions. Every call that begins in it ends once: its caller receives the completion, or it is given up.
//!
//! Between the two, a listener takes completions for all callers. A caller may give up after that, and only then is it certain that no
//! caller receives the completion; so the queue holds a receipt until either happens.

use std::{
    collections::{HashMap, VecDeque},
    sync::PoisonError,
    time::Duration,
};

use super::sync::{Condvar, Mutex, MutexGuard};

/// Calls by number: running ones as `T`, complete ones with `C`, and receipts `R` of taken ones.
pub struct Queue<T, C, R> {
    calls: Mutex<Calls<T, C, R>>,
    is_complete: Condvar,
}

struct Calls<T, C, R> {
    going_on: HashMap<u64, T>,
    complete: VecDeque<(u64, C)>,
    taken: HashMap<u64, R>,
}

/// The state of a call when it was given up.
pub enum GivenUp<T, C, R> {
    GoingOn(T),
    Complete(C),
    Taken(R),
}

impl<T, C, R> Default for Queue<T, C, R> {
    fn default() -> Self {
        let calls = Calls { going_on: HashMap::new(), complete: VecDeque::new(), taken: HashMap::new() };
        Self { calls: Mutex::new(calls), is_complete: Condvar::default() }
    }
}

impl<T, C, R> Queue<T, C, R> {
    /// A call begins.
    pub fn begin(&self, number: u64, call: T) {
        self.calls().going_on.insert(number, call);
    }

    /// Completes a call. True if the queue was empty: many calls that complete at once give one signal. The completion of a call that was
    /// given up is returned: no caller receives it.
    pub fn complete(&self, number: u64, completion: C) -> Result<bool, C> {
        let mut calls = self.calls();
        let Some(call) = calls.going_on.remove(&number) else { return Err(completion) };
        calls.complete.push_back((number, completion));
        let is_first = calls.complete.len() == 1;
        drop(calls);
        // Dropped without the lock, because a call may hold anything.
        drop(call);
        Ok(is_first)
    }

    /// Wakes the thread that sleeps in [`wait`](Self::wait).
    pub fn wake(&self) {
        self.is_complete.notify_one();
    }

    /// Gives a call up, unless its completion was received. Returns its state, to be dropped without the lock.
    pub fn give_up(&self, number: u64) -> Option<GivenUp<T, C, R>> {
        let mut calls = self.calls();
        if let Some(call) = calls.going_on.remove(&number) {
            return Some(GivenUp::GoingOn(call));
        }
        if let Some(receipt) = calls.taken.remove(&number) {
            return Some(GivenUp::Taken(receipt));
        }
        let at = calls.complete.iter().position(|(other, _)| *other == number)?;
        calls.complete.remove(at).map(|(_, completion)| GivenUp::Complete(completion))
    }

    /// Gives all calls up.
    pub fn give_all_up(&self) -> Vec<GivenUp<T, C, R>> {
        let mut calls = self.calls();
        let mut given_up: Vec<_> = calls.going_on.drain().map(|(_, call)| GivenUp::GoingOn(call)).collect();
        given_up.extend(calls.complete.drain(..).map(|(_, completion)| GivenUp::Complete(completion)));
        given_up.extend(calls.taken.drain().map(|(_, receipt)| GivenUp::Taken(receipt)));
        given_up
    }

    /// Takes completions, the oldest first, while there is room for them. True if some are left; no signal is given for those. Writing one
    /// returns its receipt, if it has one.
    pub fn take(&self, write: impl FnMut(u64, C) -> Result<Option<R>, C>) -> bool {
        taken(&mut self.calls(), write)
    }

    /// The caller has the completion. Its receipt is to be dropped without the lock.
    pub fn received(&self, number: u64) -> Option<R> {
        self.calls().taken.remove(&number)
    }

    /// Takes completions, but first sleeps until there is one, for at most `longest`.
    pub fn wait(&self, longest: Duration, write: impl FnMut(u64, C) -> Result<Option<R>, C>) -> bool {
        let calls = self.calls();
        let (mut calls, _) = self
            .is_complete
            .wait_timeout_while(calls, longest, |calls| calls.complete.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        taken(&mut calls, write)
    }

    fn calls(&self) -> MutexGuard<'_, Calls<T, C, R>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken<T, C, R>(calls: &mut Calls<T, C, R>, mut write: impl FnMut(u64, C) -> Result<Option<R>, C>) -> bool {
    while let Some((number, completion)) = calls.complete.pop_front() {
        match write(number, completion) {
            Ok(None) => {}
            Ok(Some(receipt)) => {
                calls.taken.insert(number, receipt);
            }
            Err(completion) => {
                calls.complete.push_front((number, completion));
                return true;
            }
        }
    }
    false
}
