//! Rate limit of the HTTP requests of polls, for the whole fleet: one token bucket for all, and one for each method. So a method
//! whose endpoint hangs or is overloaded slows down no other method. The state is in the database, shared by all workers.

use std::time::Duration;

use super::{
    bucket::{Bucket, LONGEST_STOP},
    queues::{METHODS, QUEUES, Queue, Slots, next_queue, requests_of},
};
use crate::values::{Method, Millis};

/// The share of failed responses that counts as overload. Of thousands a second some always fail, and halving the rate
/// for each would leave almost none.
const SHARE_OF_FAILURES: usize = 10;

/// Whether this many failures in one batch of responses are a reason to query less.
pub fn is_overload(failures: usize, answers: usize) -> bool {
    failures > 0 && failures.saturating_mul(SHARE_OF_FAILURES) >= answers
}

/// The limit, as the database stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollLimit {
    /// The bucket of all requests.
    pub all: Bucket,
    /// The bucket of each method.
    pub methods: [Bucket; METHODS],
    /// The number of granted polls, by which queues take turns.
    pub turn: i64,
}

impl PollLimit {
    /// An unused limit, with full buckets.
    pub fn full(per_second: u32, now: Millis) -> Self {
        let bucket = Bucket::full(per_second, now);
        Self { all: bucket, methods: [bucket; METHODS], turn: 0 }
    }

    /// Grants due polls of each queue, if there are slots. Their requests are taken out of the buckets.
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

    /// Puts back the requests of each method that were granted and not made, or takes the excess. A stop
    /// that began after the grant stays.
    #[must_use]
    pub fn corrected(mut self, unused: &[i64; METHODS], granted: &Self) -> Self {
        self.all = self.all.corrected(unused.iter().sum(), granted.all);
        for ((bucket, unused), granted) in self.methods.iter_mut().zip(unused).zip(granted.methods) {
            *bucket = bucket.corrected(*unused, granted);
        }
        self
    }

    /// Whether it was written before the clock was set back: then it is written again.
    pub fn is_ahead(&self, now: Millis) -> bool {
        let is_ahead = |bucket: &Bucket| bucket.filled_at > now || bucket.not_before > now.saturating_add(LONGEST_STOP);
        is_ahead(&self.all) || self.methods.iter().any(is_ahead)
    }

    /// Applies the gateway's state, as the responses about a method's payments show it.
    #[must_use]
    pub fn with_feedback(mut self, method: Method, heard: &GatewayFeedback, now: Millis) -> Self {
        let before = *self.of(method);
        let mut bucket = heard.overloads.iter().fold(before, |bucket, wait| bucket.failed(*wait, now));
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

    /// The time until the next poll can start, by the due times of each queue. Methods without a free slot
    /// wait for a response, not for time.
    pub fn next_in(&self, next: &[Option<Millis>; QUEUES], places: Slots, now: Millis) -> Option<Millis> {
        let ready_in = |queue: Queue| {
            let at = next[queue.index()].filter(|_| places.has_room(queue.method))?;
            Some(at.max(self.of(queue.method).next_at(now)).max(self.all.next_at(now)) - now)
        };
        Queue::all().filter_map(ready_in).min().map(|wait| wait.max(0))
    }

    /// The rest of the longest pause of any method's polling, as the gateway's `Retry-After` caused it.
    pub fn longest_stop(&self, now: Millis) -> Millis {
        self.methods.iter().map(|bucket| (bucket.not_before - now).clamp(0, LONGEST_STOP)).max().unwrap_or_default()
    }

    fn filled(mut self, per_second: u32, now: Millis) -> Self {
        self.all = self.all.filled(per_second, now);
        self.methods = self.methods.map(|bucket| bucket.filled(per_second, now));
        self
    }
}

/// The state of the gateway, by the responses of one batch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayFeedback {
    /// Each overload, with its `Retry-After`.
    pub overloads: Vec<Option<Duration>>,
    /// Whether it answers.
    pub is_well: bool,
}

/// Logs once that the gateway sent `Retry-After`, and once that it answers again.
fn tell_of_stop(method: Method, before: &Bucket, after: &Bucket, now: Millis) {
    match (before.is_stopped(), after.is_stopped()) {
        (false, true) => {
            let wait_ms = after.not_before - now;
            tracing::warn!(
                target: "kassa_server", %method, wait_ms,
                "the gateway sent Retry-After: polling of this method pauses, then one query tries"
            );
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
    use crate::pace::{Class, bucket::WHOLE};

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
        let failing = GatewayFeedback { overloads: vec![None], is_well: false };
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
        // A poll that took fewer requests leaves them to the next one.
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
        let stop = GatewayFeedback { overloads: vec![Some(Duration::from_secs(60))], is_well: false };
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
    fn single_failure_is_not_overload() {
        assert!(is_overload(1, 1) && is_overload(1, 10) && is_overload(64, 64));
        assert!(!is_overload(1, 11) && !is_overload(0, 0));
    }
}
