//! The staff's list of checkouts: its pages, by a filter, and their totals.

use tokio_postgres::types::ToSql;

use super::{
    needs, rows,
    session::{Problem, Session},
    staff::{listed, unknown_since},
};
use crate::storage::listing::{
    Bounds, CheckoutFilter, CheckoutList, CheckoutTotals, FilterValues, ListCheckouts, ListPosition, MOST_SEARCHED,
    Start, TextFilter, Totalling,
};

/// Any state if none is requested. In a small set, the state is filtered afterwards.
macro_rules! any_state {
    () => {
        "($6::text IS NULL OR checkouts.state = $6)"
    };
}

/// The bounds of checkouts, in an order.
macro_rules! between {
    ($direction:literal) => {
        concat!(
            " AND (checkouts.opened_at, checkouts.id) < ($1, $2) AND (checkouts.opened_at, checkouts.id) > ($3, $4)
             ORDER BY checkouts.opened_at ",
            $direction,
            ", checkouts.id ",
            $direction
        )
    };
}

/// A page of the checkouts of a named set that satisfy a condition. No index covers a method, a part of a number, or the last
/// digits of a phone or card. `OFFSET 0` keeps the planner from reading all payments instead of one checkout's.
macro_rules! page {
    ($from:expr, $condition:expr, $direction:literal) => {
        concat!(
            "SELECT checkouts.id FROM ",
            $from,
            " WHERE ",
            $condition,
            " AND ($7::text IS NULL OR EXISTS (SELECT 1 FROM payments
                    WHERE payments.checkout_id = checkouts.id AND payments.method = $7 OFFSET 0))
                AND ($8::text IS NULL AND $9::text IS NULL OR strpos(lower(checkouts.reference), $8) > 0
                    OR strpos(checkouts.id, $8) > 0
                    OR EXISTS (SELECT 1 FROM payments WHERE payments.checkout_id = checkouts.id AND (
                        strpos(payments.id, $8) > 0 OR strpos(lower(payments.order_number), $8) > 0
                        OR strpos(lower(payments.gateway_number), $8) > 0
                        OR strpos(lower(payments.transaction_id), $8) > 0
                        OR payments.phone_last2 = $9 OR payments.card_last4 = $9) OFFSET 0))",
            between!($direction),
            " LIMIT $5"
        )
    };
}

/// The last checkout of one scan.
macro_rules! window {
    ($condition:expr, $direction:literal) => {
        concat!(
            "SELECT checkouts.opened_at, checkouts.id FROM checkouts WHERE ",
            $condition,
            between!($direction),
            " LIMIT 1 OFFSET $5"
        )
    };
}

macro_rules! totals {
    ($from:expr, $condition:expr) => {
        concat!(
            "SELECT checkouts.id, checkouts.opened_at, checkouts.amount, checkouts.currency, payments.method FROM (",
            page!($from, $condition, "DESC"),
            ") AS page JOIN checkouts ON checkouts.id = page.id
             LEFT JOIN payments ON payments.checkout_id = page.id AND payments.state = 'charged'
                AND ($7::text IS NULL OR payments.method = $7)"
        )
    };
}

/// The checkouts of a small set.
macro_rules! need_person {
    () => {
        concat!("(", needs::all!(), ") AS found JOIN checkouts ON checkouts.id = found.id")
    };
}

/// The checkouts found by any number that a person may have; each is looked up in an index.
macro_rules! called {
    ($number:literal) => {
        concat!(
            "(SELECT id FROM checkouts WHERE id = ",
            $number,
            " UNION SELECT id FROM checkouts WHERE reference = ",
            $number,
            " UNION SELECT checkout_id FROM payments WHERE id = ",
            $number,
            " UNION SELECT checkout_id FROM payments WHERE order_number = ",
            $number,
            " UNION SELECT checkout_id FROM payments WHERE gateway_number = ",
            $number,
            " UNION SELECT checkout_id FROM payments WHERE transaction_id = ",
            $number,
            " UNION SELECT payments.checkout_id FROM taken_numbers
                JOIN payments ON payments.id = taken_numbers.payment_id WHERE taken_numbers.number = ",
            $number,
            " UNION SELECT payments.checkout_id FROM claims
                JOIN payments ON payments.id = claims.payment_id WHERE claims.number = ",
            $number,
            ") AS found JOIN checkouts ON checkouts.id = found.id"
        )
    };
}

/// Those of them that need a person.
macro_rules! called_and_need_person {
    () => {
        concat!(called!("$11"), " AND found.id IN (", needs::all!(), ")")
    };
}

/// The statements of one kind of filter: each is planned once.
struct Statements {
    /// The pages with the newest first, and with the oldest first.
    pages: [&'static str; 2],
    windows: [&'static str; 2],
    totals: &'static str,
}

const ALL: Statements = Statements {
    pages: [page!("checkouts", any_state!(), "DESC"), page!("checkouts", any_state!(), "ASC")],
    windows: [window!(any_state!(), "DESC"), window!(any_state!(), "ASC")],
    totals: totals!("checkouts", any_state!()),
};
const IN_STATE: Statements = Statements {
    pages: [
        page!("checkouts", "checkouts.state = $6::text", "DESC"),
        page!("checkouts", "checkouts.state = $6::text", "ASC"),
    ],
    windows: [window!("checkouts.state = $6::text", "DESC"), window!("checkouts.state = $6::text", "ASC")],
    totals: totals!("checkouts", "checkouts.state = $6::text"),
};
const NEED_PERSON: Statements = Statements {
    pages: [page!(need_person!(), any_state!(), "DESC"), page!(need_person!(), any_state!(), "ASC")],
    totals: totals!(need_person!(), any_state!()),
    ..ALL
};
const CALLED: Statements = Statements {
    pages: [page!(called!("$10"), any_state!(), "DESC"), page!(called!("$10"), any_state!(), "ASC")],
    totals: totals!(called!("$10"), any_state!()),
    ..ALL
};
const CALLED_AND_NEED_PERSON: Statements = Statements {
    pages: [
        page!(called_and_need_person!(), any_state!(), "DESC"),
        page!(called_and_need_person!(), any_state!(), "ASC"),
    ],
    totals: totals!(called_and_need_person!(), any_state!()),
    ..ALL
};

impl Statements {
    fn of(which: &CheckoutFilter) -> Self {
        match &which.text {
            Some(TextFilter::Whole(_)) if which.needs_person => CALLED_AND_NEED_PERSON,
            Some(TextFilter::Whole(_)) => CALLED,
            _ if which.needs_person => NEED_PERSON,
            _ if which.state.is_some() => IN_STATE,
            _ => ALL,
        }
    }
}

fn window_values<'a>(filter: &'a FilterValues, most: &'a i64) -> Vec<&'a (dyn ToSql + Sync)> {
    let Bounds { newer, older, .. } = &filter.bounds;
    vec![&newer.0, &newer.1, &older.0, &older.1, most, &filter.state]
}

fn page_values<'a>(filter: &'a FilterValues, most: &'a i64) -> Vec<&'a (dyn ToSql + Sync)> {
    let mut values = window_values(filter, most);
    values.push(&filter.method);
    values.push(&filter.part);
    values.push(&filter.digits);
    if let Some(since) = &filter.unknown_since {
        values.push(since);
    }
    if let Some(number) = &filter.number {
        values.push(number);
    }
    values
}

/// The last checkout within the scan limit, if the scan ends before all checkouts.
async fn limit(
    filter: &mut FilterValues,
    db: &Session,
    statements: &Statements,
    which: &CheckoutFilter,
) -> Result<Option<ListPosition>, Problem> {
    if !which.is_searched() {
        return Ok(None);
    }
    let last = i64::from(MOST_SEARCHED) - 1;
    let [descending, ascending] = statements.windows;
    let sql = if filter.bounds.is_ascending { ascending } else { descending };
    let Some(row) = db.row(sql, &window_values(filter, &last)).await? else { return Ok(None) };
    let place = ListPosition { opened_at: row.try_get(0)?, id: rows::read(row.try_get(1)?, "checkout")? };
    filter.bounds.end_with(&place);
    Ok(Some(place))
}

pub(super) async fn list(db: &Session, list: &ListCheckouts) -> Result<CheckoutList, Problem> {
    let unknown_since = unknown_since(db).await?;
    let statements = Statements::of(&list.which);
    let mut values = FilterValues::of(&list.which, &list.start, unknown_since);
    let end = limit(&mut values, db, &statements, &list.which).await?;
    let most = i64::from(list.most) + 1;
    let [descending, ascending] = statements.pages;
    let is_ascending = values.bounds.is_ascending;
    let found = db.rows(if is_ascending { ascending } else { descending }, &page_values(&values, &most)).await?;
    let ids = found.iter().take(list.most as usize).map(|row| Ok(row.try_get(0)?));
    let mut ids = ids.collect::<Result<Vec<String>, Problem>>()?;
    if is_ascending {
        ids.reverse();
    }
    let views = rows::views(db, &ids).await?;
    let is_more = found.len() > list.most as usize;
    let checkouts = listed(db, views, unknown_since).await?;
    Ok(CheckoutList { checkouts, is_more, searched_to: end.filter(|_| !is_more) })
}

pub(super) async fn totals(db: &Session, which: &CheckoutFilter, most: u32) -> Result<CheckoutTotals, Problem> {
    let statements = Statements::of(which);
    let mut values = FilterValues::of(which, &Start::Newest, unknown_since(db).await?);
    let end = limit(&mut values, db, &statements, which).await?;
    let mut totalling = Totalling::default();
    for row in &db.rows(statements.totals, &page_values(&values, &i64::from(most))).await? {
        let (amount, currency) = (row.try_get(2)?, row.try_get(3)?);
        totalling.add(row.try_get(0)?, row.try_get(1)?, amount, currency, row.try_get(4)?);
    }
    Ok(totalling.totals(end.as_ref(), most)?)
}
