//! A date and a time of day without a zone.

use std::fmt;

use time::{Date, Month, PrimitiveDateTime, Time, format_description::BorrowedFormatItem, macros::format_description};

use crate::json::Json;

/// With or without seconds, with or without a fraction of up to nine digits.
const ISO: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute][optional [:[second][optional [.[subsecond]]]]]");

/// A date and a time of day **without a zone**: the interface does not say which zone its dates are in
/// (`docs/interface.md#callback-body`), so neither does Kassa.
///
/// ```
/// let moment = kassa::LocalDateTime::parse("2026-11-20T09:05:07.25").unwrap();
/// assert_eq!((moment.hour, moment.nanosecond), (9, 250_000_000));
/// assert_eq!(moment.to_string(), "2026-11-20T09:05:07.25");
/// ```
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(try_from = "serialized::Form"))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct LocalDateTime {
    /// The year.
    pub year: i32,
    /// The month, 1 to 12.
    pub month: u8,
    /// The day of the month, 1 to 31.
    pub day: u8,
    /// The hour, 0 to 23.
    pub hour: u8,
    /// The minute, 0 to 59.
    pub minute: u8,
    /// The second, 0 to 59; 0 if it is not given.
    pub second: u8,
    /// The fraction of the second in nanoseconds; 0 if it is not given.
    pub nanosecond: u32,
}

impl LocalDateTime {
    /// Reads `2026-11-20T09:05`, with or without seconds and a fraction of them.
    pub fn parse(text: &str) -> Option<Self> {
        PrimitiveDateTime::parse(text, ISO).ok().map(Self::from_parts)
    }

    /// Reads the text form, or the array form of Java: `[2026,11,20,9,5]`, with or without seconds and nanoseconds.
    pub(crate) fn from_json(json: Json<'_>) -> Option<Self> {
        match json.items() {
            Some(items) => Self::from_numbers(&items.map(whole_number).collect::<Option<Vec<_>>>()?),
            None => Self::parse(&json.text()?),
        }
    }

    fn from_numbers(numbers: &[u32]) -> Option<Self> {
        let (&[year, month, day, hour, minute], rest) = numbers.split_first_chunk()?;
        let (second, nanosecond) = match rest {
            [] => (0, 0),
            [second] => (*second, 0),
            [second, nanosecond] => (*second, *nanosecond),
            _ => return None,
        };
        let month = Month::try_from(u8::try_from(month).ok()?).ok()?;
        let date = Date::from_calendar_date(year.try_into().ok()?, month, day.try_into().ok()?).ok()?;
        let (hour, minute, second) = (hour.try_into().ok()?, minute.try_into().ok()?, second.try_into().ok()?);
        let time = Time::from_hms_nano(hour, minute, second, nanosecond).ok()?;
        Some(Self::from_parts(PrimitiveDateTime::new(date, time)))
    }

    fn from_parts(moment: PrimitiveDateTime) -> Self {
        Self {
            year: moment.year(),
            month: moment.month().into(),
            day: moment.day(),
            hour: moment.hour(),
            minute: moment.minute(),
            second: moment.second(),
            nanosecond: moment.nanosecond(),
        }
    }
}

fn whole_number(json: Json<'_>) -> Option<u32> {
    json.text()?.parse().ok()
}

impl fmt::Display for LocalDateTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { year, month, day, hour, minute, second, nanosecond } = self;
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")?;
        if *nanosecond > 0 {
            write!(f, ".{}", format!("{nanosecond:09}").trim_end_matches('0'))?;
        }
        Ok(())
    }
}

/// Deserialization (serde): only a moment that exists.
#[cfg(feature = "serde")]
mod serialized {
    use serde::Deserialize;

    use super::LocalDateTime;

    #[derive(Deserialize)]
    pub(super) struct Form {
        year: u32,
        month: u32,
        day: u32,
        hour: u32,
        minute: u32,
        second: u32,
        nanosecond: u32,
    }

    impl TryFrom<Form> for LocalDateTime {
        type Error = &'static str;

        fn try_from(form: Form) -> Result<Self, Self::Error> {
            let Form { year, month, day, hour, minute, second, nanosecond } = form;
            Self::from_numbers(&[year, month, day, hour, minute, second, nanosecond])
                .ok_or("a date and time that there is not")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Document;

    fn read(json: &str) -> Option<String> {
        LocalDateTime::from_json(Document::parse(json).unwrap().root()).map(|moment| moment.to_string())
    }

    #[test]
    fn every_form_of_a_local_date_time_is_read() {
        for (json, text) in [
            (r#""2026-11-20T09:05""#, "2026-11-20T09:05:00"),
            (r#""2026-11-20T09:05:07""#, "2026-11-20T09:05:07"),
            (r#""2026-11-20T09:05:07.123456789""#, "2026-11-20T09:05:07.123456789"),
            ("[2026,11,20,9,5]", "2026-11-20T09:05:00"),
            ("[2026,11,20,9,5,7]", "2026-11-20T09:05:07"),
            ("[2026,11,20,9,5,7,500000000]", "2026-11-20T09:05:07.5"),
        ] {
            assert_eq!(read(json).as_deref(), Some(text));
        }
        for json in [
            r#""2026-02-30T00:00""#,
            r#""2026-11-20T09:05:07Z""#,
            r#""yesterday""#,
            "[2026,13,1,0,0]",
            "[2026,11,20]",
            "[2026,11,20,9,5,7,1,1]",
            "[2026,11,20,9,-5]",
            "null",
            "{}",
        ] {
            assert_eq!(read(json), None, "{json}");
        }
    }
}
