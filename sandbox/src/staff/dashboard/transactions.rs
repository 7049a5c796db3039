//! The list of payments.

use askama::Template;
use axum::http::StatusCode;

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider},
    staff::{
        dashboard::{
            filter::Wish,
            text,
            visit::{Answer, Visit},
        },
        layout::{Section, Staff},
    },
    store::{
        browse::{Entry, Page, Selection, Sort, Start},
        filter::MAX_COUNTED,
        searched_text::SearchedText,
    },
    web::{self, Document, Policy},
};

/// Payments on a page.
const PAGE_SIZE: usize = 25;

#[derive(Template)]
#[template(path = "staff/transactions.html")]
struct Transactions {
    document: Document,
    staff: Staff,
    wish: Wish,
    kinds: Vec<Choice>,
    providers: Vec<Choice>,
    statuses: Vec<Choice>,
    sorts: Vec<Choice>,
    rows: Vec<Row>,
    found: String,
    earlier: Option<String>,
    later: Option<String>,
    time: Column,
    amount: Column,
    export: String,
}

/// One of a list.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
}

/// The head of a column that can be sorted by.
struct Column {
    /// Where the head leads to: the other order of the two.
    query: String,
    /// For `aria-sort`.
    order: &'static str,
    arrow: &'static str,
}

struct Row {
    id: i64,
    time: String,
    order_number: String,
    description: String,
    method: String,
    payer: Option<String>,
    amount: String,
    status: &'static str,
    tone: &'static str,
    reason: Option<&'static str>,
}

pub(super) fn page(visit: &Visit<'_>) -> Answer {
    let wish = Wish::read(visit.query);
    let (page, count) = if wish.problems.is_empty() {
        if wish.filter.text.as_ref().is_some_and(SearchedText::is_indexed) {
            visit.state.searched.notify_one();
        }
        visit.state.store.browse(|connection| {
            let selection = Selection::of(connection, wish.filter.clone())?;
            let page = selection.page(connection, wish.sort, wish.start, PAGE_SIZE)?;
            // All there is stands on one page: no second query has to count it.
            let is_all = wish.start == Start::First && !page.has_later;
            let count = match u32::try_from(page.rows.len()) {
                Ok(count) if is_all => count,
                _ => selection.count(connection)?,
            };
            Ok((page, count))
        })?
    } else {
        (Page { rows: Vec::new(), has_earlier: false, has_later: false }, 0)
    };
    let status = if wish.problems.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let link = |name, entry: Option<&Entry>| entry.map(|entry| wish.query(wish.sort, Some((name, entry.place))));
    let wanted = &wish.filter;
    let template = Transactions {
        document: visit.document.clone(),
        staff: visit.staff(Section::Transactions),
        kinds: choices(&PaymentKind::ALL, PaymentKind::as_str, text::kind, wanted.kind),
        providers: choices(&Provider::ALL, Provider::as_str, Provider::as_str, wanted.provider),
        statuses: choices(&PaymentStatus::ALL, PaymentStatus::as_str, text::status, wanted.status),
        sorts: choices(&Sort::ALL, Sort::as_str, sort_label, Some(wish.sort)),
        earlier: if page.has_earlier { link("before", page.rows.first()) } else { None },
        later: if page.has_later { link("after", page.rows.last()) } else { None },
        found: found(count, wish.is_filtered()),
        rows: page.rows.into_iter().map(row).collect(),
        time: column(&wish, Sort::Newest, Sort::Oldest),
        amount: column(&wish, Sort::Largest, Sort::Smallest),
        export: wish.query(wish.sort, None),
        wish,
    };
    Ok(web::page(status, Policy::Staff, &template))
}

/// The choices of a list, the chosen one marked.
pub(super) fn choices<T: Copy + PartialEq>(
    all: &[T],
    value: fn(T) -> &'static str,
    name: fn(T) -> &'static str,
    chosen: Option<T>,
) -> Vec<Choice> {
    all.iter().map(|one| Choice { value: value(*one), name: name(*one), is_chosen: chosen == Some(*one) }).collect()
}

fn sort_label(sort: Sort) -> &'static str {
    match sort {
        Sort::Newest => "Newest first",
        Sort::Oldest => "Oldest first",
        Sort::Largest => "Largest first",
        Sort::Smallest => "Smallest first",
    }
}

fn column(wish: &Wish, down: Sort, up: Sort) -> Column {
    let (order, arrow) = match wish.sort {
        sort if sort == down => ("descending", " ↓"),
        sort if sort == up => ("ascending", " ↑"),
        _ => ("none", ""),
    };
    let other = if wish.sort == down { up } else { down };
    Column { query: wish.query(other, None), order, arrow }
}

fn found(count: u32, is_filtered: bool) -> String {
    let what = if is_filtered { "matching payments" } else { "payments" };
    match count {
        1 if is_filtered => "1 matching payment".to_owned(),
        1 => "1 payment".to_owned(),
        count if count > MAX_COUNTED => format!("More than {} {what}", text::count(MAX_COUNTED.into())),
        count => format!("{} {what}", text::count(count.into())),
    }
}

fn row(entry: Entry) -> Row {
    let record = entry.record;
    let payment = &record.payment;
    Row {
        id: record.id,
        time: text::time(record.created_at),
        method: text::method(payment),
        payer: text::payer(&record).map(str::to_owned),
        amount: text::money(payment),
        status: text::status(payment.status),
        tone: text::tone(payment.status),
        reason: payment.reject_reason.map(text::short_reason),
        order_number: payment.order_number.clone(),
        description: record.description,
    }
}
