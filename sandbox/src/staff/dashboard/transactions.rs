//! The list of payments and its filter, which is read from the query and written into links.

use askama::Template;
use axum::http::StatusCode;
use time::{Date, format_description::BorrowedFormatItem, macros::format_description};
use url::form_urlencoded;

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, amount, clock},
    encoding::FormPairs,
    redact::{card_numbers, without_card_numbers},
    staff::{
        dashboard::{PageContext, PageResult, text},
        layout::{Section, Staff},
    },
    store::{
        browse::{Cursor, Entry, Page, Selection, Sort, Start},
        filter::{Filter, MAX_COUNTED, SearchedText},
    },
    web::{self, Document, Policy},
};

/// Payments per page.
const PAGE_SIZE: usize = 25;

#[derive(Template)]
#[template(path = "staff/transactions.html")]
struct Transactions {
    document: Document,
    staff: Staff,
    list: ListQuery,
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

/// An option of a select field.
pub(super) struct Choice {
    pub(super) value: &'static str,
    pub(super) name: &'static str,
    pub(super) is_chosen: bool,
}

/// The header of a sortable column.
struct Column {
    /// The link of the header: sorts in the other direction.
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

pub(super) fn page(context: &PageContext) -> PageResult {
    let list = ListQuery::read(&context.request.query);
    let (page, count) = if list.problems.is_empty() {
        if list.filter.text.as_ref().is_some_and(SearchedText::is_indexed) {
            context.state.searched.notify_one();
        }
        context.state.store.browse(|connection| {
            let selection = Selection::of(connection, list.filter.clone())?;
            let page = selection.page(connection, list.sort, list.start, PAGE_SIZE)?;
            // Everything is on one page, so no second query counts it.
            let is_all = list.start == Start::First && !page.has_later;
            let count = match u32::try_from(page.rows.len()) {
                Ok(count) if is_all => count,
                _ => selection.count(connection)?,
            };
            Ok((page, count))
        })?
    } else {
        (Page { rows: Vec::new(), has_earlier: false, has_later: false }, 0)
    };
    let status = if list.problems.is_empty() { StatusCode::OK } else { StatusCode::BAD_REQUEST };
    let link = |name, entry: Option<&Entry>| entry.map(|entry| list.query(list.sort, Some((name, entry.cursor))));
    let wanted = &list.filter;
    let template = Transactions {
        document: context.document.clone(),
        staff: context.staff(Section::Transactions),
        kinds: choices(&PaymentKind::ALL, PaymentKind::as_str, text::kind, wanted.kind),
        providers: choices(&Provider::ALL, Provider::as_str, Provider::as_str, wanted.provider),
        statuses: choices(&PaymentStatus::ALL, PaymentStatus::as_str, text::status, wanted.status),
        sorts: choices(&Sort::ALL, Sort::as_str, sort_label, Some(list.sort)),
        earlier: if page.has_earlier { link("before", page.rows.first()) } else { None },
        later: if page.has_later { link("after", page.rows.last()) } else { None },
        found: found(count, list.is_filtered()),
        rows: page.rows.into_iter().map(row).collect(),
        time: column(&list, Sort::Newest, Sort::Oldest),
        amount: column(&list, Sort::Largest, Sort::Smallest),
        export: list.query(list.sort, None),
        list,
    };
    Ok(web::page(status, Policy::Staff, &template))
}

/// The options of a list, with the selected one marked.
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

fn column(list: &ListQuery, down: Sort, up: Sort) -> Column {
    let (order, arrow) = match list.sort {
        sort if sort == down => ("descending", " ↓"),
        sort if sort == up => ("ascending", " ↑"),
        _ => ("none", ""),
    };
    let other = if list.sort == down { up } else { down };
    Column { query: list.query(other, None), order, arrow }
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

const DATE: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");
/// The maximum length of a search text.
const MAX_TEXT: usize = 100;
const DAY: i64 = 86_400_000;
/// The fields in a link.
const FIELDS: [&str; 8] = ["q", "kind", "provider", "status", "from", "to", "least", "most"];

/// The filter in the query.
pub(super) struct ListQuery {
    pub(super) filter: Filter,
    pub(super) sort: Sort,
    pub(super) start: Start,
    /// The wrong fields; if any, nothing is queried.
    pub(super) problems: Vec<Problem>,
    /// The fields for the form.
    shown: Vec<(&'static str, String)>,
}

/// A field, and the rule it breaks.
pub(super) struct Problem {
    pub(super) field: &'static str,
    pub(super) rule: &'static str,
}

impl ListQuery {
    pub(super) fn read(query: &FormPairs) -> Self {
        let mut reader = Reader { query, problems: Vec::new() };
        let Searched { text, card, shown } = searched(query.get("q"));
        let filter = Filter {
            text: (!text.is_empty()).then_some(SearchedText { text, card }),
            kind: reader.word("kind", "Kind", PaymentKind::parse),
            provider: reader.word("provider", "Provider", Provider::parse),
            status: reader.word("status", "Status", PaymentStatus::parse),
            from: reader.date("from", "From").map(clock::midnight),
            until: reader.date("to", "To").map(|date| clock::midnight(date) + DAY),
            least: reader.amount("least", "Amount from"),
            most: reader.amount("most", "Amount to"),
        };
        let start = match (cursor(query.get("after")), cursor(query.get("before"))) {
            (Some(cursor), _) => Start::After(cursor),
            (None, Some(cursor)) => Start::Before(cursor),
            (None, None) => Start::First,
        };
        let problems = reader.problems;
        let shown = FIELDS
            .map(|name| (name, if name == "q" { shown.clone() } else { query.get(name).to_owned() }))
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .collect();
        Self { filter, sort: sort(query.get("sort")), start, problems, shown }
    }

    /// A field's value for the form.
    pub(super) fn value(&self, name: &str) -> &str {
        self.shown.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value)
    }

    /// Whether any filter is set.
    pub(super) fn is_filtered(&self) -> bool {
        self.filter != Filter::default()
    }

    /// The query of a link with the same filter and another order or position.
    pub(super) fn query(&self, sort: Sort, more: Option<(&str, Cursor)>) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in &self.shown {
            query.append_pair(name, value);
        }
        if sort != Sort::Newest {
            query.append_pair("sort", sort.as_str());
        }
        if let Some((name, cursor)) = more {
            query.append_pair(name, &format!("{}.{}", cursor.key, cursor.id));
        }
        query.finish()
    }
}

/// The search text.
struct Searched {
    text: String,
    /// Its mask, if it may be a card number.
    card: Option<String>,
    /// Its text for the form.
    shown: String,
}

/// A search for a whole card number uses its mask, and the page does not repeat the number. As many digits can be an order number, too.
fn searched(text: &str) -> Searched {
    // A NUL would end the query of the full-text index, and no stored text has one.
    let text: String = text.chars().filter(|character| *character != '\0').take(MAX_TEXT).collect();
    let digits = text.replace([' ', '-'], "");
    let may_be_card = (13..=20).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    let card = may_be_card.then(|| card_numbers::mask_card(&digits));
    let is_card = may_be_card && without_card_numbers(&digits) != digits;
    let shown = card.clone().filter(|_| is_card).unwrap_or_else(|| text.clone());
    Searched { text, card, shown }
}

/// A sort order by its name in the query.
fn sort(name: &str) -> Sort {
    Sort::ALL.into_iter().find(|sort| sort.as_str() == name).unwrap_or_default()
}

fn cursor(text: &str) -> Option<Cursor> {
    let (key, id) = text.split_once('.')?;
    Some(Cursor { key: key.parse().ok()?, id: id.parse().ok()? })
}

struct Reader<'a> {
    query: &'a FormPairs,
    problems: Vec<Problem>,
}

impl Reader<'_> {
    fn read<T>(
        &mut self,
        name: &str,
        field: &'static str,
        rule: &'static str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let value = self.query.get(name);
        if value.is_empty() {
            return None;
        }
        let parsed = parse(value);
        if parsed.is_none() {
            self.problems.push(Problem { field, rule });
        }
        parsed
    }

    fn word<T>(&mut self, name: &str, field: &'static str, parse: fn(&str) -> Option<T>) -> Option<T> {
        self.read(name, field, "must be one of the list", parse)
    }

    fn date(&mut self, name: &str, field: &'static str) -> Option<Date> {
        self.read(name, field, "must be a date like 2026-01-31", |text| Date::parse(text, DATE).ok())
    }

    fn amount(&mut self, name: &str, field: &'static str) -> Option<i64> {
        self.read(name, field, "must be an amount like 100 or 99.50", |text| {
            let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            let amount = amount::exact(text).filter(|_| is_plain)?;
            let minor = amount.checked_mul(rust_decimal::Decimal::ONE_HUNDRED)?.normalize();
            (minor.scale() == 0).then(|| i64::try_from(minor.mantissa()).ok())?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list_query(query: &str) -> ListQuery {
        ListQuery::read(&FormPairs::parse(query.as_bytes()))
    }

    #[test]
    fn query_becomes_a_filter_and_a_link_again() {
        let list =
            list_query("q=a+b&kind=qr&provider=MBank&status=CHARGE&from=2026-01-31&to=2026-01-31&least=1&most=99.50");
        assert!(list.problems.is_empty());
        let filter = &list.filter;
        assert_eq!((filter.kind, filter.provider), (Some(PaymentKind::Qr), Some(Provider::MBank)));
        assert_eq!((filter.least, filter.most), (Some(100), Some(9950)));
        assert_eq!(filter.until.zip(filter.from).map(|(until, from)| until - from), Some(DAY), "the whole day");
        let link = list.query(Sort::Largest, Some(("after", Cursor { key: -5, id: 7 })));
        let again = list_query(&link);
        assert_eq!(again.filter, list.filter);
        assert_eq!((again.sort, again.start), (Sort::Largest, Start::After(Cursor { key: -5, id: 7 })));
    }

    #[test]
    fn each_mistake_names_its_field() {
        let list = list_query("kind=x&provider=x&status=x&from=x&to=2026-02-30&least=1.005&most=-1");
        let fields: Vec<_> = list.problems.iter().map(|problem| problem.field).collect();
        assert_eq!(fields, ["Kind", "Provider", "Status", "From", "To", "Amount from", "Amount to"]);
    }

    #[test]
    fn card_number_search_matches_mask() {
        let list = list_query("q=4111+1111-1111+1111");
        assert_eq!(list.filter.text.as_ref().and_then(|text| text.card.as_deref()), Some("411111******1111"));
        assert_eq!(list.query(Sort::Newest, None), "q=411111******1111");
    }

    #[test]
    fn numeric_order_number_search_is_not_masked() {
        for number in ["1763695200123", "2026112614050606", "4708307848535"] {
            let list = list_query(&format!("q={number}"));
            assert_eq!(list.filter.text.as_ref().map(|text| text.text.as_str()), Some(number));
            assert_eq!(list.query(Sort::Newest, None), format!("q={number}"));
        }
    }
}
