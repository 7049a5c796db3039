//! A database's clock that is put back. What was written down before lies too far away then: a payment that was due in ten seconds
//! would be asked about hours later. So the latest moment that was seen is written down, now and then, and where the clock shows an
//! earlier one, all that lies ahead comes nearer by as much.

use crate::values::Millis;

/// How often the moment is written down, and how far back the clock has to go before anything is done about it.
const NOTED_EVERY: Millis = 60_000;

/// What to do about a moment, by the latest one that was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// Nothing yet.
    Little,
    /// Write it down.
    Enough,
    /// The clock was put back by so much: what lies ahead comes nearer by it, and the moment is written down.
    Back(Millis),
}

/// Compares a moment with the latest one that was written down.
pub fn passed(seen: Millis, now: Millis) -> Passed {
    match now - seen {
        since if since >= NOTED_EVERY => Passed::Enough,
        since if since < -NOTED_EVERY => Passed::Back(-since),
        _ => Passed::Little,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_was_put_back_is_noticed_and_one_that_is_adjusted_is_not() {
        assert_eq!([passed(0, 0), passed(0, 59_999), passed(60_000, 0)], [Passed::Little; 3]);
        assert_eq!(passed(0, 60_000), Passed::Enough);
        assert_eq!(passed(21_600_000, 0), Passed::Back(21_600_000));
    }
}
