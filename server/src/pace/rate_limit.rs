//! Rate limit of HTTP requests that ask about payments, for the whole fleet: one token bucket for all, and one for each method.
//! That of a method is halved where the gateway says 429 or fails, recovers by and by once it answers, and stands still while
//! `Retry-After` lasts, a minute at most. Then one question tries whether the gateway answers again (half-open circuit breaker).
//! So a method whose endpoint hangs or is overloaded slows down no other one. The state is in the database, shared by all workers.

use std::time::Duration;

use super::queues::{METHODS, QUEUES, Queue, Slots, next_queue, requests_of};
use crate::values::{Method, Millis, millis};

/// In which time the rate recovers from nothing to its most.
const RECOVERY: Millis = 60_000;
/// For how long after trouble it does not recover, unless the gateway answers sooner (half-open circuit breaker). One that lets
/// everything time out says so once in 30 s: in between the rate would be back.
const UNHEARD_FOR: Millis = 60_000;
/// The longest stop that the gateway can ask for: one response that names an hour must not stop everything for so long.
pub const LONGEST_STOP: Millis = 60_000;
/// After a stop, so long after one question another one tries, where the first one was not answered.
const TRIES_EVERY: Millis = 30_000;
/// Trouble that many workers meet at once halves the rate once.
const HALVED_AT_MOST_EVERY: Millis = 1_000;
/// So much time's requests may be owed at most.
const MOST_DEBT: Millis = 30_000;
/// Tokens and rates are kept in thousandths, as whole numbers.
const WHOLE: Millis = 1_000;

/// From which part of the answers on trouble is the gateway's (overload): of thousands a second one or another fails all the time,
/// and halving the rate for each would leave hardly any.
const SHARE_OF_TROUBLE: usize = 10;

/// Whether so many troubles among so many answers, which came together, are a reason to ask less.
pub fn is_overload(troubles: usize, answers: usize) -> bool {
    troubles > 0 && troubles.saturating_mul(SHARE_OF_TROUBLE) >= answers
}

/// The limit, as the database keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollLimit {
    /// That of all requests.
    pub all: Bucket,
    /// That of each method's.
    pub methods: [Bucket; METHODS],
    /// How many questions were granted: by it queues take turns.
    pub turn: i64,
}

impl PollLimit {
    /// One that nobody used yet.
    pub fn full(per_second: u32, now: Millis) -> Self {
        let bucket = Bucket::full(per_second, now);
        Self { all: bucket, methods: [bucket; METHODS], turn: 0 }
    }

    /// How many questions of each queue may be asked now, of so many that are due, where there are places. Their requests are
    /// taken out of the buckets.
    #[must_use]
    pub fn grant(
        mut self,
        due: &[u32; QUEUES],
        mut places: Slots,
        per_second: u32,
        now: Millis,
    ) -> (Self, [u32; QUEUES]) {
        self = self.filled(per_second, now);
        let mut granted = [0; QUEUES];
        while self.all.may_ask(now) {
            let is_ready = |queue: Queue| {
                granted[queue.index()] < due[queue.index()]
                    && places.has_room(queue.method)
                    && self.of(queue.method).may_ask(now)
            };
            let Some(queue) = next_queue(self.turn, is_ready) else { break };
            granted[queue.index()] += 1;
            places.take(queue.method);
            self.turn = self.turn.wrapping_add(1);
            let requests = requests_of(queue.method);
            self.all.spend(requests, now);
            self.methods[queue.method as usize].spend(requests, now);
        }
        (self, granted)
    }

    /// Puts back so many requests of each method's that were granted and not made, or takes what was made beyond. A stop that began
    /// after the grant stays.
    #[must_use]
    pub fn corrected(mut self, unused: &[i64; METHODS], granted: &Self) -> Self {
        self.all = self.all.corrected(unused.iter().sum(), granted.all);
        for ((bucket, unused), granted) in self.methods.iter_mut().zip(unused).zip(granted.methods) {
            *bucket = bucket.corrected(*unused, granted);
        }
        self
    }

    /// Whether it was written by a clock that was put back since: then it is written again.
    pub fn is_ahead(&self, now: Millis) -> bool {
        let is_ahead = |bucket: &Bucket| bucket.filled_at > now || bucket.not_before > now.saturating_add(LONGEST_STOP);
        is_ahead(&self.all) || self.methods.iter().any(is_ahead)
    }

    /// What answers about a method's payments said.
    #[must_use]
    pub fn with_feedback(mut self, method: Method, heard: &GatewayFeedback, now: Millis) -> Self {
        let before = *self.of(method);
        let mut bucket = heard.troubles.iter().fold(before, |bucket, wait| bucket.troubled(*wait, now));
        if heard.is_well {
            bucket = bucket.heard(now);
        }
        tell_of_stop(method, &before, &bucket, now);
        self.methods[method as usize] = bucket;
        self
    }

    /// The bucket of a method.
    pub fn of(&self, method: Method) -> &Bucket {
        &self.methods[method as usize]
    }

    /// The time until the next question can be asked, by when the next one of each queue is due. Methods without a place wait for
    /// an answer, not for time.
    pub fn next_in(&self, next: &[Option<Millis>; QUEUES], places: Slots, now: Millis) -> Option<Millis> {
        let ready_in = |queue: Queue| {
            let at = next[queue.index()].filter(|_| places.has_room(queue.method))?;
            Some(at.max(self.of(queue.method).next_at(now)).max(self.all.next_at(now)) - now)
        };
        Queue::all().filter_map(ready_in).min().map(|wait| wait.max(0))
    }

    /// How long no questions are asked still about any method's payments, as the gateway asked to wait: the longest of them.
    pub fn longest_stop(&self, now: Millis) -> Millis {
        self.methods.iter().map(|bucket| (bucket.not_before - now).clamp(0, LONGEST_STOP)).max().unwrap_or_default()
    }

    fn filled(mut self, per_second: u32, now: Millis) -> Self {
        self.all = self.all.filled(per_second, now);
        self.methods = self.methods.map(|bucket| bucket.filled(per_second, now));
        self
    }
}

/// What answers that came together say of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayFeedback {
    /// It is overloaded, each time, and asked to wait so long.
    pub troubles: Vec<Option<Duration>>,
    /// It answers.
    pub is_well: bool,
}

/// The state of a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bucket {
    /// Thousandths of requests that may be made now. Less than nothing where more were made.
    pub tokens: Millis,
    /// Thousandths of requests a second.
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
    fn full(per_second: u32, now: Millis) -> Self {
        let rate = Millis::from(per_second) * WHOLE;
        Self { tokens: rate, rate, filled_at: now, ..Self::default() }
    }

    fn may_ask(&self, now: Millis) -> bool {
        now >= self.not_before && self.tokens >= WHOLE
    }

    /// After a stop this is the one that tries.
    fn spend(&mut self, requests: u32, now: Millis) {
        self.tokens -= Millis::from(requests) * WHOLE;
        if self.is_stopped() {
            self.not_before = now.saturating_add(TRIES_EVERY);
        }
    }

    #[must_use]
    fn corrected(mut self, unused: i64, granted: Self) -> Self {
        self.tokens = self.tokens.saturating_add(unused.saturating_mul(WHOLE));
        if unused > 0 && self.is_stopped() && self.not_before == granted.not_before {
            // Nobody tried.
            self.not_before = self.not_before.min(self.filled_at);
        }
        self
    }

    /// The gateway has trouble: half the rate from now on, and nothing before it said so.
    #[must_use]
    fn troubled(mut self, retry_after: Option<Duration>, now: Millis) -> Self {
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
    fn heard(mut self, now: Millis) -> Self {
        self.recovers_at = self.recovers_at.min(now);
        self.not_before = 0;
        self
    }

    /// Whether it waits for the gateway to answer.
    pub fn is_unheard(&self, now: Millis) -> bool {
        self.recovers_at > now || self.is_stopped()
    }

    /// Whether the gateway asked to wait, and has not answered since.
    fn is_stopped(&self) -> bool {
        self.not_before > 0
    }

    /// When something may be asked again.
    fn next_at(&self, now: Millis) -> Millis {
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
        // What was asked beyond is made up for within half a minute, also at a rate that was lowered since.
        let tokens = self.tokens.max(-(self.rate * MOST_DEBT / 1000));
        self.tokens = (tokens + self.rate * passed / 1000).min(self.rate);
        self.filled_at = now;
        self
    }
}

/// Tells once that the gateway asked to wait, and once that it answers again.
fn tell_of_stop(method: Method, before: &Bucket, after: &Bucket, now: Millis) {
    match (before.is_stopped(), after.is_stopped()) {
        (false, true) => {
            let wait_ms = after.not_before - now;
            tracing::warn!(target: "kassa_server", %method, wait_ms, "the gateway asks to wait: no questions about such payments meanwhile, then one tries");
        }
        (true, false) => {
            tracing::info!(target: "kassa_server", %method, "the gateway answers again after a wait");
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::Class;

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

    fn due(of: &[(Class, Method, u32)]) -> [u32; QUEUES] {
        let mut due = [0; QUEUES];
        for (class, method, count) in of {
            due[Queue { class: *class, method: *method }.index()] = *count;
        }
        due
    }

    fn of_method(granted: &[u32; QUEUES], method: Method) -> u32 {
        Queue::all().filter(|queue| queue.method == method).map(|queue| granted[queue.index()]).sum()
    }

    #[test]
    fn failing_endpoint_does_not_slow_other_methods() {
        let failing = GatewayFeedback { troubles: vec![None], is_well: false };
        let mut limit = PollLimit::full(100, 0);
        for second in 1..10 {
            limit = limit.with_feedback(Method::Mbank, &failing, second * 1_000);
        }
        let due = due(&[(Class::Fresh, Method::Mbank, 400), (Class::Fresh, Method::Qr, 400)]);
        let (_, granted) = limit.grant(&due, Slots::new(1_000), 100, 10_000);
        assert_eq!(of_method(&granted, Method::Mbank), 1);
        assert_eq!(of_method(&granted, Method::Qr), 99);
    }

    #[test]
    fn hinted_polls_leave_share_to_other_classes() {
        let mut limit = PollLimit::full(10, 0);
        let due = due(&[
            (Class::Hinted, Method::Mbank, 400),
            (Class::Fresh, Method::Mbank, 400),
            (Class::Old, Method::Qr, 400),
        ]);
        let mut polls = [0; QUEUES];
        for now in (0..80_000).step_by(100) {
            let granted;
            (limit, granted) = limit.grant(&due, Slots::new(32), 10, now);
            polls.iter_mut().zip(granted).for_each(|(polls, granted)| *polls += granted);
        }
        let of = |class, method| polls[Queue { class, method }.index()];
        assert!(of(Class::Fresh, Method::Mbank) >= 190 && of(Class::Old, Method::Qr) >= 95, "{polls:?}");
        assert!(polls.iter().sum::<u32>() <= 810, "{polls:?}");
    }

    #[test]
    fn poll_limit_counts_requests_not_polls() {
        let due = due(&[(Class::Fresh, Method::PayForm, 400)]);
        let mut limit = PollLimit::full(10, 0);
        let mut polls = 0;
        for now in (0..=10_000).step_by(100) {
            let granted;
            (limit, granted) = limit.grant(&due, Slots::new(32), 10, now);
            polls += of_method(&granted, Method::PayForm);
        }
        // Three requests each, ten at once and a hundred in ten seconds; the last one may run ahead by two.
        assert!(3 * polls <= 10 + 100 + 2, "{polls} questions");
        // One whose question took fewer requests leaves them to the next one.
        let (limit, _) = PollLimit::full(3, 0).grant(&due, Slots::new(32), 3, 0);
        assert!(!limit.all.may_ask(0));
        let mut unused = [0; METHODS];
        unused[Method::PayForm as usize] = 2;
        assert!(limit.corrected(&unused, &limit).all.may_ask(0));
    }

    #[test]
    fn poll_limit_recovers_from_debt_at_lower_rate() {
        let mut limit = PollLimit::full(50, 0);
        limit.all.tokens = -350 * WHOLE;
        let due = due(&[(Class::Fresh, Method::Mbank, 1)]);
        // Nothing is written where nothing is granted: each look begins where it was written last.
        assert_eq!(of_method(&limit.grant(&due, Slots::new(1), 1, 20_000).1, Method::Mbank), 0);
        assert_eq!(of_method(&limit.grant(&due, Slots::new(1), 1, 60_000).1, Method::Mbank), 1);
    }

    #[test]
    fn poll_limit_from_the_future_is_detected() {
        let stop = GatewayFeedback { troubles: vec![Some(Duration::from_secs(60))], is_well: false };
        let limit = PollLimit::full(10, 1_000).with_feedback(Method::Qr, &stop, 50_000_000);
        assert!(limit.is_ahead(2_000) && !limit.is_ahead(50_000_000));
        assert!(PollLimit::full(10, 50_000_000).is_ahead(2_000) && !PollLimit::full(10, 1_000).is_ahead(2_000));
    }

    #[test]
    fn next_poll_time_ignores_full_methods() {
        let mut next = [None; QUEUES];
        next[Queue { class: Class::Fresh, method: Method::Mbank }.index()] = Some(0);
        let mut places = Slots::new(8);
        let limit = PollLimit::full(10, 0);
        assert_eq!(limit.next_in(&next, places, 5_000), Some(0));
        while places.has_room(Method::Mbank) {
            places.take(Method::Mbank);
        }
        assert_eq!(limit.next_in(&next, places, 5_000), None, "it waits for an answer");
        next[Queue { class: Class::Old, method: Method::Qr }.index()] = Some(9_000);
        assert_eq!(limit.next_in(&next, places, 5_000), Some(4_000));
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
        let bucket = Bucket::full(100, 0).troubled(None, 1000).troubled(None, 1500);
        assert_eq!(bucket.rate, 50_000);
        let bucket = bucket.troubled(None, 2000).heard(2000);
        assert_eq!(bucket.rate, 25_000);
        assert_eq!(bucket.take(1000, 100, 2000 + 60_000).1, 100);
    }

    #[test]
    fn poll_rate_recovers_on_response_or_time() {
        let troubled = Bucket::full(100, 0).troubled(None, 1000);
        let (unheard, taken) = troubled.take(1000, 100, 31_000);
        assert_eq!((taken, unheard.rate, unheard.is_unheard(31_000)), (50, 50_000, true));
        assert_eq!(unheard.heard(31_000).take(1000, 100, 61_000).0.rate, 100_000);
        assert_eq!(unheard.take(1000, 100, 61_000 + 15_000).0.rate, 75_000);
    }

    #[test]
    fn single_failure_is_not_overload() {
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
    fn paused_polling_resumes_with_one_poll() {
        let stopped = Bucket::full(10, 0).troubled(Some(Duration::from_secs(3_600)), 1000);
        assert_eq!(stopped.take(10, 10, 60_999).1, 0);
        let (trying, taken) = stopped.take(10, 10, 61_000);
        assert_eq!((taken, trying.take(10, 10, 90_999).1), (1, 0));
        // Where nothing was due, nobody tried.
        assert_eq!(trying.corrected(1, trying).take(10, 10, 61_000).1, 1);
        let stopped_since = trying.troubled(Some(Duration::from_secs(60)), 62_000);
        assert_eq!(stopped_since.corrected(1, trying).take(10, 10, 63_000).1, 0, "a stop that began since stays");
        // Where it is not answered, another one tries; where it is, all go on.
        assert_eq!(trying.take(10, 10, 91_000).1, 1);
        assert!(trying.heard(62_000).take(10, 10, 62_000).1 > 1);
        // The database's clock was hours ahead when it was stopped.
        let ahead = Bucket::full(10, 0).troubled(Some(Duration::from_secs(60)), 21_600_000).take(10, 10, 1_000).0;
        assert_eq!(ahead.next_at(1_000), 61_000);
    }

    #[test]
    fn poll_bucket_survives_clock_set_back() {
        let (bucket, _) = Bucket::full(10, 10_000_000).take(10, 10, 10_000_000);
        let (bucket, taken) = bucket.take(10, 10, 5_000_000);
        assert_eq!(taken, 0);
        assert_eq!(bucket.take(10, 10, 5_001_000).1, 10);
        let troubled = Bucket::full(10, 10_000_000).troubled(None, 10_000_000).take(0, 10, 5_000_000).0;
        assert!(!troubled.take(0, 10, 5_060_000).0.is_unheard(5_060_000));
    }
}
