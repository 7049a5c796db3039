//! The policy of a recovery, and its poll intervals: older payments are polled less often.

use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeSet, HashMap},
    time::{Duration, SystemTime},
};

use tokio::time::Instant;

use crate::{error::PaymentError, validation::Checks, violation::Rule};

/// How [`Gateway::recover`](crate::Gateway::recover) polls payments.
///
/// ```
/// use std::time::Duration;
/// use kassa::RecoveryPolicy;
///
/// // Once through, at a start, and not for long.
/// let policy = RecoveryPolicy::default().with_deadline(Duration::from_secs(30));
/// assert_eq!((policy.interval, policy.at_once), (Duration::from_secs(10), 8));
/// ```
///
/// Source: every 10 seconds until Reject or Charge (`docs/interface.md#polling`).
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default))]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryPolicy {
    /// The time from the start of one query of a payment to the start of the next, while the payment is younger than 20
    /// minutes. Default: 10 s. Older payments are polled less often: every 6 intervals up to an age of 2 hours, every
    /// 60 up to a day, every 360 up to three days, and then every 8640: daily by default.
    #[cfg_attr(feature = "serde", serde(rename = "interval_ms", with = "crate::serialized::milliseconds"))]
    pub interval: Duration,
    /// The time limit of the recovery. Default: 20 minutes. Without `follow_new`, the time from a result until the next one is requested
    /// does not count: the caller may be delivering.
    #[cfg_attr(feature = "serde", serde(rename = "deadline_ms", with = "crate::serialized::milliseconds"))]
    pub deadline: Duration,
    /// How many payments are queried at the same time. Default: 8.
    pub at_once: u32,
    /// Whether later payments are polled, too, as by a back-end worker: the journal is read again after each interval, and the recovery
    /// continues until its deadline even if nothing is left. **Then only the recovery may deliver**: a program that also watches its own
    /// payment would deliver it twice. Default: off.
    #[cfg_attr(feature = "uniffi", uniffi(default = false))]
    pub follow_new: bool,
}

impl RecoveryPolicy {
    /// Sets the poll interval of new payments.
    #[must_use]
    pub fn with_interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// Sets the time limit of the recovery.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Sets how many payments are queried at the same time.
    #[must_use]
    pub fn with_at_once(self, at_once: u32) -> Self {
        Self { at_once, ..self }
    }

    /// Sets whether later payments are polled, too.
    #[must_use]
    pub fn with_follow_new(self, follow_new: bool) -> Self {
        Self { follow_new, ..self }
    }

    pub(super) fn check(&self) -> Result<(), PaymentError> {
        let mut checks = Checks::default();
        for (field, value) in [("interval", self.interval), ("deadline", self.deadline)] {
            if value.is_zero() {
                checks.fail(field, Rule::Minimum, None, "must be longer than zero");
            }
        }
        if self.at_once == 0 {
            checks.fail("at_once", Rule::Minimum, Some("1"), "must be at least 1");
        }
        checks.finish()
    }
}

impl Default for RecoveryPolicy {
    fn default() -> Self {
        Self {
            interval: Duration::from_secs(10),
            deadline: Duration::from_secs(20 * 60),
            at_once: 8,
            follow_new: false,
        }
    }
}

// Poll intervals: older payments are polled less often.

/// The ages up to which a payment is polled, each with its multiple of the interval. After the last age it is polled once a day, if the
/// interval is 10 s.
const STEPS: [(Duration, u32); 4] = [
    (Duration::from_secs(20 * 60), 1),
    (Duration::from_secs(2 * 60 * 60), 6),
    (Duration::from_secs(24 * 60 * 60), 60),
    (Duration::from_secs(3 * 24 * 60 * 60), 360),
];
const AFTERWARDS: u32 = 8640;

/// The poll interval of a payment of this age.
pub(super) fn interval_at(age: Duration, interval: Duration) -> Duration {
    let step = STEPS.iter().find(|(until, _)| age < *until);
    interval.saturating_mul(step.map_or(AFTERWARDS, |(_, times)| *times))
}

/// How many of the newest claimed numbers are queried each time.
const NEWEST: usize = 4;
/// How many of the older claimed numbers are queried each time, in turn.
const IN_TURN: usize = 4;

/// The claimed numbers of a payment, the newest first, that are queried this time. In turn, all of them are.
pub(super) fn claims_to_query<T: Clone>(claims: &[T], turn: usize) -> Vec<T> {
    let (newest, older) = claims.split_at(claims.len().min(NEWEST));
    let in_turn = (0..older.len().min(IN_TURN)).map(|place| &older[(turn + place) % older.len()]);
    newest.iter().chain(in_turn).cloned().collect()
}

/// A payment that is due for a query at some time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) begun: SystemTime,
    pub(super) id: String,
    /// It was rejected, and is still polled.
    pub(super) has_ended: bool,
    /// Determines which of its older claimed numbers are next.
    pub(super) turn: usize,
    /// Mismatches in a row.
    pub(super) mismatches: u32,
    /// How many answers in a row only a person can fix.
    pub(super) odd: u32,
    /// When the query of the first of them began.
    pub(super) odd_since: Option<Instant>,
    /// The odd answers were reported.
    pub(super) odd_is_reported: bool,
}

/// The soonest is the greatest, because a heap returns the greatest first.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        fn place(due: &Due) -> (Instant, &str) {
            (due.at, &due.id)
        }
        place(other).cmp(&place(self))
    }
}

/// One of this many queries goes to the payment that has waited longest.
const LONGEST_ONE_IN: usize = 4;

/// The payments that are due while no further query may run: at the start, the whole journal. The youngest comes first, because its payer
/// waits; rejected ones come last. Every fourth query goes to the payment that has waited longest, so that none waits forever if the
/// gateway is slow.
#[derive(Default)]
pub(super) struct Overdue {
    payments: HashMap<String, Due>,
    by_age: BTreeSet<(bool, Reverse<SystemTime>, String)>,
    by_wait: BTreeSet<(Instant, String)>,
    taken: usize,
}

impl Overdue {
    pub(super) fn pop(&mut self) -> Option<Due> {
        self.taken = self.taken.wrapping_add(1);
        let is_longest = self.taken.is_multiple_of(LONGEST_ONE_IN);
        let id = if is_longest { &self.by_wait.first()?.1 } else { &self.by_age.first()?.2 };
        let due = self.payments.remove(id)?;
        self.leave(&due);
        Some(due)
    }

    fn leave(&mut self, due: &Due) {
        self.by_age.remove(&due.place());
        self.by_wait.remove(&(due.at, due.id.clone()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.payments.is_empty()
    }
}

impl Extend<Due> for Overdue {
    fn extend<T: IntoIterator<Item = Due>>(&mut self, due: T) {
        for due in due {
            let (age, wait) = (due.place(), (due.at, due.id.clone()));
            if let Some(before) = self.payments.insert(due.id.clone(), due) {
                self.leave(&before);
            }
            self.by_age.insert(age);
            self.by_wait.insert(wait);
        }
    }
}

impl Due {
    fn place(&self) -> (bool, Reverse<SystemTime>, String) {
        (self.has_ended, Reverse(self.begun), self.id.clone())
    }

    /// The next time, other numbers are queried.
    pub(super) fn next_turn(self) -> Self {
        Self { turn: self.turn.wrapping_add(IN_TURN), ..self }
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn due(now: Instant, second: u64, begun: u64, has_ended: bool) -> Due {
        Due {
            at: now + Duration::from_secs(second),
            begun: SystemTime::UNIX_EPOCH + Duration::from_secs(60 * begun),
            id: begun.to_string(),
            has_ended,
            turn: 0,
            mismatches: 0,
            odd: 0,
            odd_since: None,
            odd_is_reported: false,
        }
    }

    #[test]
    fn youngest_overdue_payment_goes_first() {
        let now = Instant::now();
        let mut overdue = Overdue::default();
        // The one of minute 2 has waited for the longest time.
        overdue
            .extend((0..7).map(|minute| due(now, u64::from(minute != 2), minute, false)).chain([due(now, 1, 9, true)]));
        // It takes the place of the one before.
        overdue.extend([due(now, 2, 5, false)]);
        let order: Vec<String> = std::iter::from_fn(|| overdue.pop()).map(|due| due.id).collect();
        assert_eq!(order, ["6", "5", "4", "2", "3", "1", "0", "9"]);
        assert!(overdue.is_empty());
    }

    /// The gateway is so slow that each payment is due again before the queries of the others are through.
    #[test]
    fn no_overdue_payment_waits_for_ever() {
        let now = Instant::now();
        let mut overdue = Overdue::default();
        overdue.extend((0..20).map(|minute| due(now, 0, minute, false)));
        let mut queried = HashSet::new();
        for second in 1..=80 {
            let next = overdue.pop().unwrap();
            queried.insert(next.id.clone());
            overdue.extend([Due { at: now + Duration::from_secs(second), ..next }]);
        }
        assert_eq!(queried.len(), 20);
    }

    #[test]
    fn newest_claims_are_always_queried_rest_rotate() {
        assert!(claims_to_query::<u8>(&[], 7).is_empty());
        for count in [1, 4, 5, 8, 9, 100, 1000] {
            let claims: Vec<usize> = (0..count).collect();
            let mut queried = HashSet::new();
            for round in 0..=count / IN_TURN {
                let now = claims_to_query(&claims, 17 + round * IN_TURN);
                assert!(now.len() <= NEWEST + IN_TURN && now.starts_with(&claims[..count.min(NEWEST)]), "{now:?}");
                queried.extend(now);
            }
            assert_eq!(queried.len(), count);
        }
    }
}
