//! Rate limit of questions (token bucket) for the whole fleet: halved where the gateway says 429 or fails, recovering by
//! and by once it answers, and standing still while `Retry-After` lasts, a minute at most. Then one question tries whether the
//! gateway answers again (half-open circuit breaker). Its state is in the database, so that all workers share it.

use std::time::Duration;

use crate::values::{Millis, millis};

/// In which time the rate recovers from nothing to its most.
const RECOVERY: Millis = 60_000;
/// For how long after trouble it does not recover, unless the gateway answers sooner (half-open circuit breaker). One that lets
/// everything time out says so once in 30 s: in between the rate would be back.
const UNHEARD_FOR: Millis = 60_000;
/// The longest stop that the gateway can ask for: one reply that names an hour must not stop everything for so long.
pub const LONGEST_STOP: Millis = 60_000;
/// After a stop, so long after one question another one tries, where the first one was not answered.
const TRIES_EVERY: Millis = 30_000;
/// Trouble that many workers meet at once halves the rate once.
const HALVED_AT_MOST_EVERY: Millis = 1_000;
/// Tokens and rates are kept in thousandths, as whole numbers.
const WHOLE: Millis = 1_000;

/// From which part of the answers on trouble is the gateway's (overload): of thousands a second one or another fails all the time,
/// and halving the rate for each would leave hardly any.
const SHARE_OF_TROUBLE: usize = 10;

/// Whether so many troubles among so many answers, which came together, are a reason to ask less.
pub fn is_overload(troubles: usize, answers: usize) -> bool {
    troubles > 0 && troubles.saturating_mul(SHARE_OF_TROUBLE) >= answers
}

/// The state of the bucket, as the database keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// Thousandths of questions that may be asked now.
    pub tokens: Millis,
    /// Thousandths of questions a second.
    pub rate: Millis,
    /// When it was filled last.
    pub filled_at: Millis,
    /// When the rate was halved last.
    pub halved_at: Millis,
    /// Nothing may be asked before. 0 where the gateway answers, or never asked to wait.
    pub not_before: Millis,
    /// From when on the rate recovers.
    pub recovers_at: Millis,
}

impl Bucket {
    /// One that nobody used yet, for so many questions a second.
    pub fn full(per_second: u32, now: Millis) -> Self {
        let rate = Millis::from(per_second) * WHOLE;
        Self { tokens: rate, rate, filled_at: now, halved_at: 0, not_before: 0, recovers_at: 0 }
    }

    /// Takes as many questions out as there are, and as are wanted.
    #[must_use]
    pub fn take(mut self, wanted: u32, most_per_second: u32, now: Millis) -> (Self, u32) {
        self = self.filled(most_per_second, now);
        if now < self.not_before {
            return (self, 0);
        }
        let available = u32::try_from(self.tokens / WHOLE).unwrap_or(0);
        let taken = available.min(if self.is_stopped() { wanted.min(1) } else { wanted });
        if self.is_stopped() && taken > 0 {
            self.not_before = now.saturating_add(TRIES_EVERY);
        }
        self.tokens -= Millis::from(taken) * WHOLE;
        (self, taken)
    }

    /// Puts back what was taken and not used, or takes what was used beyond.
    #[must_use]
    pub fn corrected(mut self, unused: i64) -> Self {
        self.tokens = self.tokens.saturating_add(unused.saturating_mul(WHOLE));
        if unused > 0 && self.is_stopped() {
            // Nobody tried.
            self.not_before = self.not_before.min(self.filled_at);
        }
        self
    }

    /// The gateway has trouble: half the rate from now on, and nothing before it said so.
    #[must_use]
    pub fn troubled(mut self, retry_after: Option<Duration>, now: Millis) -> Self {
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

    /// The gateway answers: a stop is over, and the rate recovers from now on.
    #[must_use]
    pub fn heard(mut self, now: Millis) -> Self {
        self.recovers_at = self.recovers_at.min(now);
        self.not_before = 0;
        self
    }

    /// Whether it waits for the gateway to answer.
    pub fn is_unheard(&self, now: Millis) -> bool {
        self.recovers_at > now || self.is_stopped()
    }

    /// Whether the gateway asked to wait, and has not answered since.
    pub fn is_stopped(&self) -> bool {
        self.not_before > 0
    }

    /// When there is something to take again.
    pub fn next_at(&self, now: Millis) -> Millis {
        let missing = (WHOLE - self.tokens).max(0);
        let wait = (missing * 1000 + self.rate - 1) / self.rate.max(1);
        now.saturating_add(wait).max(self.not_before)
    }

    fn filled(mut self, most_per_second: u32, now: Millis) -> Self {
        let most = Millis::from(most_per_second.max(1)) * WHOLE;
        // A clock that was put back brings nothing, and costs nothing.
        let passed = (now - self.filled_at).clamp(0, RECOVERY);
        self.recovers_at = self.recovers_at.min(now.saturating_add(UNHEARD_FOR));
        self.not_before = self.not_before.min(now.saturating_add(LONGEST_STOP));
        let recovering = (now - self.recovers_at).clamp(0, passed);
        self.rate = (self.rate + most * recovering / RECOVERY).clamp(WHOLE.min(most), most);
        self.tokens = (self.tokens + self.rate * passed / 1000).min(self.rate);
        self.filled_at = now;
        self
    }
}

/// Tells once that the gateway asked to wait, and once that it answers again.
pub fn tell_of_stop(before: &Bucket, after: &Bucket, now: Millis) {
    match (before.is_stopped(), after.is_stopped()) {
        (false, true) => {
            let wait_ms = after.not_before - now;
            tracing::warn!(target: "kassa_server", wait_ms, "the gateway asks to wait: no questions meanwhile, then one tries");
        }
        (true, false) => tracing::info!(target: "kassa_server", "the gateway answers again after a wait"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_rate_is_asked() {
        let (bucket, taken) = Bucket::full(10, 0).take(100, 10, 0);
        assert_eq!(taken, 10);
        let (bucket, taken) = bucket.take(100, 10, 500);
        assert_eq!(taken, 5);
        assert_eq!(bucket.take(100, 10, 500).1, 0);
        assert_eq!(bucket.next_at(500), 600);
    }

    #[test]
    fn trouble_halves_it_once_a_second_and_it_recovers() {
        let bucket = Bucket::full(100, 0).troubled(None, 1000).troubled(None, 1500);
        assert_eq!(bucket.rate, 50_000);
        let bucket = bucket.troubled(None, 2000).heard(2000);
        assert_eq!(bucket.rate, 25_000);
        assert_eq!(bucket.take(1000, 100, 2000 + 60_000).1, 100);
    }

    #[test]
    fn it_recovers_when_the_gateway_answers_and_otherwise_after_a_minute() {
        let troubled = Bucket::full(100, 0).troubled(None, 1000);
        let (unheard, taken) = troubled.take(1000, 100, 31_000);
        assert_eq!((taken, unheard.rate, unheard.is_unheard(31_000)), (50, 50_000, true));
        assert_eq!(unheard.heard(31_000).take(1000, 100, 61_000).0.rate, 100_000);
        assert_eq!(unheard.take(1000, 100, 61_000 + 15_000).0.rate, 75_000);
    }

    #[test]
    fn one_failure_of_many_answers_is_no_overload() {
        assert!(is_overload(1, 1) && is_overload(1, 10) && is_overload(64, 64));
        assert!(!is_overload(1, 11) && !is_overload(0, 0));
    }

    #[test]
    fn retry_after_is_obeyed() {
        let bucket = Bucket::full(10, 0).troubled(Some(Duration::from_secs(30)), 1000);
        let (bucket, taken) = bucket.take(10, 10, 30_999);
        assert_eq!((taken, bucket.next_at(30_999)), (0, 31_000));
        assert!(bucket.take(10, 10, 31_000).1 > 0);
    }

    #[test]
    fn a_stop_ends_within_a_minute_and_one_question_tries() {
        let stopped = Bucket::full(10, 0).troubled(Some(Duration::from_secs(3_600)), 1000);
        assert_eq!(stopped.take(10, 10, 60_999).1, 0);
        let (trying, taken) = stopped.take(10, 10, 61_000);
        assert_eq!((taken, trying.take(10, 10, 90_999).1), (1, 0));
        // Where nothing was due, nobody tried.
        assert_eq!(trying.corrected(1).take(10, 10, 61_000).1, 1);
        // Where it is not answered, another one tries; where it is, all go on.
        assert_eq!(trying.take(10, 10, 91_000).1, 1);
        assert!(trying.heard(62_000).take(10, 10, 62_000).1 > 1);
        // The database's clock was hours ahead when it was stopped.
        let ahead = Bucket::full(10, 0).troubled(Some(Duration::from_secs(60)), 21_600_000).take(10, 10, 1_000).0;
        assert_eq!(ahead.next_at(1_000), 61_000);
    }

    #[test]
    fn a_clock_that_was_put_back_stops_nothing() {
        let (bucket, _) = Bucket::full(10, 10_000_000).take(10, 10, 10_000_000);
        let (bucket, taken) = bucket.take(10, 10, 5_000_000);
        assert_eq!(taken, 0);
        assert_eq!(bucket.take(10, 10, 5_001_000).1, 10);
        let troubled = Bucket::full(10, 10_000_000).troubled(None, 10_000_000).take(0, 10, 5_000_000).0;
        assert!(!troubled.take(0, 10, 5_060_000).0.is_unheard(5_060_000));
    }
}
