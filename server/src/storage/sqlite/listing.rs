//! The staff's list of checkouts: its pages, by a filter, and their totals.

use rusqlite::{Connection, OptionalExtension, ToSql};

use super::{
    rows::read,
    staff::{listed_one, need_person, unknown_since},
};
use crate::{
    storage::{
        StorageError,
        listing::{
            Bounds, CheckoutFilter, CheckoutList, CheckoutTotals, FilterValues, ListCheckouts, ListPosition,
            MOST_SEARCHED, Start, TextFilter, Totalling,
        },
    },
    values::CheckoutId,
};

/// The checkouts found by any number that a person may have; each is looked up in an index.
const CALLED: &str = "SELECT id FROM checkouts WHERE id = ?10
    UNION SELECT id FROM checkouts WHERE reference = ?10
    UNION SELECT checkout_id FROM payments WHERE id = ?10
    UNION SELECT checkout_id FROM payments WHERE order_number = ?10
    UNION SELECT checkout_id FROM payments WHERE gateway_number = ?10
    UNION SELECT checkout_id FROM payments WHERE transaction_id = ?10
    UNION SELECT payments.checkout_id FROM taken_numbers
        JOIN payments ON payments.id = taken_numbers.payment_id WHERE taken_numbers.number = ?10
    UNION SELECT payments.checkout_id FROM claims
        JOIN payments ON payments.id = claims.payment_id WHERE claims.number = ?10";

/// Conditions that no index covers: a method (`?7`), a part of a number (`?8`), the last digits of a phone or a card (`?9`).
const TESTS: &str =
    "(?7 IS NULL OR EXISTS (SELECT 1 FROM payments WHERE payments.checkout_id = checkouts.id AND method = ?7))
    AND (?8 IS NULL AND ?9 IS NULL OR instr(lower(checkouts.reference), ?8) > 0 OR instr(checkouts.id, ?8) > 0
        OR EXISTS (SELECT 1 FROM payments WHERE payments.checkout_id = checkouts.id AND (
            instr(payments.id, ?8) > 0 OR instr(lower(order_number), ?8) > 0 OR instr(lower(gateway_number), ?8) > 0
            OR instr(lower(transaction_id), ?8) > 0 OR phone_last2 = ?9 OR card_last4 = ?9)))";

/// A set of checkouts, and a condition.
struct Source {
    from: String,
    condition: &'static str,
}

impl Source {
    fn of(which: &CheckoutFilter) -> Self {
        // In a small set, the state is filtered afterwards; for all checkouts, it is the first column of an index.
        let any_state = "(?6 IS NULL OR checkouts.state = ?6)";
        let condition = if which.state.is_some() { "checkouts.state = ?6" } else { any_state };
        match &which.text {
            Some(TextFilter::Whole(_)) if which.needs_person => {
                let called = among(&CALLED.replace("?10", "?11"));
                Self { from: format!("{called} AND found.id IN ({})", need_person()), condition: any_state }
            }
            Some(TextFilter::Whole(_)) => Self { from: among(CALLED), condition: any_state },
            _ if which.needs_person => Self { from: among(&need_person()), condition: any_state },
            _ => Self { from: "checkouts".to_owned(), condition },
        }
    }

    fn page(&self, is_ascending: bool) -> String {
        let Self { from, condition } = self;
        let rest = between(is_ascending);
        format!("SELECT checkouts.id FROM {from} WHERE {condition} AND {TESTS} AND {rest} LIMIT ?5")
    }

    /// The last checkout of one scan.
    fn window(&self, is_ascending: bool) -> String {
        let (condition, rest) = (self.condition, between(is_ascending));
        format!("SELECT opened_at, id FROM checkouts WHERE {condition} AND {rest} LIMIT 1 OFFSET ?5")
    }

    fn totals(&self) -> String {
        format!(
            "SELECT checkouts.id, checkouts.opened_at, checkouts.amount, checkouts.currency, payments.method
             FROM ({}) AS found CROSS JOIN checkouts ON checkouts.id = found.id
             LEFT JOIN payments ON payments.checkout_id = found.id AND payments.state = 'charged'
                AND (?7 IS NULL OR payments.method = ?7)",
            self.page(false)
        )
    }
}

/// The checkouts of a small set, which is read first.
fn among(set: &str) -> String {
    format!("({set}) AS found CROSS JOIN checkouts ON checkouts.id = found.id")
}

fn between(is_ascending: bool) -> String {
    let direction = if is_ascending { "ASC" } else { "DESC" };
    format!(
        "(checkouts.opened_at, checkouts.id) < (?1, ?2) AND (checkouts.opened_at, checkouts.id) > (?3, ?4)
         ORDER BY checkouts.opened_at {direction}, checkouts.id {direction}"
    )
}

fn window_values<'a>(filter: &'a FilterValues, most: &'a u32) -> Vec<&'a dyn ToSql> {
    let Bounds { newer, older, .. } = &filter.bounds;
    vec![&newer.0, &newer.1, &older.0, &older.1, most, &filter.state]
}

fn page_values<'a>(filter: &'a FilterValues, most: &'a u32) -> Vec<&'a dyn ToSql> {
    let mut values = window_values(filter, most);
    values.extend([&filter.method as &dyn ToSql, &filter.part, &filter.digits]);
    values.extend(filter.unknown_since.as_ref().map(|since| since as &dyn ToSql));
    values.extend(filter.number.as_ref().map(|number| number as &dyn ToSql));
    values
}

/// The last checkout within the scan limit, if the scan ends before all checkouts.
fn limit(
    filter: &mut FilterValues,
    db: &Connection,
    source: &Source,
    which: &CheckoutFilter,
) -> Result<Option<ListPosition>, StorageError> {
    if !which.is_searched() {
        return Ok(None);
    }
    let last = MOST_SEARCHED - 1;
    let mut statement = db.prepare_cached(&source.window(filter.bounds.is_ascending))?;
    let row = statement
        .query_row(&window_values(filter, &last)[..], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
        .optional()?;
    let Some((opened_at, id)) = row else { return Ok(None) };
    let place = ListPosition { opened_at, id: read(&id, "checkout")? };
    filter.bounds.end_with(&place);
    Ok(Some(place))
}

pub(super) fn list(db: &Connection, list: &ListCheckouts) -> Result<CheckoutList, StorageError> {
    let unknown_since = unknown_since(db)?;
    let source = Source::of(&list.which);
    let mut values = FilterValues::of(&list.which, &list.start, unknown_since);
    let end = limit(&mut values, db, &source, &list.which)?;
    let most = list.most.saturating_add(1);
    let mut statement = db.prepare_cached(&source.page(values.bounds.is_ascending))?;
    let ids = statement.query_map(&page_values(&values, &most)[..], |row| row.get(0))?;
    let mut ids = ids.collect::<Result<Vec<String>, _>>()?;
    let is_more = ids.len() > list.most as usize;
    ids.truncate(list.most as usize);
    if values.bounds.is_ascending {
        ids.reverse();
    }
    let one = |id: &String| listed_one(db, &read::<CheckoutId>(id, "checkout")?, unknown_since);
    let checkouts = ids.iter().map(one).collect::<Result<_, _>>()?;
    Ok(CheckoutList { checkouts, is_more, searched_to: end.filter(|_| !is_more) })
}

pub(super) fn totals(db: &Connection, which: &CheckoutFilter, most: u32) -> Result<CheckoutTotals, StorageError> {
    let source = Source::of(which);
    let mut values = FilterValues::of(which, &Start::Newest, unknown_since(db)?);
    let end = limit(&mut values, db, &source, which)?;
    let mut statement = db.prepare_cached(&source.totals())?;
    let mut rows = statement.query(&page_values(&values, &most)[..])?;
    let mut totalling = Totalling::default();
    while let Some(row) = rows.next()? {
        let text = |column| row.get::<_, String>(column);
        let method: Option<String> = row.get(4)?;
        totalling.add(text(0)?, row.get(1)?, &text(2)?, &text(3)?, method.as_deref());
    }
    totalling.totals(end.as_ref(), most)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        storage::sqlite::{
            connection::open_in_memory,
            staff::{CHARGES, ENDS, LAST_REPORT, NEEDS},
        },
        values::CheckoutState,
    };

    /// The indexes that hold a small part of a table.
    fn partial_indexes(db: &Connection) -> Vec<String> {
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'index' AND sql LIKE '% WHERE %'";
        db.prepare(sql).unwrap().raw_query().mapped(|row| row.get(0)).collect::<Result<_, _>>().unwrap()
    }

    /// At a million rows, reading a table or one of its whole indexes, or sorting what was found in one, would take a hundred
    /// times as long. These are the queries that really run.
    #[test]
    fn staff_queries_never_scan_a_full_table() {
        let db = open_in_memory(Arc::new(|| 0)).unwrap();
        let all = Source::of(&CheckoutFilter::default());
        let in_state = Source::of(&CheckoutFilter { state: Some(CheckoutState::Open), ..CheckoutFilter::default() });
        let pages = [&all, &in_state].into_iter().flat_map(|source| {
            [false, true].into_iter().flat_map(|ascending| [source.page(ascending), source.window(ascending)])
        });
        let pages: Vec<String> = pages.collect();
        let sorted = pages.len();
        let person = Source::of(&CheckoutFilter { needs_person: true, ..CheckoutFilter::default() });
        let text = Some(TextFilter::Whole("x".to_owned()));
        let whole = Source::of(&CheckoutFilter { text: text.clone(), ..CheckoutFilter::default() });
        let both = Source::of(&CheckoutFilter { text, needs_person: true, ..CheckoutFilter::default() });
        let small = partial_indexes(&db);
        let needs = NEEDS.iter().flat_map(|need| [need.all(), need.counted(), need.is_one()]);
        let found = [
            person.page(false),
            person.page(true),
            whole.page(false),
            both.page(false),
            all.totals(),
            in_state.totals(),
            CHARGES.to_owned(),
            ENDS.to_owned(),
            LAST_REPORT.to_owned(),
        ];
        for (at, sql) in pages.into_iter().chain(needs).chain(found).enumerate() {
            let mut plan = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = plan.raw_query().mapped(|row| row.get(3)).collect::<Result<Vec<String>, _>>().unwrap();
            let is_small = |step: &str| small.iter().any(|index| step.ends_with(&format!(" INDEX {index}")));
            let is_kept_aside = |step: &str| step.starts_with("SCAN found") || step.starts_with("SCAN (subquery");
            let is_whole = |step: &String| {
                step.starts_with("SCAN") && !is_small(step) && !is_kept_aside(step) && step != "SCAN CONSTANT ROW"
            };
            assert!(!steps.iter().any(is_whole), "{sql}: {steps:?}");
            let is_sorted = |step: &String| step.contains("TEMP B-TREE FOR ORDER BY");
            assert!(at >= sorted || !steps.iter().any(is_sorted), "{sql}: {steps:?}");
        }
    }
}
