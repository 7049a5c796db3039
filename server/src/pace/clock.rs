//! A database clock that is set back. Times that were stored before are then too far ahead: a payment that was due in ten seconds
//! would be asked about hours later. So the latest time that was seen is stored, and where the clock shows an earlier one, all times
//! ahead are moved back by the difference.

use crate::values::Millis;

/// How often the time is stored, and how far back the clock has to go before stored times are moved.
const STORED_EVERY: Millis = 60_000;

/// How the clock stands to the latest time that was stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChange {
    /// Nothing to do yet.
    Small,
    /// It went on: the time is to be stored.
    Forward,
    /// It was set back by so much: times ahead are to be moved back by it, and the time is to be stored.
    SetBack(Millis),
}

/// Compares the clock with the latest time that was stored.
pub fn clock_change(seen: Millis, now: Millis) -> ClockChange {
    match now - seen {
        since if since >= STORED_EVERY => ClockChange::Forward,
        since if since < -STORED_EVERY => ClockChange::SetBack(-since),
        _ => ClockChange::Small,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_is_noticed_and_one_that_is_adjusted_is_not() {
        let small = [(0, 0), (0, 59_999), (60_000, 0)].map(|(seen, now)| clock_change(seen, now));
        assert_eq!(small, [ClockChange::Small; 3]);
        assert_eq!(clock_change(0, 60_000), ClockChange::Forward);
        assert_eq!(clock_change(21_600_000, 0), ClockChange::SetBack(21_600_000));
    }
}
