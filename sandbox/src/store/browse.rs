//! Keyset pagination: filtered and sorted payments, one page at a time from a cursor.

use rusqlite::{Connection, Row};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::all,
    store::{
        StoreError,
        filter::{Conditions, Filter, MAX_COUNTED},
        payments::{self, Record},
        text_search::Matches,
    },
};

/// The order of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumCount, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Sort {
    #[default]
    Newest,
    Oldest,
    Largest,
    Smallest,
}

impl Sort {
    /// All values.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The column, and whether the order is descending.
    fn column(self) -> (&'static str, bool) {
        match self {
            Self::Newest => ("created_at", true),
            Self::Oldest => ("created_at", false),
            Self::Largest => ("amount_minor", true),
            Self::Smallest => ("amount_minor", false),
        }
    }
}

/// A position in a sorted list: the value of the sorted column, and the payment's id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) key: i64,
    pub(crate) id: i64,
}

/// The page of the list to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Start {
    #[default]
    First,
    After(Cursor),
    Before(Cursor),
}

/// A payment in a list, and its position.
pub(crate) struct Entry {
    pub(crate) record: Record,
    pub(crate) cursor: Cursor,
}

/// A page of the list.
pub(crate) struct Page {
    pub(crate) rows: Vec<Entry>,
    pub(crate) has_earlier: bool,
    pub(crate) has_later: bool,
}

/// The payments that match a filter. If the filter has a text, it is searched first.
pub(crate) struct Selection {
    filter: Filter,
    matches: Option<Matches>,
}

impl Selection {
    /// Prepares the parts that a list and its count share.
    pub(crate) fn of(connection: &Connection, filter: Filter) -> Result<Self, StoreError> {
        let others = Conditions::of_known(&filter);
        let matches = filter.text.as_ref().map(|text| text.matches(connection, &others)).transpose()?;
        Ok(Self { filter, matches })
    }

    /// One page of them.
    pub(crate) fn page(
        &self,
        connection: &Connection,
        sort: Sort,
        start: Start,
        size: usize,
    ) -> Result<Page, StoreError> {
        let (is_first, backwards) = (start == Start::First, matches!(start, Start::Before(_)));
        let list = List::of(self, sort, start);
        // One more row than the page has shows whether there is another page.
        let sql = list.sql(&format!("{}, p.{} AS cursor", payments::COLUMNS, list.column), size + 1);
        let mut statement = connection.prepare(&sql)?;
        let mut rows: Vec<Entry> =
            statement.query_map(list.conditions.values().as_slice(), list_row)?.collect::<Result<_, _>>()?;
        let has_more = rows.len() > size;
        rows.truncate(size);
        if backwards {
            rows.reverse();
        }
        let (has_earlier, has_later) = if backwards { (has_more, true) } else { (!is_first, has_more) };
        Ok(Page { rows, has_earlier, has_later })
    }

    /// Their number, counted up to one past `MAX_COUNTED`.
    pub(crate) fn count(&self, connection: &Connection) -> Result<u32, StoreError> {
        match &self.matches {
            Some(Matches::Ids(ids)) => return Ok(u32::try_from(ids.len()).unwrap_or(u32::MAX)),
            Some(Matches::Many) => return Ok(MAX_COUNTED + 1),
            Some(Matches::NotIndexed) | None => {}
        }
        let conditions = self.looked_through(None);
        let sql = counting(&conditions);
        Ok(connection.prepare(&sql)?.query_row(conditions.values().as_slice(), |row| row.get(0))?)
    }

    /// The source of a list, and its conditions. A few known ids are looked
    /// up and sorted; more are filtered while the list is read in its order.
    fn source(&self, sorted_by: &str) -> (&'static str, Conditions) {
        let Some(Matches::Ids(ids)) = &self.matches else {
            return (ALL, self.looked_through(Some(sorted_by)));
        };
        let (source, sql) = match ids.len() {
            ..=FEW => (KNOWN, Vec::new()),
            _ => (ALL, vec!["+p.id IN (SELECT value FROM json_each(?))".to_owned()]),
        };
        (source, Conditions { sql, values: vec![Box::new(serde_json::json!(ids).to_string())] })
    }

    /// All conditions of the filter.
    fn looked_through(&self, sorted_by: Option<&str>) -> Conditions {
        let mut conditions = Conditions::of(&self.filter, sorted_by);
        if let Some(text) = &self.filter.text {
            let (sql, values) = text.condition();
            conditions.sql.push(sql);
            conditions.values.extend(values);
        }
        conditions
    }
}

/// Up to this many matches are looked up by id; more are filtered during a scan. Lower in this crate's tests.
const FEW: usize = if cfg!(test) { 20 } else { 1000 };
const ALL: &str = "payments p";
const KNOWN: &str = "json_each(?) known CROSS JOIN payments p ON p.id = known.value";

/// A filtered list from a position on, in the direction of its page.
struct List {
    source: &'static str,
    conditions: Conditions,
    column: &'static str,
    order: &'static str,
}

impl List {
    fn of(selection: &Selection, sort: Sort, start: Start) -> Self {
        let (column, goes_down) = sort.column();
        let (cursor, backwards) = match start {
            Start::First => (None, false),
            Start::After(cursor) => (Some(cursor), false),
            Start::Before(cursor) => (Some(cursor), true),
        };
        let (compare, order) = if goes_down != backwards { ("<", "DESC") } else { (">", "ASC") };
        let (source, mut conditions) = selection.source(column);
        if let Some(cursor) = cursor {
            conditions.sql.push(format!("(p.{column}, p.id) {compare} (?, ?)"));
            conditions.values.push(Box::new(cursor.key));
            conditions.values.push(Box::new(cursor.id));
        }
        Self { source, conditions, column, order }
    }

    fn sql(&self, select: &str, limit: usize) -> String {
        let Self { source, conditions, column, order } = self;
        let clause = conditions.clause();
        format!("{select} FROM {source} {clause} ORDER BY p.{column} {order}, p.id {order} LIMIT {limit}")
    }
}

fn list_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let record = payments::record(row)?;
    let cursor = Cursor { key: row.get("cursor")?, id: record.id };
    Ok(Entry { record, cursor })
}

fn counting(conditions: &Conditions) -> String {
    format!("SELECT COUNT(*) FROM (SELECT 1 FROM {ALL} {} LIMIT {})", conditions.clause(), MAX_COUNTED + 1)
}

/// The payment with an id, if any.
pub(crate) fn by_id(connection: &Connection, id: i64) -> Result<Option<Record>, StoreError> {
    payments::first(connection, "WHERE p.id = ?1", [id])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{PaymentKind, PaymentStatus, Provider},
        settings::Database,
        store::{Store, filter::SearchedText},
    };

    fn plan(store: &Store, sql: &str, conditions: &Conditions) -> String {
        let steps: Vec<String> = store
            .read(|connection| {
                let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
                let steps = statement.query_map(conditions.values().as_slice(), |row| row.get("detail"))?;
                Ok(steps.collect::<Result<_, _>>()?)
            })
            .expect("a plan");
        steps.join("\n")
    }

    fn selection(filter: &Filter) -> Selection {
        Selection { filter: filter.clone(), matches: filter.text.as_ref().map(|_| Matches::NotIndexed) }
    }

    /// All combinations of filters except texts.
    fn filters() -> Vec<Filter> {
        (0..32)
            .map(|bits| {
                let has = |bit: u32| bits & (1 << bit) != 0;
                Filter {
                    status: has(0).then_some(PaymentStatus::Charged),
                    provider: has(1).then_some(Provider::MBank),
                    kind: has(2).then_some(PaymentKind::Qr),
                    from: has(3).then_some(1),
                    until: has(3).then_some(2),
                    least: has(4).then_some(1),
                    most: has(4).then_some(2),
                    ..Filter::default()
                }
            })
            .collect()
    }

    const CURSOR: Cursor = Cursor { key: 1, id: 1 };

    /// The index with the list's order, so that reading starts and stops at the page.
    fn index(sort: Sort, filter: &Filter) -> &'static str {
        match sort {
            Sort::Largest | Sort::Smallest => "payments_by_amount",
            Sort::Newest | Sort::Oldest if filter.status.is_some() => "payments_by_status",
            Sort::Newest | Sort::Oldest => "payments_by_time",
        }
    }

    #[test]
    fn list_page_uses_its_index_without_sorting() {
        let store = Store::open(&Database::Memory).expect("a store");
        for sort in Sort::ALL {
            for start in [Start::First, Start::After(CURSOR), Start::Before(CURSOR)] {
                for filter in filters() {
                    let list = List::of(&selection(&filter), sort, start);
                    let plan = plan(&store, &list.sql("SELECT *", 26), &list.conditions);
                    assert!(
                        plan.contains(&format!(" p USING INDEX {}", index(sort, &filter))),
                        "{sort:?} {filter:?}: {plan}"
                    );
                    assert!(!plan.contains("TEMP B-TREE"), "{sort:?} {filter:?}: {plan}");
                    let begins = format!("{}{}", list.column, if list.order == "DESC" { "<?" } else { ">?" });
                    assert!(start == Start::First || plan.contains(&begins), "{sort:?} {start:?} {filter:?}: {plan}");
                }
            }
        }
    }

    /// If few or none match, a skipped entry costs one step in the index, not a row. For an amount,
    /// which is computed, no plan shows that, so the test checks that its index has all columns.
    #[test]
    fn filtered_columns_are_in_the_index() {
        let store = Store::open(&Database::Memory).expect("a store");
        for filter in filters().into_iter().filter(|filter| filter.least.is_none()) {
            for sort in [Sort::Newest, Sort::Oldest] {
                let list = List::of(&selection(&filter), sort, Start::First);
                let plan = plan(&store, &list.sql("SELECT p.id", 26), &list.conditions);
                assert!(plan.contains(" p USING COVERING INDEX"), "{filter:?}: {plan}");
            }
            let conditions = Conditions::of(&filter, None);
            let plan = plan(&store, &counting(&conditions), &conditions);
            assert!(plan.contains(" p USING COVERING INDEX"), "{filter:?}: {plan}");
        }
        let missing: u32 = store
            .read(|connection| {
                Ok(connection.query_row(
                    "SELECT COUNT(*) FROM (VALUES ('status'), ('provider'), ('kind'), ('created_at'))
                     WHERE column1 NOT IN (SELECT name FROM pragma_index_info('payments_by_amount'))",
                    (),
                    |row| row.get(0),
                )?)
            })
            .expect("a count");
        assert_eq!(missing, 0);
    }

    #[test]
    fn short_text_search_sorts_nothing() {
        let store = Store::open(&Database::Memory).expect("a store");
        for sort in Sort::ALL {
            let filter = Filter { text: Some(SearchedText { text: "a".to_owned(), card: None }), ..Filter::default() };
            let list = List::of(&selection(&filter), sort, Start::First);
            let plan = plan(&store, &list.sql("SELECT *", 26), &list.conditions);
            assert!(plan.contains(index(sort, &filter)) && !plan.contains("TEMP B-TREE"), "{sort:?}: {plan}");
        }
    }
}
