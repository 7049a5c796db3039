//! Call numbers: another language gives one to each of its calls, and each log event carries that of its call
//! (`ffi::logging`). Calls have a number only where the log is read.

use std::{
    cell::Cell,
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::transport::per_process::PerProcess;

thread_local! {
    /// The call that this thread runs at present; 0 for none that has a number.
    static RUNNING: Cell<u64> = const { Cell::new(0) };
}

/// How many requests of each call are under way. A payment outlives a caller that has gone.
static UNDER_WAY: PerProcess<Mutex<HashMap<u64, usize>>> = PerProcess::new();

/// Runs a part of a call on this thread. What the call sends meanwhile has its number.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub fn as_call<T>(number: u64, work: impl FnOnce() -> T) -> T {
    let _before = Before(RUNNING.replace(number));
    work()
}

/// Cleanup (RAII guard), also where the work panics.
struct Before(u64);

impl Drop for Before {
    fn drop(&mut self) {
        RUNNING.set(self.0);
    }
}

/// The call that a request belongs to, held for as long as the request can log.
pub(crate) struct Caller(u64);

impl Caller {
    /// The call that this thread runs.
    pub(crate) fn here() -> Self {
        let number = RUNNING.get();
        if number != 0 {
            *under_way().entry(number).or_default() += 1;
        }
        Self(number)
    }

    /// Its number; 0 for none.
    pub(crate) fn number(&self) -> u64 {
        self.0
    }
}

impl Drop for Caller {
    fn drop(&mut self) {
        if self.0 == 0 {
            return;
        }
        let mut under_way = under_way();
        // Fork safety: none in a child, where it is the parent's.
        if let Some(requests) = under_way.get_mut(&self.0) {
            *requests -= 1;
            if *requests == 0 {
                under_way.remove(&self.0);
            }
        }
    }
}

/// Those of the calls that have a request under way.
#[cfg_attr(not(feature = "uniffi"), allow(dead_code))]
pub(crate) fn those_under_way(calls: &[u64]) -> Vec<u64> {
    let under_way = under_way();
    calls.iter().copied().filter(|call| under_way.contains_key(call)).collect()
}

fn under_way() -> MutexGuard<'static, HashMap<u64, usize>> {
    UNDER_WAY.get().lock().unwrap_or_else(PoisonError::into_inner)
}
