//! `/staff/reconciliation`: the charges of a period, as sums and CSV, and compared with the gateway's statement.

use std::{collections::BTreeMap, ops::Range};

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use kassa::Decimal;
use time::Date;

use super::{
    comparison_view::{ChargeView, ComparisonView, MOST_SHOWN},
    context::{RequestContext, run_exclusive},
    export,
    fields::{FormFields, query},
    labels,
    mapping::{Mapping, SEPARATORS},
    matching::compare as compared,
    page::{ErrorPage, Frame, Section},
    statement::{self, StatementError},
    texts::{Texts, fill},
};
use crate::{
    net::page,
    storage::staff::{Charge, Charges, Period},
    values::Millis,
};

/// The most payments of one period.
pub(super) const MOST: u32 = 100_000;
const DAY: Millis = 24 * 3600 * 1000;

#[derive(Template)]
#[template(path = "staff/reconciliation.html")]
struct Page {
    frame: Frame,
    csrf: String,
    from: String,
    until: String,
    problems: Vec<String>,
    /// The column names of a statement that could not be used.
    names: Vec<String>,
    mapping: Mapping,
    /// Payments of checkouts that were paid more than once.
    overpaid: Vec<ChargeView>,
    sums: Vec<Sum>,
    totals: Vec<Sum>,
    download: String,
    outcome: Option<ComparisonView>,
}

impl Page {
    /// The columns: name in the form, label, entry, and the default.
    fn columns(&self) -> [(&'static str, &'static str, &str, &'static str); 6] {
        let (t, mapping) = (self.frame.t, &self.mapping);
        let Mapping { order_number, gateway_number, amount, date, fee, status, .. } = mapping;
        [
            ("order_number", t.order_number, order_number, "order_number"),
            ("gateway_number", t.gateway_number, gateway_number, "gateway_number"),
            ("amount", t.amount, amount, "amount"),
            ("date", t.col_date, date, "date"),
            ("fee", t.col_fee, fee, "fee"),
            ("status", t.col_status, status, "status"),
        ]
    }

    /// The separators: name in the form, label, and whether it is selected.
    fn separators(&self) -> [(&'static str, &'static str, bool); 4] {
        let t = self.frame.t;
        let labels = [t.comma, t.semicolon, t.tab, t.bar];
        let mut labels = labels.into_iter();
        SEPARATORS
            .map(|(word, separator)| (word, labels.next().unwrap_or(word), self.mapping.separator == Some(separator)))
    }
}

/// The charges of a day, by method and currency.
pub(super) struct Sum {
    pub(super) day: String,
    pub(super) method: &'static str,
    pub(super) count: u64,
    pub(super) amount: String,
}

/// The requested days; by default the month so far.
struct DateRange {
    from: String,
    until: String,
}

impl DateRange {
    fn read(fields: &FormFields, now: Millis) -> Self {
        let or = |name, default: String| {
            Some(fields.get(name).to_owned()).filter(|text| !text.is_empty()).unwrap_or(default)
        };
        let month: String = labels::day(now).chars().take(8).collect();
        Self { from: or("from", format!("{month}01")), until: or("until", labels::day(now.saturating_add(DAY))) }
    }

    /// The dates of the range; `Date::MIN` for an invalid day.
    fn dates(&self) -> Range<Date> {
        let [from, until] = [&self.from, &self.until].map(|day| labels::date(day).unwrap_or(Date::MIN));
        from..until
    }

    fn period(&self, t: &Texts) -> Result<Period, String> {
        let (from, until) = (labels::first_moment(&self.from), labels::first_moment(&self.until));
        match (from, until) {
            (Some(from), Some(until)) if from < until => Ok(Period { from, until }),
            (Some(_), Some(_)) => Err(t.first_before_last.to_owned()),
            _ => Err(t.write_days.to_owned()),
        }
    }
}

/// Shows the page. It may read 100,000 payments, like the comparison.
pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), showing(context)).await
}

async fn showing(context: RequestContext) -> Result<Response, ErrorPage> {
    let days = DateRange::read(&context.query, context.admin.server.moment().await?);
    let stored = context.admin.server.statement_mapping().await?.unwrap_or_default();
    let mapping = Mapping::read(&FormFields::parse(stored.as_bytes()));
    match charged(&context, &days).await? {
        Ok(charges) => Ok(answer(&context, StatusCode::OK, days, &charges, &mapping, PageContent::default())),
        Err(problem) => {
            Ok(answer(&context, StatusCode::BAD_REQUEST, shown(days), &[], &mapping, PageContent::of(problem)))
        }
    }
}

pub(super) async fn compare(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), comparing(context)).await
}

async fn comparing(context: RequestContext) -> Result<Response, ErrorPage> {
    let days = DateRange::read(&context.form, context.admin.server.moment().await?);
    let mapping = Mapping::read(&context.form);
    let charges = match charged(&context, &days).await? {
        Ok(charges) => charges,
        Err(problem) => {
            return Ok(answer(&context, StatusCode::BAD_REQUEST, shown(days), &[], &mapping, PageContent::of(problem)));
        }
    };
    // Reading and comparing are CPU-bound, so they do not run on a thread of the runtime.
    let (server, read_by) = (context.admin.server.clone(), mapping.stored());
    let compared =
        tokio::task::spawn_blocking(move || compare_with_statement(&context, days, &charges, &mapping)).await;
    let response = compared.map_err(|_| ErrorPage::failed())?;
    if response.status() == StatusCode::OK {
        server.set_statement_mapping(read_by).await?;
    }
    Ok(response)
}

/// Compares the charged payments with the pasted or uploaded statement.
fn compare_with_statement(
    context: &RequestContext,
    days: DateRange,
    charges: &[Charge],
    mapping: &Mapping,
) -> Response {
    let given = if context.form.get("file").is_empty() { "statement" } else { "file" };
    match statement::read(context.form.whole(given), mapping, context.t()) {
        Ok(statement) => {
            let comparison = compared(charges, &statement, &days.dates());
            let outcome = Some(ComparisonView::of(&comparison, &statement, context.t()));
            let shown = PageContent { outcome, ..PageContent::default() };
            answer(context, StatusCode::OK, days, charges, mapping, shown)
        }
        Err(StatementError { problems, names }) => {
            let shown = PageContent { problems, names, outcome: None };
            answer(context, StatusCode::BAD_REQUEST, days, charges, mapping, shown)
        }
    }
}

pub(super) async fn download(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), downloading(context)).await
}

async fn downloading(context: RequestContext) -> Result<Response, ErrorPage> {
    let days = DateRange::read(&context.query, context.admin.server.moment().await?);
    let refused = |problem| ErrorPage::written(StatusCode::BAD_REQUEST, problem);
    let charges = charged(&context, &days).await?.map_err(refused)?;
    let text = export::charges(&charges, context.t()).map_err(|_| not_written())?;
    Ok(csv_file(text, &format!("charged-{}-{}.csv", days.from, days.until)))
}

pub(super) fn not_written() -> ErrorPage {
    ErrorPage::new(StatusCode::INTERNAL_SERVER_ERROR, |t| t.file_not_written)
}

/// A CSV file as a response.
pub(super) fn csv_file(text: Vec<u8>, name: &str) -> Response {
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    headers.extend(disposition.ok().map(|disposition| (header::CONTENT_DISPOSITION, disposition)));
    response
}

/// The charges, or why they cannot be listed.
async fn charged(context: &RequestContext, days: &DateRange) -> Result<Result<Vec<Charge>, String>, ErrorPage> {
    let period = match days.period(context.t()) {
        Ok(period) => period,
        Err(problem) => return Ok(Err(problem)),
    };
    let Charges { charges, is_more } = context.admin.server.charges(period, MOST).await?;
    Ok(if is_more { Err(fill(context.t().too_many_payments, &[&MOST])) } else { Ok(charges) })
}

/// Empties days that are invalid, for showing them again.
fn shown(days: DateRange) -> DateRange {
    let day = |text: String| Some(text).filter(|text| labels::first_moment(text).is_some()).unwrap_or_default();
    DateRange { from: day(days.from), until: day(days.until) }
}

/// The variable content of the page.
#[derive(Default)]
struct PageContent {
    problems: Vec<String>,
    names: Vec<String>,
    outcome: Option<ComparisonView>,
}

impl PageContent {
    fn of(problem: String) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }
}

fn answer(
    context: &RequestContext,
    status: StatusCode,
    days: DateRange,
    charges: &[Charge],
    mapping: &Mapping,
    shown: PageContent,
) -> Response {
    let t = context.t();
    let template = Page {
        frame: context.frame(Section::Reconciliation),
        csrf: context.csrf(),
        download: query(&[("from", &days.from), ("until", &days.until)]),
        from: days.from,
        until: days.until,
        problems: shown.problems,
        names: shown.names,
        mapping: mapping.clone(),
        overpaid: {
            let twice = charges.iter().filter(|charge| charge.is_overpaid).take(MOST_SHOWN);
            twice.map(|charge| ChargeView::of(charge, t)).collect()
        },
        sums: sums(charges, t, |charge| (labels::day(charge.at), labels::method(charge.method, t))),
        totals: sums(charges, t, |_| (String::new(), "")),
        outcome: shown.outcome,
    };
    page(status, &template)
}

/// Adds up charges by day, method and currency. Different currencies are never added up.
pub(super) fn sums(charges: &[Charge], t: &Texts, group: impl Fn(&Charge) -> (String, &'static str)) -> Vec<Sum> {
    let mut all: BTreeMap<(String, &'static str, &str), (u64, Option<Decimal>)> = BTreeMap::new();
    for charge in charges {
        let (day, method) = group(charge);
        let (count, sum) = all.entry((day, method, &charge.currency)).or_insert((0, Some(Decimal::ZERO)));
        *count += 1;
        *sum = sum.and_then(|sum| sum.checked_add(charge.amount));
    }
    let sum = |((day, method, currency), (count, sum)): ((String, &'static str, &str), (u64, Option<Decimal>))| Sum {
        day: labels::first_moment(&day).map(|at| labels::shown_day(at, t)).unwrap_or_default(),
        method,
        count,
        amount: sum.map_or_else(|| fill(t.too_much, &[&currency]), |sum| labels::money(sum, currency, t)),
    };
    all.into_iter().map(sum).collect()
}
