//! `/staff/day`: the payments of a day, hour by hour, next to the day before.

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
    texts::{Texts, fill},
};
use crate::{
    net::page,
    storage::staff::{EndCount, Period},
    values::{Method, Millis, PaymentState},
};

/// The most events that a chart reads.
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
    /// The day in the form of addresses; `shown_day` is for people.
    day: String,
    shown_day: String,
    day_before: (String, String),
    /// `None` if it has not begun.
    day_after: Option<(String, String)>,
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
    state: &'static str,
    name: &'static str,
    meaning: &'static str,
    count: u64,
    sum: String,
    before: String,
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
    /// One count for each end.
    ends: Vec<u64>,
}

/// Counts and sums of equal kinds.
#[derive(Default)]
struct Sums {
    count: u64,
    /// By currency: different currencies are never added up.
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

    fn text(&self, t: &Texts) -> String {
        let one = |(currency, sum): (&String, &Option<Decimal>)| match sum {
            Some(sum) => labels::money(*sum, currency, t),
            None => fill(t.too_much, &[currency]),
        };
        self.sums.iter().map(one).collect::<Vec<_>>().join("; ")
    }
}

/// Shows the page. It may read 200,000 events.
pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    let places = context.admin.drawing.clone();
    run_exclusive(&places, showing(context)).await
}

async fn showing(context: RequestContext) -> Result<Response, ErrorPage> {
    let now = context.admin.server.moment().await?;
    let given = Some(context.query.get("day")).filter(|day| !day.is_empty());
    let from = labels::first_moment(given.unwrap_or(&labels::day(now)))
        .ok_or_else(|| ErrorPage::new(StatusCode::BAD_REQUEST, |t| t.write_day))?;
    let period = Period { from: from.saturating_sub(DAY), until: from.saturating_add(DAY) };
    let ends = context.admin.server.ends(period, MOST).await?;
    if ends.is_more {
        let sentence = fill(context.t().too_many_to_draw, &[&MOST]);
        return Err(ErrorPage::written(StatusCode::BAD_REQUEST, sentence));
    }
    let frame = context.frame(Section::Day);
    Ok(page(StatusCode::OK, &drawn(frame, from, now, &ends.alike)))
}

fn drawn(frame: Frame, from: Millis, now: Millis, ends: &[EndCount]) -> Page {
    let t = frame.t;
    let (before, this): (Vec<_>, Vec<_>) = ends.iter().partition(|one| one.hour < from);
    let hours: Vec<Millis> = (0..24).map(|hour| from.saturating_add(hour * HOUR)).collect();
    let labels: Vec<String> = (0..24).map(|hour| format!("{hour:02}")).collect();
    let count = |hour: Millis, is_one: &dyn Fn(&EndCount) -> bool| {
        this.iter().filter(|one| one.hour == hour && is_one(one)).map(|one| one.count).sum::<u64>()
    };
    let by_hour = |is_one: &dyn Fn(&EndCount) -> bool| hours.iter().map(|hour| count(*hour, is_one) as f32).collect();
    let by_method = |(color, method): (usize, Method)| Values {
        name: labels::method(method, t),
        color,
        values: by_hour(&|one| one.state == PaymentState::Charged && one.method == method),
    };
    let by_end = |(color, state): (usize, PaymentState)| Values {
        name: labels::payment_state(state, t).word,
        color,
        values: by_hour(&|one| one.state == state),
    };
    let methods: Vec<Values<'static>> = Method::ALL.into_iter().enumerate().map(by_method).collect();
    let by_ends: Vec<Values<'static>> = ENDS.into_iter().enumerate().map(by_end).collect();
    let day_after = from.saturating_add(DAY);
    let is_today = (from..day_after).contains(&now);
    let beside = if is_today { t.day_before_whole } else { t.day_before };
    Page {
        frame,
        day: labels::day(from),
        shown_day: labels::shown_day(from, t),
        day_before: both(from.saturating_sub(DAY), t),
        day_after: Some(both(day_after, t)).filter(|_| day_after <= now),
        is_today,
        download: query(&[("from", &labels::day(from)), ("until", &labels::day(day_after))]),
        figures: ENDS.into_iter().map(|state| figure(state, [&this, &before], beside, t)).collect(),
        methods: Method::ALL.into_iter().map(|method| method_row(method, &this, &before, t)).collect(),
        method_names: methods.iter().map(|one| one.name).collect(),
        methods_chart: bars(t.chart_charged, &labels, methods, t),
        end_names: by_ends.iter().map(|one| one.name).collect(),
        ends_chart: bars(t.chart_ends, &labels, by_ends, t),
        hours: hours.iter().zip(labels).filter_map(|(hour, label)| hour_row(*hour, label, &this, t)).collect(),
    }
}

/// A day in the form of addresses, and for people.
fn both(at: Millis, t: &Texts) -> (String, String) {
    (labels::day(at), labels::shown_day(at, t))
}

fn bars(title: &str, hours: &[String], values: Vec<Values<'_>>, t: &Texts) -> String {
    let about = About { title, description: t.chart_bars };
    chart::bars(&about, hours.to_vec(), values)
}

/// `beside` is the text for the day before.
fn figure(state: PaymentState, [this, before]: [&[&EndCount]; 2], beside: &str, t: &Texts) -> Figure {
    let sums = |ends: &[&EndCount]| Sums::of(ends.iter().copied().filter(|one| one.state == state));
    let (this, before) = (sums(this), sums(before));
    let chip = labels::payment_state(state, t);
    let sum_before = before.text(t);
    let before =
        if sum_before.is_empty() { before.count.to_string() } else { format!("{} ({sum_before})", before.count) };
    Figure {
        state: state.into(),
        name: chip.word,
        meaning: chip.meaning,
        count: this.count,
        sum: this.text(t),
        before: fill(beside, &[&before]),
    }
}

fn method_row(method: Method, this: &[&EndCount], before: &[&EndCount], t: &Texts) -> MethodRow {
    let is_charged = |one: &&EndCount| one.state == PaymentState::Charged && one.method == method;
    let sums = |ends: &[&EndCount]| Sums::of(ends.iter().copied().filter(is_charged));
    let (this, before) = (sums(this), sums(before));
    MethodRow {
        method: labels::method(method, t),
        count: this.count,
        sum: this.text(t),
        count_before: before.count,
        sum_before: before.text(t),
    }
}

/// `None` for an hour in which no payment ended: the chart shows that already.
fn hour_row(hour: Millis, label: String, this: &[&EndCount], t: &Texts) -> Option<HourRow> {
    let of =
        |state: PaymentState| Sums::of(this.iter().copied().filter(move |one| one.hour == hour && one.state == state));
    let ends: Vec<u64> = ENDS.into_iter().map(|state| of(state).count).collect();
    let is_some = ends.iter().any(|count| *count > 0);
    is_some.then(|| HourRow { hour: format!("{label}:00"), sum: of(PaymentState::Charged).text(t), ends })
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, Uri};

    use super::*;
    use crate::staff::page::View;

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
        let view = View::of("/staff", &Uri::from_static("/staff/day"), false, &HeaderMap::new());
        let page = drawn(Frame::of(&view, None, None), from, from + DAY - 1, &ends);
        let figures: Vec<_> = page.figures.iter().map(|one| (one.name, one.count, plain(&one.before))).collect();
        let before = "The day before (the whole day): 2 (7.00 som)".to_owned();
        let none = || "The day before (the whole day): 0".to_owned();
        let expected =
            [("charged", 6, before), ("rejected", 2, none()), ("not made", 0, none()), ("unknown", 0, none())];
        assert_eq!(figures, expected);
        assert_eq!(plain(&page.figures[0].sum), "400.00 som; 5.00 USD");
        let mbank = page.methods.iter().find(|row| row.method == "Mobile bank").unwrap();
        assert_eq!((mbank.count, plain(&mbank.sum).as_str(), mbank.count_before), (4, "10.00 som; 5.00 USD", 0));
        let hours: Vec<_> = page.hours.iter().map(|row| (row.hour.as_str(), plain(&row.sum), row.ends[1])).collect();
        let expected = [
            ("00:00", "390.00 som".to_owned(), 0),
            ("01:00", String::new(), 2),
            ("23:00", "10.00 som; 5.00 USD".to_owned(), 0),
        ];
        assert_eq!(hours, expected);
        assert_eq!((page.day_before.1.as_str(), page.day_after, page.is_today), ("22 Nov 2026", None, true));
        let bars = page.methods_chart.split("<rect").skip(1).filter(|bar| !bar.contains("height=\"0\""));
        assert_eq!(bars.count(), 2, "{}", page.methods_chart);
    }

    /// With a space where amounts are not broken over two lines.
    fn plain(text: &str) -> String {
        text.replace('\u{a0}', " ")
    }
}
