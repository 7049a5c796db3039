//! How far back a queue is looked through. What was leased leaves dead entries at the front of its index, which pile up while
//! anybody holds a snapshot open (a backup does, for hours): so a claim begins where the last one came to (a lower bound of
//! the scan), and now and then one looks through everything, for what became due behind it.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::values::Millis;

/// What may become visible so much later than it is due is found at once; what takes longer waits for a whole look.
const SLACK: Millis = 1_000;
/// How often everything is looked through.
const WHOLE_EVERY: Duration = Duration::from_secs(10);

/// What is looked through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queue {
    Hinted = 0,
    Fresh = 1,
    Old = 2,
    Streams = 3,
}

impl Queue {
    /// Of a class of questions, as it is kept.
    pub(super) fn of_class(class: i16) -> Self {
        match class {
            0 => Self::Hinted,
            1 => Self::Fresh,
            _ => Self::Old,
        }
    }
}

/// From which moment on each queue is looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Since([Millis; 4]);

impl Since {
    pub(super) fn classes(&self) -> [Millis; 3] {
        [self.0[0], self.0[1], self.0[2]]
    }

    pub(super) fn streams(&self) -> Millis {
        self.0[Queue::Streams as usize]
    }
}

/// Where the claims of this process have come to.
#[derive(Debug, Default)]
pub(super) struct Horizons(Mutex<Marks>);

#[derive(Debug, Default)]
struct Marks {
    since: Since,
    looked_through_at: Option<Instant>,
}

impl Horizons {
    /// Where a claim at this moment begins. A clock that was put back makes it begin at the beginning.
    pub(super) fn since(&self, now: Millis) -> Since {
        let mut marks = self.marks();
        let is_whole = marks.looked_through_at.is_none_or(|at| at.elapsed() >= WHOLE_EVERY);
        let is_ahead = marks.since.0.iter().any(|since| *since > now);
        if is_whole {
            marks.looked_through_at = Some(Instant::now());
        }
        if is_whole || is_ahead {
            marks.since = Since::default();
        }
        marks.since
    }

    /// Something was taken that was due at this moment.
    pub(super) fn taken(&self, queue: Queue, at: Millis) {
        let since = &mut self.marks().since.0[queue as usize];
        *since = (*since).max(at.saturating_sub(SLACK));
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn marks(&self) -> MutexGuard<'_, Marks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_begins_where_the_last_one_came_to() {
        let horizons = Horizons::default();
        assert_eq!(horizons.since(100_000), Since::default());
        horizons.taken(Queue::Fresh, 50_000);
        horizons.taken(Queue::Fresh, 40_000);
        horizons.taken(Queue::Streams, 90_000);
        assert_eq!(horizons.since(100_000).classes(), [0, 49_000, 0]);
        assert_eq!(horizons.since(100_000).streams(), 89_000);
        assert_eq!(horizons.since(60_000), Since::default(), "a clock that was put back");
    }

    #[test]
    fn now_and_then_everything_is_looked_through() {
        let horizons = Horizons::default();
        horizons.taken(Queue::Old, 50_000);
        let before = Instant::now().checked_sub(WHOLE_EVERY).unwrap();
        horizons.marks().looked_through_at = Some(before);
        assert_eq!(horizons.since(100_000), Since::default());
        horizons.taken(Queue::Old, 50_000);
        assert_eq!(horizons.since(100_000).classes(), [0, 0, 49_000]);
    }
}
