//! Pauses between attempts to deliver an event (backoff): growing, over three days.

use crate::values::Millis;

const SECOND: Millis = 1000;
const MINUTE: Millis = 60 * SECOND;
const HOUR: Millis = 60 * MINUTE;

const PAUSES: [Millis; 8] = [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR];

/// After how long of nothing but failures a stream of events is given up.
pub const GIVEN_UP_AFTER: Millis = 72 * HOUR;

/// How often the shop refuses an event that asks it for nothing, before the stream steps over it.
pub const STEPPED_OVER_AFTER: u32 = 5;

/// The pause after the so-manieth failed attempt, counted from 1.
pub fn pause_after(failures: u32) -> Millis {
    let index = usize::try_from(failures.saturating_sub(1)).unwrap_or(usize::MAX);
    PAUSES.get(index).copied().unwrap_or(PAUSES[PAUSES.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_days_are_a_dozen_attempts() {
        assert_eq!((pause_after(1), pause_after(4), pause_after(99)), (5 * SECOND, 10 * MINUTE, 12 * HOUR));
        let mut passed = 0;
        let attempts = (1..).take_while(|failures| {
            passed += pause_after(*failures);
            passed < GIVEN_UP_AFTER
        });
        assert_eq!(attempts.count(), 12);
    }
}
