//! Poll intervals by the age of a payment, the poll rate of the whole fleet and of each method, and the pauses between
//! deliveries. Pure functions of time.

pub mod bucket;
pub mod queues;
pub mod rate_limit;
#[cfg(test)]
mod simulation;

use crate::values::Millis;

// A database clock that is set back. Times that were stored before are then too far ahead: a payment that was due in ten
// seconds would be queried hours later. So the latest time is stored, and if the clock shows an earlier one, all future times
// are moved back by the difference.

/// The interval at which the time is stored, and the least step back of the clock that moves stored times.
const STORED_EVERY: Millis = 60_000;

/// The change of the clock against the latest stored time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// Nothing to do yet.
    Small,
    /// It went forward: the time must be stored.
    Forward,
    /// It was set back by this much: future times must be moved back, and the time must be stored.
    SetBack(Millis),
}

/// Compares the clock with the latest stored time.
pub fn clock_change(seen: Millis, now: Millis) -> ClockChange {
    match now - seen {
        since if since >= STORED_EVERY => ClockChange::Forward,
        since if since < -STORED_EVERY => ClockChange::SetBack(-since),
        _ => ClockChange::Small,
    }
}

// Pauses between attempts to deliver an event (backoff): growing, over three days.

const PAUSES: [Millis; 8] = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/// The time of nothing but failures after which a stream of events is given up.
pub const GIVEN_UP_AFTER: Millis = 72 * HOUR;

/// The number of refusals after which an event that requires no action is skipped.
pub const SKIP_AFTER: u32 = 5;

/// The pause after this many failed attempts, counted from 1.
pub fn pause_after(failures: u32) -> Millis {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES.get(index).copied().unwrap_or(PAUSES[PAUSES.len() - 1])
}

// When a payment is polled again: the older it is, the less often (`docs/server-design.md#polling`).

const SECOND: Millis = 1000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;
const DAY: Millis = 24 * HOUR;

/// The poll intervals, by the age of the payment.
const STEPS: [(Millis, Millis); 4] =
    [(20 * MINUTE, 10 * SECOND), (2 * HOUR, MINUTE), (DAY, 10 * MINUTE), (STUCK_AFTER, HOUR)];

/// From this age on a payment needs a person, and is polled daily.
pub const STUCK_AFTER: Millis = 3 * DAY;

/// From this age on, a pay-form whose claims were all declined is no longer polled, nor is a payment that a person resolved.
pub const FORGOTTEN_AFTER: Millis = 30 * DAY;

/// The time for which a payment is polled after it ended without a charge, as a gateway may report a charge afterwards.
pub const POLLED_AFTER_END: Millis = 3 * DAY;

/// The least time between two queries about one payment, regardless of the number of hints: one payer who keeps pressing a button
/// must not use up the shared rate.
pub const LEAST_DISTANCE: Millis = SECOND;

/// Jitter: the range of the next query, in thousandths of the interval. It is small while a payer waits. Otherwise it is large,
/// and rather sooner than later, so that payments that an outage made due at once are soon spread again.
const JITTER: (Millis, Millis) = (950, 1050);
const WIDE_JITTER: (Millis, Millis) = (700, 1050);

/// The order of polls that are due at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// A hint says that there may be news.
    Hinted = 0,
    /// Its payer may be waiting.
    Fresh = 1,
    /// Older than 20 minutes.
    Old = 2,
}

impl Class {
    /// All classes, the most urgent first.
    pub const ALL: [Self; 3] = [Self::Hinted, Self::Fresh, Self::Old];

    /// The class by a payment's age.
    pub fn at_age(age: Millis) -> Self {
        if age < STEPS[0].0 { Self::Fresh } else { Self::Old }
    }
}

/// The time between two queries about a payment of this age.
pub fn interval_at(age: Millis) -> Millis {
    STEPS.iter().find(|(until, _)| age < *until).map_or(DAY, |(_, interval)| *interval)
}

/// The time between two polls of a payment that ended without a charge this long ago: twice that time, from ten seconds to a day.
/// `None` if it is no longer polled.
pub fn interval_after_end(age: Millis) -> Option<Millis> {
    (age < POLLED_AFTER_END).then(|| (2 * age).clamp(10 * SECOND, DAY))
}

/// The interval with jitter, so that payments begun together are not polled together forever. `random` is any
/// number; its remainder is used.
pub fn jittered(interval: Millis, random: u32) -> Millis {
    let (least, most) = if interval > MINUTE { WIDE_JITTER } else { JITTER };
    let per_mille = least + Millis::from(random) % (most - least + 1);
    interval.saturating_mul(per_mille) / 1000
}

#[cfg(test)]
mod clock_tests {
    use super::*;

    #[test]
    fn clock_set_back_is_detected() {
        let small = [(0, 0), (0, 59_999), (60_000, 0)].map(|(seen, now)| clock_change(seen, now));
        assert_eq!(small, [ClockChange::Small; 3]);
        assert_eq!(clock_change(0, 60_000), ClockChange::Forward);
        assert_eq!(clock_change(21_600_000, 0), ClockChange::SetBack(21_600_000));
    }
}

#[cfg(test)]
mod pauses_tests {
    use super::*;

    #[test]
    fn webhook_is_retried_twelve_times_in_three_days() {
        assert_eq!((pause_after(1), pause_after(4), pause_after(99)), (5 * SECOND, 10 * MINUTE, 12 * HOUR));
        let mut passed = 0;
        let attempts = (1..).take_while(|failures| {
            passed += pause_after(*failures);
            passed < GIVEN_UP_AFTER
        });
        assert_eq!(attempts.count(), 12);
    }
}

#[cfg(test)]
mod schedule_tests {
    use super::*;

    #[test]
    fn poll_interval_grows_with_payment_age() {
        for (age, interval) in [
            (0, 10 * SECOND),
            (20 * MINUTE - 1, 10 * SECOND),
            (20 * MINUTE, MINUTE),
            (2 * HOUR, 10 * MINUTE),
            (DAY, HOUR),
            (3 * DAY, DAY),
            (300 * DAY, DAY),
        ] {
            assert_eq!(interval_at(age), interval, "{age}");
        }
        assert_eq!((Class::at_age(0), Class::at_age(20 * MINUTE)), (Class::Fresh, Class::Old));
    }

    #[test]
    fn polls_after_final_state_back_off_and_stop() {
        let (mut age, mut polled_at) = (0, Vec::new());
        while let Some(interval) = interval_after_end(age) {
            age += interval;
            polled_at.push(age);
        }
        assert!((8..=14).contains(&polled_at.len()), "{polled_at:?}");
        assert!(polled_at.windows(2).all(|pair| pair[1] - pair[0] >= pair[0].min(DAY)), "{polled_at:?}");
        assert!((POLLED_AFTER_END..=POLLED_AFTER_END + DAY).contains(&age), "{polled_at:?}");
    }

    #[test]
    fn poll_jitter_is_small_for_short_intervals() {
        let spread = |interval| {
            let all: Vec<_> = (0..=1000).map(|random| jittered(interval, random)).collect();
            (all.iter().min().copied().unwrap_or(0), all.iter().max().copied().unwrap_or(0))
        };
        assert_eq!(spread(10 * SECOND), (9500, 10_500));
        assert_eq!(spread(HOUR), (42 * MINUTE, 63 * MINUTE));
    }
}
