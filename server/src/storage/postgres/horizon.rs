//! How far back a queue is looked through. What was leased leaves dead entries at the front of its index, which pile up while
//! anybody holds a snapshot open (a backup does, for hours): so a look begins where the last one came to (a lower bound of
//! the scan), and now and then one goes through everything, for what became due behind it.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::values::Millis;

/// What may become visible so much later than it is due is found at once; what takes longer waits for a whole look.
const SLACK: Millis = 2_000;
/// How often everything is looked through.
const WHOLE_EVERY: Duration = Duration::from_secs(10);
/// The slower that is, the rarer: no more than this part of the time goes into it.
const SHARE_OF_WHOLE: u32 = 20;

/// Where the looks of this process have come to, in each of some queues.
#[derive(Debug)]
pub(super) struct Horizon<const QUEUES: usize>(Mutex<Marks<QUEUES>>);

#[derive(Debug)]
struct Marks<const QUEUES: usize> {
    since: [Millis; QUEUES],
    whole_at: Option<Instant>,
}

/// A look that is under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<const QUEUES: usize> {
    /// From which moment on each queue is looked through.
    pub(super) since: [Millis; QUEUES],
    began: Instant,
    is_whole: bool,
}

/// What a look took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found<const QUEUES: usize> {
    /// The moment of the look.
    pub(super) now: Millis,
    /// When the last one was due that was taken of each queue.
    pub(super) last: [Option<Millis>; QUEUES],
    /// As many as were wanted: there may be more.
    pub(super) is_full: bool,
}

impl<const QUEUES: usize> Default for Horizon<QUEUES> {
    fn default() -> Self {
        Self(Mutex::new(Marks { since: [0; QUEUES], whole_at: None }))
    }
}

impl<const QUEUES: usize> Horizon<QUEUES> {
    /// Where a look begins. While one goes through everything, the others do not.
    pub(super) fn look(&self) -> Look<QUEUES> {
        let (began, mut marks) = (Instant::now(), self.marks());
        let is_whole = marks.whole_at.is_none_or(|at| began >= at);
        if is_whole {
            marks.whole_at = began.checked_add(WHOLE_EVERY * SHARE_OF_WHOLE);
        }
        Look { since: if is_whole { [0; QUEUES] } else { marks.since }, began, is_whole }
    }

    /// What a look took is committed.
    pub(super) fn came_to(&self, look: Look<QUEUES>, found: &Found<QUEUES>) {
        self.ended(look);
        let mut marks = self.marks();
        for (since, last) in marks.since.iter_mut().zip(found.last) {
            // Where it was not full, nothing is left of what is due by now. Where it was, nothing before the last one.
            let come_to = if found.is_full { last } else { Some(found.now) };
            let Some(mark) = come_to.map(|at| at.min(found.now).saturating_sub(SLACK)) else { continue };
            *since = if look.is_whole { mark } else { mark.max(*since) };
        }
        // A clock that was put back.
        if marks.since.iter().any(|since| *since > found.now) {
            *marks = Marks { since: [0; QUEUES], whole_at: None };
        }
    }

    /// A look ended, or failed. A whole one comes again after a while, by how long this one took.
    pub(super) fn ended(&self, look: Look<QUEUES>) {
        if look.is_whole {
            let pause = (look.began.elapsed() * SHARE_OF_WHOLE).max(WHOLE_EVERY);
            self.marks().whole_at = Instant::now().checked_add(pause);
        }
    }

    /// What is behind the lock is whole after every step, whatever panicked.
    fn marks(&self) -> MutexGuard<'_, Marks<QUEUES>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After its first look through everything, with nothing due.
    fn horizon() -> Horizon<2> {
        let horizon = Horizon::default();
        let look = horizon.look();
        assert_eq!(look.since, [0, 0]);
        horizon.came_to(look, &Found { now: 50_000, last: [None, None], is_full: false });
        horizon
    }

    fn full(now: Millis, last: [Option<Millis>; 2]) -> Found<2> {
        Found { now, last, is_full: true }
    }

    fn make_whole_due(horizon: &Horizon<2>) {
        horizon.marks().whole_at = None;
    }

    #[test]
    fn a_look_begins_where_the_last_one_came_to() {
        let horizon = horizon();
        assert_eq!(horizon.look().since, [48_000, 48_000], "nothing was left by then");
        horizon.came_to(horizon.look(), &full(100_000, [Some(70_000), None]));
        assert_eq!(horizon.look().since, [68_000, 48_000], "the second was not looked through");
        horizon.came_to(horizon.look(), &full(100_000, [Some(60_000), None]));
        assert_eq!(horizon.look().since, [68_000, 48_000], "another worker has come further");
    }

    #[test]
    fn what_is_behind_is_found_by_a_look_through_everything_and_those_after_it() {
        let horizon = horizon();
        horizon.came_to(horizon.look(), &full(100_000, [Some(90_000), Some(90_000)]));
        make_whole_due(&horizon);
        let whole = horizon.look();
        assert_eq!(whole.since, [0, 0]);
        assert_eq!(horizon.look().since, [88_000, 88_000], "one at a time");
        horizon.came_to(whole, &full(100_000, [Some(20_000), None]));
        assert_eq!(horizon.look().since, [18_000, 88_000], "more may be due behind");
    }

    #[test]
    fn one_that_failed_leaves_the_others_as_they_were() {
        let horizon = horizon();
        make_whole_due(&horizon);
        let whole = horizon.look();
        horizon.ended(whole);
        assert_eq!(horizon.look().since, [48_000, 48_000]);
    }

    #[test]
    fn a_clock_that_was_put_back_makes_it_begin_at_the_beginning() {
        let horizon = horizon();
        horizon.came_to(horizon.look(), &Found { now: 10_000, last: [None, None], is_full: false });
        assert_eq!(horizon.look().since, [0, 0]);
    }
}
