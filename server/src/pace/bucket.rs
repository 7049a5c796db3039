//! A token bucket of the poll rate. The rate is halved by failures, recovers once the gateway answers, and stands still while
//! `Retry-After` lasts, a minute at most. Then one poll tries whether the gateway answers again (half-open circuit breaker).

use std::time::Duration;

use crate::values::{Millis, millis};

/// The time in which the rate recovers from zero to its maximum.
const RECOVERY: Millis = 60_000;
/// The time after a failure in which the rate does not recover, unless the gateway answers sooner (half-open circuit breaker). A
/// gateway that lets everything time out fails only every 30 s: in between the rate would recover.
const UNHEARD_FOR: Millis = 60_000;
/// The longest stop that the gateway can request: one response with an hour must not stop everything for that long.
pub const LONGEST_STOP: Millis = 60_000;
/// After a stop, the time after which another query tries if the first one was not answered.
const TRIES_EVERY: Millis = 30_000;
/// Failures that many workers see at once halve the rate only once.
const HALVED_AT_MOST_EVERY: Millis = 1_000;
/// The most requests that may be owed, as time.
const MOST_DEBT: Millis = 30_000;
/// Tokens and rates are kept in thousandths, as whole numbers.
pub(super) const WHOLE: Millis = 1_000;

/// The state of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Thousandths of requests that may be made now. Negative if too many were made.
    pub tokens: Millis,
    /// Thousandths of requests a second.
    pub rate: Millis,
    /// When it was last filled.
    pub filled_at: Millis,
    /// When the rate was last halved.
    pub halved_at: Millis,
    /// No poll happens before this time. 0 if the gateway answers, or never sent `Retry-After`.
    pub not_before: Millis,
    /// The time from which the rate recovers.
    pub recovers_at: Millis,
}

impl Bucket {
    pub(super) fn full(per_second: u32, now: Millis) -> Self {
        let rate = Millis::from(per_second) * WHOLE;
        Self { tokens: rate, rate, filled_at: now, ..Self::default() }
    }

    pub(super) fn may_ask(&self, now: Millis) -> bool {
        now >= self.not_before && self.tokens >= WHOLE
    }

    /// Spends requests. After a stop this is the query that tries.
    pub(super) fn spend(&mut self, requests: u32, now: Millis) {
        self.tokens -= Millis::from(requests) * WHOLE;
        if self.is_stopped() {
            self.not_before = now.saturating_add(TRIES_EVERY);
        }
    }

    #[must_use]
    pub(super) fn corrected(mut self, unused: i64, granted: Self) -> Self {
        self.tokens = self.tokens.saturating_add(unused.saturating_mul(WHOLE));
        if unused > 0 && self.is_stopped() && self.not_before == granted.not_before {
            // No query tried.
            self.not_before = self.not_before.min(self.filled_at);
        }
        self
    }

    /// The gateway fails: halves the rate, at most once a second, and pauses for its `Retry-After`, if any.
    #[must_use]
    pub(super) fn failed(mut self, retry_after: Option<Duration>, now: Millis) -> Self {
        if now - self.halved_at >= HALVED_AT_MOST_EVERY || now < self.halved_at {
            self.rate = (self.rate / 2).max(WHOLE);
            self.tokens = self.tokens.min(self.rate);
            self.halved_at = now;
        }
        self.recovers_at = now.saturating_add(UNHEARD_FOR);
        if let Some(wait) = retry_after {
            self.not_before = self.not_before.max(now.saturating_add(millis(wait).min(LONGEST_STOP)));
        }
        self
    }

    /// The gateway answers: ends a stop, and lets the rate recover from now on.
    #[must_use]
    pub(super) fn heard(mut self, now: Millis) -> Self {
        self.recovers_at = self.recovers_at.min(now);
        self.not_before = 0;
        self
    }

    /// Whether the rate waits for the gateway to answer.
    pub fn is_unheard(&self, now: Millis) -> bool {
        self.recovers_at > now || self.is_stopped()
    }

    /// Whether the gateway sent `Retry-After`, and has not answered since.
    pub(super) fn is_stopped(&self) -> bool {
        self.not_before > 0
    }

    /// The time of the next possible poll.
    pub(super) fn next_at(&self, now: Millis) -> Millis {
        let missing = (WHOLE - self.tokens).max(0);
        let wait = (missing * 1000 + self.rate - 1) / self.rate.max(1);
        now.saturating_add(wait).max(self.not_before)
    }

    pub(super) fn filled(mut self, most_per_second: u32, now: Millis) -> Self {
        let most = Millis::from(most_per_second.max(1)) * WHOLE;
        // A clock that was set back neither adds nor removes tokens.
        let passed = (now - self.filled_at).clamp(0, RECOVERY);
        self.recovers_at = self.recovers_at.min(now.saturating_add(UNHEARD_FOR));
        self.not_before = self.not_before.min(now.saturating_add(LONGEST_STOP));
        let recovering = (now - self.recovers_at).clamp(0, passed);
        self.rate = (self.rate + most * recovering / RECOVERY).clamp(WHOLE.min(most), most);
        // A debt is paid within half a minute, even if the rate was lowered since.
        let tokens = self.tokens.max(-(self.rate * MOST_DEBT / 1000));
        self.tokens = (tokens + self.rate * passed / 1000).min(self.rate);
        self.filled_at = now;
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Bucket {
        /// As many as are wanted and there are.
        fn take(mut self, wanted: u32, per_second: u32, now: Millis) -> (Self, u32) {
            self = self.filled(per_second, now);
            let mut taken = 0;
            while taken < wanted && self.may_ask(now) {
                self.spend(1, now);
                taken += 1;
            }
            (self, taken)
        }
    }

    #[test]
    fn poll_bucket_never_exceeds_rate() {
        let (bucket, taken) = Bucket::full(10, 0).take(100, 10, 0);
        assert_eq!(taken, 10);
        let (bucket, taken) = bucket.take(100, 10, 500);
        assert_eq!(taken, 5);
        assert_eq!(bucket.take(100, 10, 500).1, 0);
        assert_eq!(bucket.next_at(500), 600);
    }

    #[test]
    fn poll_rate_halves_at_most_once_a_second() {
        let bucket = Bucket::full(100, 0).failed(None, 1000).failed(None, 1500);
        assert_eq!(bucket.rate, 50_000);
        let bucket = bucket.failed(None, 2000).heard(2000);
        assert_eq!(bucket.rate, 25_000);
        assert_eq!(bucket.take(1000, 100, 2000 + 60_000).1, 100);
    }

    #[test]
    fn poll_rate_recovers_on_response_or_time() {
        let slowed = Bucket::full(100, 0).failed(None, 1000);
        let (unheard, taken) = slowed.take(1000, 100, 31_000);
        assert_eq!((taken, unheard.rate, unheard.is_unheard(31_000)), (50, 50_000, true));
        assert_eq!(unheard.heard(31_000).take(1000, 100, 61_000).0.rate, 100_000);
        assert_eq!(unheard.take(1000, 100, 61_000 + 15_000).0.rate, 75_000);
    }

    #[test]
    fn retry_after_is_obeyed() {
        let bucket = Bucket::full(10, 0).failed(Some(Duration::from_secs(30)), 1000);
        let (bucket, taken) = bucket.take(10, 10, 30_999);
        assert_eq!((taken, bucket.next_at(30_999)), (0, 31_000));
        assert!(bucket.take(10, 10, 31_000).1 > 0);
    }

    #[test]
    fn paused_polling_resumes_with_one_poll() {
        let stopped = Bucket::full(10, 0).failed(Some(Duration::from_secs(3_600)), 1000);
        assert_eq!(stopped.take(10, 10, 60_999).1, 0);
        let (trying, taken) = stopped.take(10, 10, 61_000);
        assert_eq!((taken, trying.take(10, 10, 90_999).1), (1, 0));
        // Where nothing was due, nobody tried.
        assert_eq!(trying.corrected(1, trying).take(10, 10, 61_000).1, 1);
        let stopped_since = trying.failed(Some(Duration::from_secs(60)), 62_000);
        assert_eq!(stopped_since.corrected(1, trying).take(10, 10, 63_000).1, 0, "a stop that began since stays");
        // Where it is not answered, another one tries; where it is, all go on.
        assert_eq!(trying.take(10, 10, 91_000).1, 1);
        assert!(trying.heard(62_000).take(10, 10, 62_000).1 > 1);
        // The database's clock was hours ahead when it was stopped.
        let ahead = Bucket::full(10, 0).failed(Some(Duration::from_secs(60)), 21_600_000).take(10, 10, 1_000).0;
        assert_eq!(ahead.next_at(1_000), 61_000);
    }

    #[test]
    fn poll_bucket_survives_clock_set_back() {
        let (bucket, _) = Bucket::full(10, 10_000_000).take(10, 10, 10_000_000);
        let (bucket, taken) = bucket.take(10, 10, 5_000_000);
        assert_eq!(taken, 0);
        assert_eq!(bucket.take(10, 10, 5_001_000).1, 10);
        let slowed = Bucket::full(10, 10_000_000).failed(None, 10_000_000).take(0, 10, 5_000_000).0;
        assert!(!slowed.take(0, 10, 5_060_000).0.is_unheard(5_060_000));
    }
}
