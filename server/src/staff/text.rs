//! Moments, days and money as texts.

use kassa::Decimal;
use time::{Date, OffsetDateTime, format_description::FormatItem, macros::format_description};

use crate::values::Millis;

/// Bishkek is six hours ahead of UTC, all year.
const BISHKEK: Millis = 6 * 3600 * 1000;
const DAY: &[FormatItem<'_>] = format_description!("[year]-[month]-[day]");
const MOMENT: &[FormatItem<'_>] = format_description!("[year]-[month]-[day] [hour]:[minute]:[second]Z");

fn of(at: Millis) -> Option<OffsetDateTime> {
    OffsetDateTime::from_unix_timestamp(at.div_euclid(1000)).ok()
}

/// A moment in UTC: `2026-11-23 10:30:05Z`.
pub(super) fn moment(at: Millis) -> String {
    of(at).and_then(|at| at.format(MOMENT).ok()).unwrap_or_else(|| at.to_string())
}

/// The day in Bishkek that a moment is of: `2026-11-23`.
pub(super) fn day(at: Millis) -> String {
    of(at.saturating_add(BISHKEK)).and_then(|at| at.format(DAY).ok()).unwrap_or_else(|| at.to_string())
}

/// A day that somebody wrote.
pub(super) fn date(day: &str) -> Option<Date> {
    Date::parse(day, DAY).ok()
}

/// The first moment of a day in Bishkek.
pub(super) fn first_moment(day: &str) -> Option<Millis> {
    date(day)?.midnight().assume_utc().unix_timestamp().checked_mul(1000)?.checked_sub(BISHKEK)
}

/// An amount, digit for digit, with its currency.
pub(super) fn money(amount: Decimal, currency: &str) -> String {
    format!("{amount} {currency}")
}

/// One or many.
pub(super) fn count(count: u64, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_in_bishkek() {
        let midnight = first_moment("2026-11-23").unwrap();
        assert_eq!(moment(midnight), "2026-11-22 18:00:00Z");
        assert_eq!([day(midnight - 1), day(midnight)], ["2026-11-22", "2026-11-23"]);
        assert_eq!(moment(-1), "1969-12-31 23:59:59Z");
        for text in ["", "2026-11-31", "2026-1-1", "23.11.2026", "2026-11-23T00:00:00Z"] {
            assert_eq!(first_moment(text), None, "{text}");
        }
    }
}
