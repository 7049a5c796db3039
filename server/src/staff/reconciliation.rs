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
    alone::alone,
    cookie,
    fields::{Fields, query},
    mapping::{Mapping, SEPARATORS},
    matching::{Comparison, compare as compared},
    page::{Frame, Refusal, Section, page},
    route::{Answering, Visit},
    statement::{self, Aside, Line, Statement, Unusable},
    text, words,
};
use crate::{
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
    overpaid: Vec<Here>,
    sums: Vec<Sum>,
    totals: Vec<Sum>,
    download: String,
    outcome: Option<Outcome>,
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
struct Outcome {
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
    asides: Vec<Aside>,
    refunds: Vec<Refund>,
    matched: usize,
    differing: Vec<Pair>,
    repeated: Vec<Pair>,
    only_there: Vec<There>,
    only_here: Vec<Here>,
    /// Some of them are not shown.
    is_cut: bool,
    counts: [usize; 5],
}

struct Pair {
    here: Here,
    there: There,
}

/// A line of the statement that says that money went back.
struct Refund {
    /// The payment, if it was charged in this time.
    here: Option<Here>,
    there: There,
}

/// A charged payment of ours.
struct Here {
    checkout: String,
    shop_reference: String,
    number: String,
    at: String,
    method: &'static str,
    amount: String,
}

/// A line of the statement.
struct There {
    line: u64,
    /// What is looked up by it; nothing where it must not be shown.
    number: String,
    amount: String,
}

/// The days that were asked for, else the month so far.
struct Days {
    from: String,
    until: String,
}

impl Days {
    fn read(fields: &Fields, now: Millis) -> Self {
        let or = |name, default: String| {
            Some(fields.get(name).to_owned()).filter(|text| !text.is_empty()).unwrap_or(default)
        };
        let month: String = text::day(now).chars().take(8).collect();
        Self { from: or("from", format!("{month}01")), until: or("until", text::day(now.saturating_add(DAY))) }
    }

    /// None are among those that are no days.
    fn dates(&self) -> Range<Date> {
        let [from, until] = [&self.from, &self.until].map(|day| text::date(day).unwrap_or(Date::MIN));
        from..until
    }

    fn period(&self) -> Result<Period, String> {
        let (from, until) = (text::first_moment(&self.from), text::first_moment(&self.until));
        match (from, until) {
            (Some(from), Some(until)) if from < until => Ok(Period { from, until }),
            (Some(_), Some(_)) => Err("The first day must be before the day that ends the time.".to_owned()),
            _ => Err("Write days like 2026-11-23.".to_owned()),
        }
    }
}

/// It may read and write down 100,000 payments.
fn one_at_a_time<F>(visit: Visit, work: fn(Visit) -> F) -> Answering
where
    F: Future<Output = Result<Response, Refusal>> + Send + 'static,
{
    Box::pin(async move {
        let places = visit.desk.reconciling.clone();
        alone(&places, work(visit)).await
    })
}

pub(super) fn show(visit: Visit) -> Answering {
    one_at_a_time(visit, showing)
}

async fn showing(visit: Visit) -> Result<Response, Refusal> {
    let days = Days::read(&visit.query, visit.desk.server.moment().await?);
    let remembered = cookie::remembered(&visit.headers).unwrap_or_default();
    let remembered = Mapping::read(&Fields::parse(remembered.as_bytes()));
    match charged(&visit, &days).await? {
        Ok(charges) => Ok(answer(&visit, StatusCode::OK, days, &charges, &remembered, Shown::default())),
        Err(problem) => Ok(answer(&visit, StatusCode::BAD_REQUEST, shown(days), &[], &remembered, Shown::of(problem))),
    }
}

pub(super) fn compare(visit: Visit) -> Answering {
    one_at_a_time(visit, comparing)
}

async fn comparing(visit: Visit) -> Result<Response, Refusal> {
    let days = Days::read(&visit.form, visit.desk.server.moment().await?);
    let mapping = Mapping::read(&visit.form);
    let charges = match charged(&visit, &days).await? {
        Ok(charges) => charges,
        Err(problem) => {
            return Ok(answer(&visit, StatusCode::BAD_REQUEST, shown(days), &[], &mapping, Shown::of(problem)));
        }
    };
    // Reading and comparing keep a processor busy: not on a thread of the runtime's.
    let compared = tokio::task::spawn_blocking(move || held_against(&visit, days, &charges, &mapping)).await;
    compared.map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "The server failed; its log says why."))
}

/// The charged payments, and what is pasted or in the file.
fn held_against(visit: &Visit, days: Days, charges: &[Charge], mapping: &Mapping) -> Response {
    let given = if visit.form.get("file").is_empty() { "statement" } else { "file" };
    match statement::read(visit.form.whole(given), mapping) {
        Ok(statement) => {
            let comparison = compared(charges, &statement, &days.dates());
            let outcome = outcome(&comparison, &statement);
            let shown = Shown { outcome: Some(outcome), ..Shown::default() };
            let mut response = answer(visit, StatusCode::OK, days, charges, mapping, shown);
            let remember = cookie::remember(&mapping.remembered(), visit.desk.is_secure, &visit.desk.home);
            response.headers_mut().insert(header::SET_COOKIE, remember);
            response
        }
        Err(Unusable { problems, names }) => {
            let shown = Shown { problems, names, outcome: None };
            answer(visit, StatusCode::BAD_REQUEST, days, charges, mapping, shown)
        }
    }
}

pub(super) fn download(visit: Visit) -> Answering {
    one_at_a_time(visit, downloading)
}

async fn downloading(visit: Visit) -> Result<Response, Refusal> {
    let days = Days::read(&visit.query, visit.desk.server.moment().await?);
    let refused = |problem| Refusal::new(StatusCode::BAD_REQUEST, problem);
    let charges = charged(&visit, &days).await?.map_err(refused)?;
    let text = table(&charges)
        .map_err(|_| Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, "The file could not be written."))?;
    let name = format!("attachment; filename=\"charged-{}-{}.csv\"", days.from, days.until);
    let mut response = text.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
    headers.extend(HeaderValue::from_str(&name).ok().map(|name| (header::CONTENT_DISPOSITION, name)));
    Ok(response)
}

/// What was charged, or why that cannot be told.
async fn charged(visit: &Visit, days: &Days) -> Result<Result<Vec<Charge>, String>, Refusal> {
    let period = match days.period() {
        Ok(period) => period,
        Err(problem) => return Ok(Err(problem)),
    };
    let Charges { charges, is_more } = visit.desk.server.charges(period, MOST).await?;
    Ok(if is_more { Err(format!("There are more than {MOST} payments: choose a shorter time.")) } else { Ok(charges) })
}

/// Nothing comes back that was no day.
fn shown(days: Days) -> Days {
    let day = |text: String| Some(text).filter(|text| text::first_moment(text).is_some()).unwrap_or_default();
    Days { from: day(days.from), until: day(days.until) }
}

/// What came of what was asked for.
#[derive(Default)]
struct Shown {
    problems: Vec<String>,
    names: Vec<String>,
    outcome: Option<Outcome>,
}

impl Shown {
    fn of(problem: String) -> Self {
        Self { problems: vec![problem], ..Self::default() }
    }
}

fn answer(
    visit: &Visit,
    status: StatusCode,
    days: Days,
    charges: &[Charge],
    mapping: &Mapping,
    shown: Shown,
) -> Response {
    let template = Page {
        frame: visit.frame(Section::Reconciliation),
        csrf: visit.csrf(),
        download: query(&[("from", &days.from), ("until", &days.until)]),
        from: days.from,
        until: days.until,
        problems: shown.problems,
        names: shown.names,
        mapping: mapping.clone(),
        overpaid: charges.iter().filter(|charge| charge.is_overpaid).take(MOST_SHOWN).map(here).collect(),
        sums: sums(charges, |charge| (text::day(charge.at), words::method(charge.method))),
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
        amount: sum.map_or_else(|| format!("too much to add up, {currency}"), |sum| text::money(sum, currency)),
    };
    all.into_iter().map(sum).collect()
}

fn outcome(comparison: &Comparison<'_>, statement: &Statement) -> Outcome {
    let pair = |(charge, line): &(&Charge, &Line)| Pair { here: here(charge), there: there(line) };
    let counts = [
        comparison.differing.len(),
        comparison.repeated.len(),
        comparison.only_there.len(),
        comparison.only_here.len(),
        comparison.refunds.len(),
    ];
    let some = |lines: u64, one: &str, many: &str| (lines > 0).then(|| text::count(lines, one, many));
    let refund = |(charge, line): &(Option<&Charge>, &Line)| Refund { here: charge.map(here), there: there(line) };
    Outcome {
        lines: statement.lines.len(),
        skipped: some(statement.skipped, "line was", "lines were"),
        skipped_statuses: statement.skipped_statuses.join(", "),
        of_other_days: some(comparison.of_other_days.len() as u64, "line is", "lines are"),
        other_days_lines: places(&comparison.of_other_days),
        aside: some(statement.aside_count, "line names", "lines name"),
        asides: statement.asides.clone(),
        refunds: comparison.refunds.iter().take(MOST_SHOWN).map(refund).collect(),
        matched: comparison.matched.len(),
        differing: comparison.differing.iter().take(MOST_SHOWN).map(pair).collect(),
        repeated: comparison.repeated.iter().take(MOST_SHOWN).map(pair).collect(),
        only_there: comparison.only_there.iter().take(MOST_SHOWN).map(|line| there(line)).collect(),
        only_here: comparison.only_here.iter().take(MOST_SHOWN).map(|charge| here(charge)).collect(),
        is_cut: counts.iter().any(|count| *count > MOST_SHOWN),
        counts,
    }
}

/// Where lines stand in the statement.
fn places(lines: &[&Line]) -> String {
    let places = lines.iter().take(MOST_PLACES).map(|line| line.at.to_string()).collect::<Vec<_>>().join(", ");
    if lines.len() > MOST_PLACES { format!("{places} and more") } else { places }
}

fn here(charge: &Charge) -> Here {
    Here {
        checkout: charge.checkout.to_string(),
        shop_reference: charge.shop_reference.clone(),
        number: number(charge).to_owned(),
        at: text::moment(charge.at),
        method: words::method(charge.method),
        amount: text::money(charge.amount, &charge.currency),
    }
}

fn number(charge: &Charge) -> &str {
    let reference = &charge.reference;
    let numbers = [&reference.order_number, &reference.gateway_number, &reference.transaction_id];
    numbers.into_iter().flatten().chain(&charge.taken_numbers).next().map(String::as_str).unwrap_or_default()
}

/// Somebody may paste what has card numbers in it: those come back as stars. The line's number tells which it is.
fn there(line: &Line) -> There {
    let number = if line.order_number.is_empty() { &line.gateway_number } else { &line.order_number };
    let amount = line.amount.to_string();
    let amount = line.currency.as_ref().map_or(amount, |currency| text::money(line.amount, currency));
    There { line: line.at, number: without_card_numbers(number), amount }
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
            text::moment(charge.at),
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
    fn a_card_number_of_a_statement_is_masked_and_an_order_number_is_not() {
        let text = "order_number,amount\n4000 0000 0000 2016,1\n2026112614050606,2\n";
        let statement = statement::read(text, &Mapping::default()).unwrap();
        let numbers: Vec<_> = statement.lines.iter().map(|line| there(line).number).collect();
        assert_eq!(numbers, ["**** **** **** ****", "2026112614050606"]);
    }

    #[test]
    fn no_cell_of_any_program_for_tables_begins_like_a_formula() {
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
