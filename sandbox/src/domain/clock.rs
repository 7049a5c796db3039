//! Simulation clock: runs with the machine's clock and can be stepped forward, so that tests of days and months are quick and
//! deterministic. Its zone is Bishkek's, which has been UTC+6 without summer time since 2005.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use time::{
    Date, Month, OffsetDateTime, UtcOffset,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::{format_description, offset},
};

/// Bishkek time.
pub(crate) const ZONE: UtcOffset = offset!(+6);
const LOCAL_DATE_TIME: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]");

/// The largest offset ahead of the machine's clock: a hundred years of 365 days.
pub(crate) const MAX_AHEAD_MS: i64 = 100 * 365 * 24 * 60 * 60 * 1000;

/// The simulation clock of a sandbox.
#[derive(Default)]
pub(crate) struct Clock {
    ahead_ms: AtomicI64,
}

impl Clock {
    /// Milliseconds since 1970, the stored form of times.
    pub(crate) fn now_ms(&self) -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX).saturating_add(self.ahead_ms())
    }

    /// Today in Bishkek.
    pub(crate) fn today(&self) -> Date {
        OffsetDateTime::from(system_time(self.now_ms())).to_offset(ZONE).date()
    }

    /// Its offset ahead of the machine's clock.
    pub(crate) fn ahead_ms(&self) -> i64 {
        self.ahead_ms.load(Ordering::Acquire)
    }

    /// Sets its offset.
    pub(crate) fn set_ahead_ms(&self, ahead_ms: i64) {
        self.ahead_ms.store(ahead_ms, Ordering::Release);
    }
}

/// A stored time as the standard library's type.
pub(crate) fn system_time(ms: i64) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(ms).unwrap_or_default())
}

/// A time as a date-time of RFC 3339, in UTC.
pub(crate) fn rfc_3339(time: SystemTime) -> Option<String> {
    OffsetDateTime::from(time).format(&Rfc3339).ok()
}

/// A stored time as a local date-time with seconds and no zone.
pub(crate) fn local_date_time(ms: i64) -> String {
    OffsetDateTime::from_unix_timestamp(ms.div_euclid(1000))
        .map(|time| time.to_offset(ZONE))
        .ok()
        .and_then(|time| time.format(LOCAL_DATE_TIME).ok())
        .unwrap_or_default()
}

/// Midnight of a day in Bishkek, as a stored time.
pub(crate) fn midnight(date: Date) -> i64 {
    date.midnight().assume_offset(ZONE).unix_timestamp() * 1000
}

/// The day of a stored time in Bishkek.
pub(crate) fn day(ms: i64) -> Date {
    OffsetDateTime::from_unix_timestamp(ms.div_euclid(1000)).map_or(Date::MIN, |time| time.to_offset(ZONE).date())
}

/// True if the last day of the month is later than today.
pub(crate) fn ends_after(year: i32, month: Month, today: Date) -> bool {
    Date::from_calendar_date(year, month, month.length(year)).is_ok_and(|last| last > today)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::date;

    #[test]
    fn local_date_time_has_seconds_and_no_zone() {
        assert_eq!(local_date_time(1_767_225_599_999), "2026-01-01T05:59:59");
    }

    #[test]
    fn card_expires_after_last_day_of_month() {
        let april = |today| ends_after(2026, Month::April, today);
        assert!(april(date!(2026 - 04 - 29)));
        assert!(!april(date!(2026 - 04 - 30)));
        assert!(!april(date!(2026 - 05 - 01)));
    }

    #[test]
    fn day_begins_at_midnight_in_bishkek() {
        let ms = 1_767_203_999_000; // 23:59:59 on the last of December there
        assert_eq!(day(ms).to_string(), "2025-12-31");
        assert_eq!(midnight(day(ms)), ms + 1000 - 86_400_000);
    }
}
