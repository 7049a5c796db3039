//! Completion queue: the calls that have got further, by number, and one signal for whoever takes them.
//!
//! Many calls that get further at once wake their listener once: only the first number in an empty queue gives the
//! signal. With 100 calls at once that is what makes a query cheaper than a peer's (`BENCHMARKS.md`, "100 at once").

use std::{sync::PoisonError, time::Duration};

use super::sync::{Condvar, Mutex};

/// Wakes the listener of a queue.
pub trait Signal {
    /// The queue, which was empty, no longer is. Its lock is held: this must not block.
    fn give(&self);
}

/// A thread that sleeps in [`Queue::wait`].
impl Signal for Condvar {
    fn give(&self) {
        self.notify_one();
    }
}

/// One for each listener.
pub struct Queue<S> {
    woken: Mutex<Vec<u64>>,
    signal: S,
}

impl<S: Signal> Queue<S> {
    /// An empty queue.
    pub fn new(signal: S) -> Self {
        Self { woken: Mutex::new(Vec::new()), signal }
    }

    /// Adds the number of a call that has got further.
    pub fn push(&self, number: u64) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push(number);
        if woken.len() == 1 {
            self.signal.give();
        }
    }

    /// Moves numbers into the room, and says how many. Where it was filled there may be more, for which no signal is
    /// given again.
    #[cfg(any(unix, test))]
    #[cfg_attr(not(unix), allow(dead_code, reason = "of the tests, only the model checker's copy calls it"))]
    pub fn take(&self, room: &mut [u64]) -> usize {
        move_into(room, &mut self.woken.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Queue<Condvar> {
    /// As `take`, but first sleeps until there is a number, though no longer than said.
    pub fn wait(&self, longest: Duration, room: &mut [u64]) -> usize {
        let woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut woken, _) = self
            .signal
            .wait_timeout_while(woken, longest, |woken| woken.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        move_into(room, &mut woken)
    }
}

fn move_into(room: &mut [u64], woken: &mut Vec<u64>) -> usize {
    let count = woken.len().min(room.len());
    room.iter_mut().zip(woken.drain(..count)).for_each(|(place, number)| *place = number);
    count
}
