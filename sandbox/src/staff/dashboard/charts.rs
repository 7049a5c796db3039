//! Payments over time: by hour, day, week or month in Bishkek.

use std::collections::BTreeMap;

use askama::Template;
use axum::http::StatusCode;
use kassa_pages::chart::{self, About, Values};
use time::{Date, Duration, Month, OffsetDateTime, format_description::BorrowedFormatItem, macros::format_description};

use crate::{
    domain::clock,
    staff::{
        dashboard::{
            PageContext, PageResult,
            figures::{self, Row, Sums},
            text,
            transactions::{Choice, choices},
        },
        layout::{Section, Staff},
    },
    store::statistics::{self, PeriodCount, Unit},
    web::{self, Document, Policy},
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const AHEAD: i64 = 6 * HOUR;
const DAY_AND_MONTH: &[BorrowedFormatItem<'_>] = format_description!("[day padding:none] [month repr:short]");
const MONTH_AND_YEAR: &[BorrowedFormatItem<'_>] = format_description!("[month repr:short] [year]");
const HOUR_OF_DAY: &[BorrowedFormatItem<'_>] = format_description!("[hour]:00");

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Hour => "Hours",
            Self::Day => "Days",
            Self::Week => "Weeks",
            Self::Month => "Months",
        }
    }

    /// Periods per page.
    fn shown(self) -> i64 {
        match self {
            Self::Hour => 48,
            Self::Day => 30,
            Self::Week => 16,
            Self::Month => 12,
        }
    }

    /// The number of the period that contains a time, counted as in the store; months are counted here.
    fn period(self, ms: i64) -> i64 {
        match self {
            Self::Hour => (ms + AHEAD).div_euclid(HOUR),
            Self::Day => statistics::day(ms),
            Self::Week => (statistics::day(ms) + 3).div_euclid(7),
            Self::Month => {
                let date = clock::day(ms);
                i64::from(date.year()) * 12 + i64::from(u8::from(date.month())) - 1
            }
        }
    }

    /// The start of a period.
    fn start(self, period: i64) -> i64 {
        match self {
            Self::Hour => period * HOUR - AHEAD,
            Self::Day => period * DAY - AHEAD,
            Self::Week => (period * 7 - 3) * DAY - AHEAD,
            Self::Month => {
                let year = i32::try_from(period.div_euclid(12)).unwrap_or(1970);
                let month = u8::try_from(period.rem_euclid(12) + 1).ok().and_then(|month| Month::try_from(month).ok());
                let date = Date::from_calendar_date(year, month.unwrap_or(Month::January), 1);
                clock::midnight(date.unwrap_or(Date::MIN))
            }
        }
    }

    /// The short and the full label of a period.
    fn label(self, period: i64) -> (String, String) {
        let Ok(start) = OffsetDateTime::from_unix_timestamp(self.start(period) / 1000) else {
            return (text::NOTHING.to_owned(), text::NOTHING.to_owned());
        };
        let start = start.to_offset(clock::ZONE);
        let say = |format| start.format(format).unwrap_or_default();
        let day = say(DAY_AND_MONTH);
        match self {
            Self::Hour => (say(HOUR_OF_DAY), format!("{day}, {}", say(HOUR_OF_DAY))),
            Self::Day => (day.clone(), format!("{day} {}", start.year())),
            Self::Week => {
                let last = start.date() + Duration::days(6);
                let last = last.format(DAY_AND_MONTH).unwrap_or_default();
                (day.clone(), format!("{day} to {last}"))
            }
            Self::Month => (say(MONTH_AND_YEAR), say(MONTH_AND_YEAR)),
        }
    }
}

#[derive(Template)]
#[template(path = "staff/charts.html")]
struct Charts {
    document: Document,
    staff: Staff,
    units: Vec<Choice>,
    unit: &'static str,
    span: String,
    counts: String,
    amounts: String,
    currency: String,
    rows: Vec<Row>,
    earlier: i64,
    later: Option<i64>,
}

pub(super) fn page(context: &PageContext) -> PageResult {
    let unit = Unit::ALL.into_iter().find(|unit| unit.as_str() == context.request.query.get("by")).unwrap_or(Unit::Day);
    let now = unit.period(context.state.clock().now_ms());
    let requested: Option<i64> = context.request.query.get("end").parse().ok();
    // Pages before the first payments are empty; one before the calendar's start would have no label.
    let end = requested.unwrap_or(now).clamp(unit.period(0) + unit.shown(), now);
    let first = end - unit.shown() + 1;
    let counted = context
        .state
        .store
        .browse(|connection| statistics::by_time(connection, unit, unit.start(first), unit.start(end + 1)))?;
    let currency = main_currency(&counted);
    let sums = sums(unit, first, end, counted);
    let labels: Vec<String> = (first..=end).map(|period| unit.label(period).0).collect();
    let span = format!("{} to {}", unit.label(first).1, unit.label(end).1);
    let page = Charts {
        document: context.document.clone(),
        staff: context.staff(Section::Charts),
        units: choices(&Unit::ALL, Unit::as_str, Unit::name, Some(unit)),
        unit: unit.as_str(),
        counts: counts_chart(&span, labels.clone(), &sums),
        amounts: amounts_chart(&span, labels, &sums, &currency),
        currency,
        rows: figures::rows(
            (first..=end).rev().zip(sums.iter().rev()).map(|(period, sums)| (unit.label(period).1, sums)),
        ),
        span,
        earlier: first - 1,
        later: (end < now).then(|| (end + unit.shown()).min(now)),
    };
    Ok(web::page(StatusCode::OK, Policy::Staff, &page))
}

/// The currency of most payments.
fn main_currency(counted: &[PeriodCount]) -> String {
    let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
    for one in counted {
        *counts.entry(&one.currency).or_default() += one.count;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map_or("KGS", |(currency, _)| currency).to_owned()
}

fn sums(unit: Unit, first: i64, last: i64, counted: Vec<PeriodCount>) -> Vec<Sums> {
    let length = usize::try_from(last - first + 1).unwrap_or_default();
    let mut sums = vec![Sums::default(); length];
    for one in counted {
        let period = if unit == Unit::Month { unit.period(Unit::Day.start(one.period)) } else { one.period };
        let Some(sums) = usize::try_from(period - first).ok().and_then(|index| sums.get_mut(index)) else {
            continue;
        };
        sums.add(one.status, &one.currency, one.count, one.minor);
    }
    sums
}

fn counts_chart(span: &str, labels: Vec<String>, sums: &[Sums]) -> String {
    let values = |color: usize, of: fn(&Sums) -> i64| Values {
        name: text::OUTCOMES[color],
        color,
        values: sums.iter().map(|sums| of(sums) as f32).collect(),
    };
    let about = About {
        title: "Payments over time",
        description: &format!("Payments by outcome, {span}. The table has the figures."),
    };
    chart::bars(
        &about,
        labels,
        vec![values(0, |sums| sums.charged), values(1, |sums| sums.rejected), values(2, |sums| sums.open)],
    )
}

fn amounts_chart(span: &str, labels: Vec<String>, sums: &[Sums], currency: &str) -> String {
    let values = sums.iter().map(|sums| (sums.charged_minor(currency) / 100) as f32).collect();
    let about = About {
        title: "Charged amounts over time",
        description: &format!("Charged amounts in {currency}, {span}. The table has the figures."),
    };
    chart::bars(&about, labels, vec![Values { name: "Charged", color: 0, values }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn period_includes_start_and_excludes_end() {
        let now = 1_767_203_999_000; // 2025-12-31 23:59:59 in Bishkek, a Wednesday
        for unit in Unit::ALL {
            let period = unit.period(now);
            let (start, next) = (unit.start(period), unit.start(period + 1));
            assert!(start <= now && now < next, "{}", unit.as_str());
            assert_eq!(unit.period(start), period);
            assert_eq!(unit.period(next), period + 1);
        }
        assert_eq!(Unit::Week.label(Unit::Week.period(now)).1, "29 Dec to 4 Jan");
        assert_eq!(Unit::Month.label(Unit::Month.period(now) + 1).1, "Jan 2026");
        assert_eq!(Unit::Hour.label(Unit::Hour.period(now)).1, "31 Dec, 23:00");
    }
}
