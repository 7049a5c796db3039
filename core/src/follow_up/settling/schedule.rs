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

/// A payment that is to be asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Due {
    pub(super) at: Instant,
    pub(super) begun: SystemTime,
    pub(super) id: String,
    /// In a row.
    pub(super) contradictions: u32,
    /// Answers in a row that only a person can mend.
    pub(super) odd: u32,
}

/// The soonest is the greatest, as a heap gives that first; of two at once the older payment.
impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.begun, &other.id).cmp(&(self.at, self.begun, &self.id))
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
