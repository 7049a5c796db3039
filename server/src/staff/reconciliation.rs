//! `/staff/reconciliation`: what was charged in a time, in sums and as CSV, and held against the gateway's statement.

use std::{collections::BTreeMap, ops::Range};

use askama::Template;
use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use kassa::Decimal;
use time::Date;

use super::{
    context::{RequestContext, run_exclusive},
    cookie,
    fields::{FormFields, query},
    labels,
    mapping::{Mapping, SEPARATORS},
    matching::{Comparison, compare as compared},
    page::{ErrorPage, Frame, Section},
    rows::StatementLine,
    statement::{self, OtherLine, Statement, StatementError},
};
use crate::{
    net::page,
    storage::staff::{Charge, Charges, Period},
    values::{Millis, card_number::without_card_numbers},
};

/// Of more payments nothing is said but that the time is too long.
const MOST: u32 = 100_000;
/// So many of each difference are shown.
const MOST_SHOWN: usize = 500;
/// So many places of lines are named in one sentence.
const MOST_PLACES: usize = 50;
const DAY: Millis = 24 * 3600 * 1000;

#[derive(Template)]
#[template(path = "staff/reconciliation.html")]
struct Page {
    frame: Frame,
    csrf: String,
    from: String,
    until: String,
    problems: Vec<String>,
    /// What the columns of a statement are called that could not be used.
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
    /// The columns: how the form calls them, what people read, what was said, and what is known without.
    fn columns(&self) -> [(&'static str, &'static str, &str, &'static str); 5] {
        let Mapping { order_number, gateway_number, amount, date, status, .. } = &self.mapping;
        [
            ("order_number", "Order number", order_number, "order_number"),
            ("gateway_number", "Gateway's number", gateway_number, "gateway_number"),
            ("amount", "Amount", amount, "amount"),
            ("date", "Date", date, "date"),
            ("status", "Status", status, "status"),
        ]
    }
}

/// What came in a day, by a method, in a currency.
struct Sum {
    day: String,
    method: &'static str,
    count: u64,
    amount: String,
}

/// What the comparison found.
struct ComparisonView {
    lines: usize,
    /// How many lines were left out, in words; nothing where none was.
    skipped: Option<String>,
    /// What their statuses are.
    skipped_statuses: String,
    /// The same of those that are of other days.
    of_other_days: Option<String>,
    /// Which ones.
    other_days_lines: String,
    /// The same of those without a payment.
    aside: Option<String>,
    other_lines: Vec<OtherLine>,
    refunds: Vec<Refund>,
    matched: usize,
    differing: Vec<MatchedPair>,
    repeated: Vec<MatchedPair>,
    only_in_statement: Vec<LineView>,
    only_on_server: Vec<ChargeView>,
    /// Some of them are not shown.
    is_cut: bool,
    counts: [usize; 5],
}

struct MatchedPair {
    charge: ChargeView,
    entry: LineView,
}

/// A line of the statement that says that money went back.
struct Refund {
    /// The payment, if it was charged in this time.
    charge: Option<ChargeView>,
    entry: LineView,
}

/// A charged payment of ours.
struct ChargeView {
    checkout: String,
    shop_reference: String,
    number: String,
    at: String,
    method: &'static str,
    amount: String,
}

/// A line of the statement.
struct LineView {
    line: u64,
    /// What is looked up by it; nothing where it must not be shown.
    number: String,
    amount: String,
}

/// The days that were asked for, else the month so far.
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

    /// None are among those that are no days.
    fn dates(&self) -> Range<Date> {
        let [from, until] = [&self.from, &self.until].map(|day| labels::date(day).unwrap_or(Date::MIN));
        from..until
    }

    fn period(&self) -> Result<Period, String> {
        let (from, until) = (labels::first_moment(&self.from), labels::first_moment(&self.until));
        match (from, until) {
            (Some(from), Some(until)) if from < until => Ok(Period { from, until }),
            (Some(_), Some(_)) => Err("The first day must be before the day that ends the time.".to_owned()),
            _ => Err("Write days like 2026-11-23.".to_owned()),
        }
    }
}

/// It may read 100,000 payments, as may what follows.
pub(super) async fn show(context: RequestContext) -> Result<Response, ErrorPage> {
    run_exclusive(&context.admin.reconciling.clone(), showing(context)).await
}

async fn showing(context: RequestContext) -> Result<Response, ErrorPage> {
    let days = DateRange::read(&context.query, context.admin.server.moment().await?);
    let remembered = cookie::remembered(&context.headers).unwrap_or_default();
    let remembered = Mapping::read(&FormFields::parse(remembered.as_bytes()));
    match charged(&context, &days).await? {
        Ok(charges) => Ok(answer(&context, StatusCode::OK, days, &charges, &remembered, PageContent::default())),
        Err(problem) => {
            Ok(answer(&context, StatusCode::BAD_REQUEST, shown(days), &[], &remembered, PageContent::of(problem)))
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
    // Reading and comparing keep a processor busy: not on a thread of the runtime's.
    let compared =
        tokio::task::spawn_blocking(move || compare_with_statement(&context, days, &charges, &mapping)).await;
    compared.map_err(|_| ErrorPage::failed())
}

/// The charged payments, and what is pasted or in the file.
fn compare_with_statement(
    context: &RequestContext,
    days: DateRange,
    charges: &[Charge],
    mapping: &Mapping,
) -> Response {
    let given = if context.form.get("file").is_empty() { "statement" } else { "file" };
    match statement::read(context.form.whole(given), mapping) {
        Ok(statement) => {
            let comparison = compared(charges, &statement, &days.dates());
            let outcome = outcome(&comparison, &statement);
            let shown = PageContent { outcome: Some(outcome), ..PageContent::default() };
            let mut response = answer(context, StatusCode::OK, days, charges, mapping, shown);
            let remember = cookie::remember(&mapping.remembered(), context.admin.is_secure, &context.admin.home);
            response.headers_mut().insert(header::SET_COOKIE, remember);
            response
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
    let refused = |problem| ErrorPage::new(StatusCode::BAD_REQUEST, problem);
    let charges = charged(&context, &days).await?.map_err(refused)?;
    let text = table(&charges)
        .map_err(|_| ErrorPage::new(StatusCode::INTERNAL_SERVER_ERROR, "The file could not be written."))?;
    let name = format!("attachment; filename=\"charged-{}-{}.csv\"", days.from, days.until);
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.extend(HeaderValue::from_str(&name).ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    Ok(response)
}

/// What was charged, or why that cannot be told.
async fn charged(context: &RequestContext, days: &DateRange) -> Result<Result<Vec<Charge>, String>, ErrorPage> {
    let period = match days.period() {
        Ok(period) => period,
        Err(problem) => return Ok(Err(problem)),
    };
    let Charges { charges, is_more } = context.admin.server.charges(period, MOST).await?;
    Ok(if is_more { Err(format!("There are more than {MOST} payments: choose a shorter time.")) } else { Ok(charges) })
}

/// Nothing comes back that was no day.
fn shown(days: DateRange) -> DateRange {
    let day = |text: String| Some(text).filter(|text| labels::first_moment(text).is_some()).unwrap_or_default();
    DateRange { from: day(days.from), until: day(days.until) }
}

/// What came of what was asked for.
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
    let template = Page {
        frame: context.frame(Section::Reconciliation),
        csrf: context.csrf(),
        download: query(&[("from", &days.from), ("until", &days.until)]),
        from: days.from,
        until: days.until,
        problems: shown.problems,
        names: shown.names,
        mapping: mapping.clone(),
        overpaid: charges.iter().filter(|charge| charge.is_overpaid).take(MOST_SHOWN).map(charge_view).collect(),
        sums: sums(charges, |charge| (labels::day(charge.at), labels::method(charge.method))),
        totals: sums(charges, |_| (String::new(), "")),
        outcome: shown.outcome,
    };
    page(status, &template)
}

/// What was charged, by day and method, and always by currency: other ones are never added up.
fn sums(charges: &[Charge], group: impl Fn(&Charge) -> (String, &'static str)) -> Vec<Sum> {
    let mut all: BTreeMap<(String, &'static str, &str), (u64, Option<Decimal>)> = BTreeMap::new();
    for charge in charges {
        let (day, method) = group(charge);
        let (count, sum) = all.entry((day, method, &charge.currency)).or_insert((0, Some(Decimal::ZERO)));
        *count += 1;
        *sum = sum.and_then(|sum| sum.checked_add(charge.amount));
    }
    let sum = |((day, method, currency), (count, sum)): ((String, &'static str, &str), (u64, Option<Decimal>))| Sum {
        day,
        method,
        count,
        amount: sum.map_or_else(|| format!("too much to add up, {currency}"), |sum| labels::money(sum, currency)),
    };
    all.into_iter().map(sum).collect()
}

fn outcome(comparison: &Comparison<'_>, statement: &Statement) -> ComparisonView {
    let pair = |(charge, line): &(&Charge, &StatementLine)| MatchedPair {
        charge: charge_view(charge),
        entry: line_view(line),
    };
    let counts = [
        comparison.differing.len(),
        comparison.repeated.len(),
        comparison.only_in_statement.len(),
        comparison.only_on_server.len(),
        comparison.refunds.len(),
    ];
    let some = |lines: u64, one: &str, many: &str| (lines > 0).then(|| labels::count(lines, one, many));
    let refund = |(charge, line): &(Option<&Charge>, &StatementLine)| Refund {
        charge: charge.map(charge_view),
        entry: line_view(line),
    };
    ComparisonView {
        lines: statement.lines.len(),
        skipped: some(statement.skipped, "line was", "lines were"),
        skipped_statuses: statement.skipped_statuses.join(", "),
        of_other_days: some(comparison.of_other_days.len() as u64, "line is", "lines are"),
        other_days_lines: places(&comparison.of_other_days),
        aside: some(statement.other_line_count, "line names", "lines name"),
        other_lines: statement.other_lines.clone(),
        refunds: comparison.refunds.iter().take(MOST_SHOWN).map(refund).collect(),
        matched: comparison.matched.len(),
        differing: comparison.differing.iter().take(MOST_SHOWN).map(pair).collect(),
        repeated: comparison.repeated.iter().take(MOST_SHOWN).map(pair).collect(),
        only_in_statement: comparison.only_in_statement.iter().take(MOST_SHOWN).map(|line| line_view(line)).collect(),
        only_on_server: comparison.only_on_server.iter().take(MOST_SHOWN).map(|charge| charge_view(charge)).collect(),
        is_cut: counts.iter().any(|count| *count > MOST_SHOWN),
        counts,
    }
}

/// Where lines stand in the statement.
fn places(lines: &[&StatementLine]) -> String {
    let places = lines.iter().take(MOST_PLACES).map(|line| line.at.to_string()).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST_PLACES { format!("{places} and more") } else { places }
}

fn charge_view(charge: &Charge) -> ChargeView {
    ChargeView {
        checkout: charge.checkout.to_string(),
        shop_reference: charge.shop_reference.clone(),
        number: number(charge).to_owned(),
        at: labels::moment(charge.at),
        method: labels::method(charge.method),
        amount: labels::money(charge.amount, &charge.currency),
    }
}

fn number(charge: &Charge) -> &str {
    let reference = &charge.reference;
    let numbers = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
    numbers.into_iter().flatten().chain(&charge.taken_numbers).next().map(String::as_str).unwrap_or_default()
}

/// Somebody may paste what has card numbers in it: those come back as stars. The line's number tells which it is.
fn line_view(line: &StatementLine) -> LineView {
    let number = if line.order_number.is_empty() { &line.gateway_number } else { &line.order_number };
    let amount = line.amount.to_string();
    let amount = line.currency.as_ref().map_or(amount, |currency| labels::money(line.amount, currency));
    LineView { line: line.at, number: without_card_numbers(number), amount }
}

/// The charges as a file.
fn table(charges: &[Charge]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new().quote_style(csv::QuoteStyle::Always).from_writer(Vec::new());
    writer.write_record([
        "charged_at",
        "reference",
        "order_number",
        "gateway_number",
        "transaction_id",
        "method",
        "amount",
        "currency",
        "decided_by_a_person",
        "checkout",
        "payment",
        "claimed_numbers",
    ])?;
    for charge in charges {
        let reference = &charge.reference;
        let known = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
        let is_known = |number: &str| known.iter().any(|known| known.as_deref() == Some(number));
        let claimed = charge.taken_numbers.iter().map(String::as_str).filter(|number| !is_known(number));
        let text = |number: &Option<String>| cell(number.as_deref().unwrap_or_default());
        writer.write_record([
            labels::moment(charge.at),
            cell(&charge.shop_reference),
            text(&reference.order_number),
            text(&reference.gateway_number),
            text(&reference.transaction_id),
            charge.method.to_string(),
            charge.amount.to_string(),
            charge.currency.clone(),
            charge.is_resolved.to_string(),
            charge.checkout.to_string(),
            charge.payment.to_string(),
            cell(&claimed.collect::<Vec<_>>().join(" ")),
        ])?;
    }
    writer.into_inner().map_err(|problem| csv::Error::from(problem.into_error()))
}

/// A program for tables must not take somebody's text for a formula (CSV injection): not where the text begins, nor behind what
/// such a program takes for the end of a cell (in some countries a semicolon).
fn cell(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut begins = true;
    for c in text.chars() {
        if begins && matches!(c, '=' | '+' | '-' | '@') {
            safe.push('\'');
        }
        let ends_a_cell = matches!(c, ';' | '\t' | '\r' | '\n');
        begins = ends_a_cell || begins && (c.is_whitespace() || c == '"');
        safe.push(c);
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_masks_card_but_not_order_number() {
        let text = "order_number,amount\n4000 0000 0000 2016,1\n2026112614050606,2\n";
        let statement = statement::read(text, &Mapping::default()).unwrap();
        let numbers: Vec<_> = statement.lines.iter().map(|line| line_view(line).number).collect();
        assert_eq!(numbers, ["**** **** **** ****", "2026112614050606"]);
    }

    #[test]
    fn exported_csv_cell_never_starts_as_formula() {
        for (text, expected) in [
            ("order-1", "order-1"),
            ("a=b;c-d", "a=b;c-d"),
            ("=1+1", "'=1+1"),
            ("\t=1", "\t'=1"),
            (" @x", " '@x"),
            ("x;=1+1", "x;'=1+1"),
            ("x; \"-1", "x; \"'-1"),
            ("x\t+1;;@y", "x\t'+1;;'@y"),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
