//! Rate limits of callers, recent callers, and limits of log lines. They use bounded memory, in each process separately.
//!
//! Written here: the crate governor has a larger dependency tree than this file, and its keyed limits grow without bound.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

// Rate limit: a token bucket for each key (GCRA), stored as one moment.

/// The most keys that are remembered. Idle keys are forgotten; if none is idle, new keys share one bucket.
const MOST_KEYS: usize = 50_000;
/// The burst, in seconds of the rate.
const BURST_SECONDS: u32 = 10;
/// The interval at which idle buckets are removed.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

/// A number of calls in a period for each key, all at once or spread out.
///
/// ```
/// # use std::time::{Duration, Instant};
/// use kassa_server::RateLimit;
///
/// let limit = RateLimit::new(2, Duration::from_secs(10));
/// let now = Instant::now();
/// assert!(limit.take("shop", now).is_ok() && limit.take("shop", now).is_ok());
/// assert_eq!(limit.take("shop", now), Err(Duration::from_secs(5)));
/// assert!(limit.take("another", now).is_ok());
/// ```
#[derive(Debug)]
pub struct RateLimit<K> {
    /// The time from one call to the next, if they are spread evenly.
    interval: Duration,
    /// The burst: how far a bucket may run ahead.
    ahead: Duration,
    buckets: Mutex<Buckets<K>>,
}

#[derive(Debug)]
struct Buckets<K> {
    /// The time when each bucket is full again.
    full_at: HashMap<K, Instant>,
    shared: Option<Instant>,
    swept: Option<Instant>,
}

impl<K: Eq + Hash> RateLimit<K> {
    /// Permits `most` calls in `per`; at least one.
    pub fn new(most: u32, per: Duration) -> Self {
        let interval = per / most.max(1);
        let buckets = Buckets { full_at: HashMap::new(), shared: None, swept: None };
        Self { interval, ahead: per.saturating_sub(interval), buckets: Mutex::new(buckets) }
    }

    /// Permits this many calls a second, with a burst of ten seconds.
    pub fn per_second(most: u32) -> Self {
        Self::new(most.saturating_mul(BURST_SECONDS), Duration::from_secs(BURST_SECONDS.into()))
    }

    /// Takes one call of a key.
    ///
    /// # Errors
    /// The time until the next call is permitted: `Retry-After`.
    pub fn take(&self, key: K, now: Instant) -> Result<(), Duration> {
        let mut buckets = self.locked();
        let before = buckets.full_at.get(&key).copied();
        let has_room = before.is_some() || buckets.has_room(now);
        let before = if has_room { before } else { buckets.shared };
        let after = self.after(before, now)?;
        if has_room {
            buckets.full_at.insert(key, after);
        } else {
            buckets.shared = Some(after);
        }
        Ok(())
    }

    /// Whether a key would get a call now; none is taken. A key that is not remembered gets one.
    ///
    /// # Errors
    /// The time until the next call is permitted: `Retry-After`.
    pub fn peek(&self, key: &K, now: Instant) -> Result<(), Duration> {
        let full_at = self.locked().full_at.get(key).copied();
        self.after(full_at, now).map(drop)
    }

    /// The time when a bucket is full again after one more call.
    fn after(&self, full_at: Option<Instant>, now: Instant) -> Result<Instant, Duration> {
        let full_at = full_at.unwrap_or(now).max(now);
        match (full_at - now).checked_sub(self.ahead) {
            None | Some(Duration::ZERO) => Ok(full_at + self.interval),
            Some(wait) => Err(wait),
        }
    }

    /// A panic cannot leave the locked value half-written: every step leaves it whole.
    fn locked(&self) -> MutexGuard<'_, Buckets<K>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Eq + Hash> Buckets<K> {
    /// Whether a new key can be remembered. Idle ones are dropped, which changes nothing for them: their buckets are full.
    fn has_room(&mut self, now: Instant) -> bool {
        if self.swept.is_none_or(|swept| now.saturating_duration_since(swept) >= SWEEP_EVERY) {
            self.swept = Some(now);
            self.full_at.retain(|_, full_at| *full_at > now);
        }
        self.full_at.len() < MOST_KEYS
    }
}

// Recent callers: a bounded number of keys, each for a time.

/// Keys that called within a time. If there are too many, the oldest one is dropped.
#[derive(Debug)]
pub(crate) struct RecentCallers<K> {
    most: usize,
    within: Duration,
    seen: Mutex<HashMap<K, Instant>>,
}

impl<K: Copy + Eq + Hash> RecentCallers<K> {
    pub(crate) fn new(most: usize, within: Duration) -> Self {
        Self { most, within, seen: Mutex::default() }
    }

    pub(crate) fn note(&self, key: K, now: Instant) {
        let mut seen = self.locked();
        if seen.len() >= self.most && !seen.contains_key(&key) {
            let first = seen.iter().min_by_key(|(_, at)| **at).map(|(key, _)| *key);
            if let Some(first) = first {
                seen.remove(&first);
            }
        }
        seen.insert(key, now);
    }

    pub(crate) fn has(&self, key: K, now: Instant) -> bool {
        self.locked().get(&key).is_some_and(|at| now.saturating_duration_since(*at) < self.within)
    }

    /// A panic cannot leave the locked value half-written: every step leaves it whole.
    fn locked(&self) -> MutexGuard<'_, HashMap<K, Instant>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Log lines that any caller can trigger: they must not fill the disk.

/// The interval between two log lines of the same kind.
const EVERY: Duration = Duration::from_secs(60);

/// A kind of log lines: logged once a minute at most, with the number of lines suppressed since.
#[derive(Debug, Default)]
pub(crate) struct LogLimit(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Instant>,
    left_out: u64,
}

impl LogLimit {
    /// If a line is to be logged now: the number of lines suppressed since the last one (`repeated`).
    pub(crate) fn is_time(&self, now: Instant) -> Option<u64> {
        // The locked value is whole after every step, even after a panic.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| now.saturating_duration_since(last) < EVERY) {
            state.left_out = state.left_out.saturating_add(1);
            return None;
        }
        state.last = Some(now);
        Some(std::mem::take(&mut state.left_out))
    }
}

#[cfg(test)]
mod rate_tests {
    use super::*;

    const PER: Duration = Duration::from_secs(10);

    #[test]
    fn rate_limit_allows_burst_then_steady_rate() {
        let limit = RateLimit::new(5, PER);
        let mut now = Instant::now();
        let taken = (0..100).filter(|_| limit.take("a", now).is_ok()).count();
        assert_eq!(taken, 5);
        // What was refused cost nothing.
        let wait = limit.take("a", now).unwrap_err();
        assert_eq!(wait, PER / 5);
        now += wait;
        assert_eq!(limit.take("a", now), Ok(()));
        assert_eq!(limit.take("a", now), Err(PER / 5));
        assert_eq!(limit.take("b", now), Ok(()), "another has its own");
        now += 100 * PER;
        let taken = (0..100).filter(|_| limit.take("a", now).is_ok()).count();
        assert_eq!(taken, 5, "no more is saved up than a full bucket");
    }

    #[test]
    fn rate_limit_peek_consumes_nothing() {
        let (limit, now) = (RateLimit::new(1, PER), Instant::now());
        for _ in 0..3 {
            assert_eq!(limit.peek(&"a", now), Ok(()));
        }
        assert_eq!(limit.take("a", now), Ok(()));
        assert_eq!((limit.peek(&"a", now), limit.peek(&"b", now)), (Err(PER), Ok(())));
        assert_eq!(limit.peek(&"a", now + PER), Ok(()));
    }

    #[test]
    fn rate_limit_at_max_keys_shares_one_bucket() {
        let limit = RateLimit::new(3, PER);
        let now = Instant::now();
        for key in 0..MOST_KEYS {
            assert_eq!(limit.take(key, now), Ok(()));
        }
        let let_through = (MOST_KEYS..2 * MOST_KEYS).filter(|key| limit.take(*key, now).is_ok()).count();
        assert_eq!(let_through, 3, "new ones share one bucket");
        assert_eq!(limit.locked().full_at.len(), MOST_KEYS);
        assert_eq!(limit.take(7, now), Ok(()), "a known one has its own");
        // By now all but that one are idle.
        let later = now + PER / 3 + Duration::from_secs(1);
        assert_eq!(limit.take(2 * MOST_KEYS, later), Ok(()));
        assert_eq!(limit.locked().full_at.len(), 2);
    }
}

#[cfg(test)]
mod recent_tests {
    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[test]
    fn recent_caller_is_remembered_for_limited_time() {
        let (recent, now) = (RecentCallers::new(10, DAY), Instant::now());
        recent.note("a", now);
        let nearly = DAY - Duration::from_secs(1);
        assert!(recent.has("a", now + nearly) && !recent.has("a", now + DAY) && !recent.has("b", now));
        recent.note("a", now + nearly);
        assert!(recent.has("a", now + DAY), "the last time counts");
    }

    #[test]
    fn nobody_fills_the_memory() {
        let (recent, now) = (RecentCallers::new(10, DAY), Instant::now());
        for key in 0..100 {
            recent.note(key, now + Duration::from_secs(key));
            recent.note(0, now + Duration::from_secs(key));
        }
        assert_eq!(recent.locked().len(), 10);
        let later = now + Duration::from_secs(100);
        let known: Vec<u64> = (0..100).filter(|key| recent.has(*key, later)).collect();
        assert_eq!(known, [0, 91, 92, 93, 94, 95, 96, 97, 98, 99]);
    }
}

#[cfg(test)]
mod log_limit_tests {
    use super::*;

    #[test]
    fn log_limit_logs_suppressed_count_once_a_minute() {
        let (state, mut now) = (LogLimit::default(), Instant::now());
        assert_eq!(state.is_time(now), Some(0));
        for _ in 0..150 {
            assert_eq!(state.is_time(now), None);
        }
        now += EVERY - Duration::from_millis(1);
        assert_eq!(state.is_time(now), None);
        now += Duration::from_millis(1);
        assert_eq!(state.is_time(now), Some(151), "none is lost");
        assert_eq!(state.is_time(now), None);
        assert_eq!(state.is_time(now + 10 * EVERY), Some(1));
        assert_eq!(state.is_time(now + 20 * EVERY), Some(0));
    }
}
