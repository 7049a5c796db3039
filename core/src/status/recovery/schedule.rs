//! When payments are asked about again: the older one is, the less often.

use std::{cmp::Ordering, time::Duration, time::SystemTime};

use tokio::time::Instant;

/// Up to which age a payment is asked about every how many intervals. From the last age on it is once a day, where the
/// interval is 10 s.
const STEPS: [(Duration, u32); 4] = [
    (Duration::from_secs(20 * 60), 1),
    (Duration::from_secs(2 * 60 * 60), 6),
    (Duration::from_secs(24 * 60 * 60), 60),
    (Duration::from_secs(3 * 24 * 60 * 60), 360),
];
const AFTERWARDS: u32 = 8640;

/// The time between two questions about a payment of this age.
pub(super) fn interval_at(age: Duration, interval: Duration) -> Duration {
    let step = STEPS.iter().find(|(until, _)| age < *until);
    interval.saturating_mul(step.map_or(AFTERWARDS, |(_, times)| *times))
}

/// How many of the numbers that were claimed last are asked about each time.
const NEWEST: usize = 4;
/// And how many of the older ones, in turn.
const IN_TURN: usize = 4;

/// Which of many numbers that were claimed for a payment, the last one first, are asked about this time: all of them come up.
pub(super) fn claims_to_ask<T: Clone>(claims: &[T], turn: usize) -> Vec<T> {
    let (newest, older) = claims.split_at(claims.len().min(NEWEST));
    let in_turn = (0..older.len().min(IN_TURN)).map(|place| &older[(turn + place) % older.len()]);
    newest.iter().chain(in_turn).cloned().collect()
}

/// A payment that is to be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) begun: SystemTime,
    pub(super) id: String,
    /// It was rejected, and is asked about all the same.
    pub(super) has_ended: bool,
    /// Which of the older numbers that were claimed for it are next.
    pub(super) turn: usize,
    /// In a row.
    pub(super) mismatches: u32,
    /// Answers in a row that only a person can mend.
    pub(super) odd: u32,
    /// When the first of them was asked for.
    pub(super) odd_since: Option<Instant>,
    /// That they came was told.
    pub(super) odd_is_told: bool,
}

/// The soonest is the greatest, as a heap gives that first; of two at once one that has not ended, and then the older payment.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        fn place(due: &Due) -> (Instant, bool, SystemTime, &str) {
            (due.at, due.has_ended, due.begun, &due.id)
        }
        place(other).cmp(&place(self))
    }
}

impl Due {
    /// The next time, other numbers are asked about.
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

    #[test]
    fn of_many_claims_the_newest_are_asked_about_each_time_and_the_others_in_turn() {
        assert!(claims_to_ask::<u8>(&[], 7).is_empty());
        for count in [1, 4, 5, 8, 9, 100, 1000] {
            let claims: Vec<usize> = (0..count).collect();
            let mut asked = HashSet::new();
            for round in 0..=count / IN_TURN {
                let now = claims_to_ask(&claims, 17 + round * IN_TURN);
                assert!(now.len() <= NEWEST + IN_TURN && now.starts_with(&claims[..count.min(NEWEST)]), "{now:?}");
                asked.extend(now);
            }
            assert_eq!(asked.len(), count);
        }
    }
}
