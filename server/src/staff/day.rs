//! `/staff/day`: how a day went, hour by hour, beside the day before.

use std::collections::BTreeMap;

use askama::Template;
use axum::{http::StatusCode, response::Response};
use kassa::Decimal;
use kassa_pages::chart::{self, About, Values};

use super::{
    context::{RequestContext, run_exclusive},
    fields::query,
    labels,
    page::{ErrorPage, Frame, Section},
};
use crate::{
    net::page,
    storage::staff::{EndCount, Period},
    values::{Method, Millis, PaymentState},
};

/// Of more in two days nothing is drawn.
const MOST: u32 = 200_000;
const HOUR: Millis = 3600 * 1000;
const DAY: Millis = 24 * HOUR;
/// The ends of payments, and the unknown ones.
const ENDS: [PaymentState; 4] =
    [PaymentState::Charged, PaymentState::Rejected, PaymentState::NotMade, PaymentState::Unknown];

#[derive(Template)]
#[template(path = "staff/day.html")]
struct Page {
    frame: Frame,
    day: String,
    day_before: String,
    /// Nothing where it has not begun.
    day_after: Option<String>,
    is_today: bool,
    download: String,
    figures: Vec<Figure>,
    methods: Vec<MethodRow>,
    method_names: Vec<&'static str>,
    methods_chart: String,
    end_names: Vec<&'static str>,
    ends_chart: String,
    hours: Vec<HourRow>,
}

/// A count with its sum, and both of the day before.
struct Figure {
    name: &'static str,
    meaning: &'static str,
    count: u64,
    sum: String,
    count_before: u64,
    sum_before: String,
}

struct MethodRow {
    method: &'static str,
    count: u64,
    sum: String,
    count_before: u64,
    sum_before: String,
}

struct HourRow {
    hour: String,
    sum: String,
    /// As many as there are ends.
    ends: Vec<u64>,
}

/// Counts and sums of what is alike.
#[derive(Default)]
struct Sums {
    count: u64,
    /// By currency: other ones are never added up.
    sums: BTreeMap<String, Option<Decimal>>,
}

impl Sums {
    fn of<'a>(alike: impl Iterator<Item = &'a EndCount>) -> Self {
        let mut all = Self::default();
        for one in alike {
            all.count += one.count;
            let sum = all.sums.entry(one.currency.clone()).or_insert(Some(Decimal::ZERO));
            *sum = sum.and_then(|sum| sum.checked_add(one.sum?));
        }
        all
    }

    fn text(&self) -> String {
        let one = |(currency, sum): (&String, &Option<Decimal>)| match sum {
            Some(sum) => labels::money(*sum, currency),
            None => format!("too much to add up, {currency}"),
        };
        self.sums.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// It may read 200,000 events.
pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    let places = context.admin.drawing.clone();
    run_exclusive(&places, showing(context)).await
}

async fn showing(context: RequestContext) -> Result<Response, ErrorPage> {
    let now = context.admin.server.moment().await?;
    let given = Some(context.query.get("day")).filter(|day| !day.is_empty());
    let from = labels::first_moment(given.unwrap_or(&labels::day(now)))
        .ok_or_else(|| ErrorPage::new(StatusCode::BAD_REQUEST, "Write the day like 2026-11-23."))?;
    let period = Period { from: from.saturating_sub(DAY), until: from.saturating_add(DAY) };
    let ends = context.admin.server.ends(period, MOST).await?;
    if ends.is_more {
        let sentence = format!("More than {MOST} payments ended on this day and the day before: too many to draw.");
        return Err(ErrorPage::new(StatusCode::BAD_REQUEST, sentence));
    }
    let frame = context.frame(Section::Day);
    Ok(page(StatusCode::OK, &drawn(frame, from, now, &ends.alike)))
}

fn drawn(frame: Frame, from: Millis, now: Millis, ends: &[EndCount]) -> Page {
    let (before, this): (Vec<_>, Vec<_>) = ends.iter().partition(|one| one.hour < from);
    let hours: Vec<Millis> = (0..24).map(|hour| from.saturating_add(hour * HOUR)).collect();
    let labels: Vec<String> = (0..24).map(|hour| format!("{hour:02}")).collect();
    let count = |hour: Millis, is_one: &dyn Fn(&EndCount) -> bool| {
        this.iter().filter(|one| one.hour == hour && is_one(one)).map(|one| one.count).sum::<u64>()
    };
    let by_hour = |is_one: &dyn Fn(&EndCount) -> bool| hours.iter().map(|hour| count(*hour, is_one) as f32).collect();
    let by_method = |(color, method): (usize, Method)| Values {
        name: labels::method(method),
        color,
        values: by_hour(&|one| one.state == PaymentState::Charged && one.method == method),
    };
    let by_end = |(color, state): (usize, PaymentState)| Values {
        name: labels::payment_state(state).word,
        color,
        values: by_hour(&|one| one.state == state),
    };
    let methods: Vec<Values<'static>> = Method::ALL.into_iter().enumerate().map(by_method).collect();
    let by_ends: Vec<Values<'static>> = ENDS.into_iter().enumerate().map(by_end).collect();
    let day_after = from.saturating_add(DAY);
    Page {
        frame,
        day: labels::day(from),
        day_before: labels::day(from.saturating_sub(DAY)),
        day_after: Some(labels::day(day_after)).filter(|_| day_after <= now),
        is_today: (from..day_after).contains(&now),
        download: query(&[("from", &labels::day(from)), ("until", &labels::day(day_after))]),
        figures: ENDS.into_iter().map(|state| figure(state, &this, &before)).collect(),
        methods: Method::ALL.into_iter().map(|method| method_row(method, &this, &before)).collect(),
        method_names: methods.iter().map(|one| one.name).collect(),
        methods_chart: bars("Charged payments by hour and method", &labels, methods),
        end_names: by_ends.iter().map(|one| one.name).collect(),
        ends_chart: bars("Ends of payments by hour", &labels, by_ends),
        hours: hours.iter().zip(labels).map(|(hour, label)| hour_row(*hour, label, &this)).collect(),
    }
}

fn bars(title: &str, hours: &[String], values: Vec<Values<'_>>) -> String {
    let about = About { title, description: "Stacked bars, one for each hour. The table has the figures." };
    chart::bars(&about, hours.to_vec(), values)
}

fn figure(state: PaymentState, this: &[&EndCount], before: &[&EndCount]) -> Figure {
    let sums = |ends: &[&EndCount]| Sums::of(ends.iter().copied().filter(|one| one.state == state));
    let (this, before) = (sums(this), sums(before));
    let chip = labels::payment_state(state);
    Figure {
        name: chip.word,
        meaning: chip.meaning,
        count: this.count,
        sum: this.text(),
        count_before: before.count,
        sum_before: before.text(),
    }
}

fn method_row(method: Method, this: &[&EndCount], before: &[&EndCount]) -> MethodRow {
    let is_charged = |one: &&EndCount| one.state == PaymentState::Charged && one.method == method;
    let sums = |ends: &[&EndCount]| Sums::of(ends.iter().copied().filter(is_charged));
    let (this, before) = (sums(this), sums(before));
    MethodRow {
        method: labels::method(method),
        count: this.count,
        sum: this.text(),
        count_before: before.count,
        sum_before: before.text(),
    }
}

fn hour_row(hour: Millis, label: String, this: &[&EndCount]) -> HourRow {
    let of =
        |state: PaymentState| Sums::of(this.iter().copied().filter(move |one| one.hour == hour && one.state == state));
    let ends = ENDS.into_iter().map(|state| of(state).count).collect();
    HourRow { hour: format!("{label}:00"), sum: of(PaymentState::Charged).text(), ends }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(hour: Millis, state: PaymentState, method: Method, currency: &str, sum: i64) -> EndCount {
        EndCount { hour, state, method, currency: currency.to_owned(), count: 2, sum: Some(sum.into()) }
    }

    #[test]
    fn day_view_compares_previous_day_per_currency() {
        let from = labels::first_moment("2026-11-23").unwrap();
        let charged = PaymentState::Charged;
        let ends = [
            one(from - HOUR, charged, Method::Qr, "KGS", 7),
            one(from, charged, Method::Qr, "KGS", 390),
            one(from + 23 * HOUR, charged, Method::Mbank, "KGS", 10),
            one(from + 23 * HOUR, charged, Method::Mbank, "USD", 5),
            one(from + HOUR, PaymentState::Rejected, Method::Qr, "KGS", 1),
        ];
        let page = drawn(Frame::of("/staff", None, None), from, from + DAY - 1, &ends);
        let figures: Vec<_> = page.figures.iter().map(|one| (one.name, one.count, one.count_before)).collect();
        assert_eq!(figures, [("charged", 6, 2), ("rejected", 2, 0), ("not made", 0, 0), ("unknown", 0, 0)]);
        assert_eq!((page.figures[0].sum.as_str(), page.figures[0].sum_before.as_str()), ("400 KGS, 5 USD", "7 KGS"));
        let mbank = page.methods.iter().find(|row| row.method == "Mobile bank").unwrap();
        assert_eq!((mbank.count, mbank.sum.as_str(), mbank.count_before), (4, "10 KGS, 5 USD", 0));
        assert_eq!((page.hours[23].sum.as_str(), page.hours[1].ends[1], page.hours.len()), ("10 KGS, 5 USD", 2, 24));
        assert_eq!((page.day_before.as_str(), page.day_after, page.is_today), ("2026-11-22", None, true));
        let bars = page.methods_chart.split("<rect").skip(1).filter(|bar| !bar.contains("height=\"0\""));
        assert_eq!(bars.count(), 2, "{}", page.methods_chart);
    }
}
