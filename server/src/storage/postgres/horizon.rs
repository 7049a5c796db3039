//! The lower bound of a queue's scan. Leased rows leave dead entries at the front of the index, which pile up while a snapshot is
//! open (during a backup, for hours): so a scan begins where the last one ended. For rows that became due behind it, because
//! their commit was slow, one scan a second goes further back, and a complete scan runs at intervals.

use std::{
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::values::Millis;

/// Rows that become visible at most this long after they are due are found at once. At 10,000 leases a second, each scan passes a
/// thousand dead entries for that.
const SLACK: Millis = 100;
/// Rows that become visible at most this long after are found within a second; others wait for a complete scan.
const WIDE_SLACK: Millis = 5_000;
const WIDE_EVERY: Duration = Duration::from_secs(1);
/// The interval of complete scans.
const WHOLE_EVERY: Duration = Duration::from_secs(10);
/// Complete scans are rarer if they are slow: they take at most one part in this many of the time.
const SHARE_OF_WHOLE: u32 = 20;

/// The positions of this process' scans in each queue.
#[derive(Debug)]
pub(super) struct Horizon<const QUEUES: usize>(Mutex<Marks<QUEUES>>);

#[derive(Debug)]
struct Marks<const QUEUES: usize> {
    since: [Millis; QUEUES],
    wide_at: Option<Instant>,
    whole_at: Option<Instant>,
}

/// The reach of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanReach {
    Near,
    Wide,
    Whole,
}

/// A scan in progress.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<const QUEUES: usize> {
    /// The time from which each queue is scanned.
    pub(super) since: [Millis; QUEUES],
    began: Instant,
    reach: ScanReach,
}

/// The result of a scan.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScanResult<const QUEUES: usize> {
    /// The time of the scan.
    pub(super) now: Millis,
    /// The due time of the last row taken from each queue.
    pub(super) last: [Option<Millis>; QUEUES],
    /// Whether the wanted number was found in each queue: then there may be more.
    pub(super) is_full: [bool; QUEUES],
}

impl<const QUEUES: usize> Default for Horizon<QUEUES> {
    fn default() -> Self {
        Self(Mutex::new(Marks { since: [0; QUEUES], wide_at: None, whole_at: None }))
    }
}

impl<const QUEUES: usize> Horizon<QUEUES> {
    /// Begins a scan. While a complete scan runs, others are not complete.
    pub(super) fn scan(&self) -> Scan<QUEUES> {
        let (began, mut marks) = (Instant::now(), self.marks());
        let is_due = |at: Option<Instant>| at.is_none_or(|at| began >= at);
        if is_due(marks.whole_at) {
            marks.whole_at = began.checked_add(WHOLE_EVERY * SHARE_OF_WHOLE);
            return Scan { since: [0; QUEUES], began, reach: ScanReach::Whole };
        }
        if is_due(marks.wide_at) {
            marks.wide_at = began.checked_add(WIDE_EVERY);
            let since = marks.since.map(|since| since.saturating_sub(WIDE_SLACK));
            return Scan { since, began, reach: ScanReach::Wide };
        }
        Scan { since: marks.since, began, reach: ScanReach::Near }
    }

    /// Records the committed result of a scan.
    pub(super) fn came_to(&self, scan: Scan<QUEUES>, found: &ScanResult<QUEUES>) {
        self.ended(scan);
        let mut marks = self.marks();
        // The clock was set back.
        if marks.since.iter().any(|since| *since > found.now) {
            *marks = Marks { since: [0; QUEUES], wide_at: None, whole_at: None };
            return;
        }
        for ((since, last), is_full) in marks.since.iter_mut().zip(found.last).zip(found.is_full) {
            // If it was not full, no due rows are left. If it was, none are left before the last one.
            let come_to = if is_full { last } else { Some(found.now) };
            let Some(mark) = come_to.map(|at| at.min(found.now).saturating_sub(SLACK)) else { continue };
            *since = if scan.reach == ScanReach::Near { mark.max(*since) } else { mark };
        }
    }

    /// A scan ended, or failed. The next complete one follows after a time that depends on its duration.
    pub(super) fn ended(&self, scan: Scan<QUEUES>) {
        if scan.reach == ScanReach::Whole {
            let pause = (scan.began.elapsed() * SHARE_OF_WHOLE).max(WHOLE_EVERY);
            self.marks().whole_at = Instant::now().checked_add(pause);
        }
    }

    /// A panic cannot leave the locked value half-written: every step leaves it whole.
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
        let scan = horizon.scan();
        assert_eq!(scan.since, [0, 0]);
        horizon.came_to(scan, &ScanResult { now: 50_000, last: [None, None], is_full: [false; 2] });
        horizon.marks().wide_at = Instant::now().checked_add(WIDE_EVERY * 1_000);
        horizon
    }

    fn full(now: Millis, last: [Option<Millis>; 2]) -> ScanResult<2> {
        ScanResult { now, last, is_full: [true; 2] }
    }

    fn make_whole_due(horizon: &Horizon<2>) {
        horizon.marks().whole_at = None;
    }

    #[test]
    fn scan_starts_at_last_position() {
        let horizon = horizon();
        assert_eq!(horizon.scan().since, [49_900, 49_900], "nothing was left by then");
        horizon.came_to(horizon.scan(), &full(100_000, [Some(70_000), None]));
        assert_eq!(horizon.scan().since, [69_900, 49_900], "the second was not looked through");
        horizon.came_to(horizon.scan(), &full(100_000, [Some(60_000), None]));
        assert_eq!(horizon.scan().since, [69_900, 49_900], "another worker has come further");
    }

    #[test]
    fn full_scan_moves_horizon_back_to_late_rows() {
        let horizon = horizon();
        horizon.came_to(horizon.scan(), &full(100_000, [Some(90_000), Some(90_000)]));
        make_whole_due(&horizon);
        let whole = horizon.scan();
        assert_eq!(whole.since, [0, 0]);
        assert_eq!(horizon.scan().since, [89_900, 89_900], "one at a time");
        horizon.came_to(whole, &full(100_000, [Some(20_000), None]));
        assert_eq!(horizon.scan().since, [19_900, 89_900], "more may be due behind");
    }

    #[test]
    fn wide_scan_finds_rows_committed_late() {
        let horizon = horizon();
        horizon.marks().wide_at = None;
        let wide = horizon.scan();
        assert_eq!(wide.since, [44_900, 44_900]);
        assert_eq!(horizon.scan().since, [49_900, 49_900], "one in a second");
        horizon.came_to(wide, &full(51_000, [Some(46_000), Some(50_500)]));
        assert_eq!(horizon.scan().since, [45_900, 50_400], "more may be due behind");
    }

    #[test]
    fn failed_scan_leaves_horizon_unchanged() {
        let horizon = horizon();
        make_whole_due(&horizon);
        let whole = horizon.scan();
        horizon.ended(whole);
        assert_eq!(horizon.scan().since, [49_900, 49_900]);
    }

    #[test]
    fn scan_restarts_when_clock_is_set_back() {
        for is_wide in [false, true] {
            let horizon = horizon();
            if is_wide {
                horizon.marks().wide_at = None;
            }
            horizon.came_to(horizon.scan(), &ScanResult { now: 10_000, last: [None, None], is_full: [false; 2] });
            assert_eq!(horizon.scan().since, [0, 0]);
        }
    }
}
