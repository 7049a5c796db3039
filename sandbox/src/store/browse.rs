//! Keyset pagination: the payments filtered, sorted, and a page at a time from a place in the list.

use rusqlite::{Connection, Row, ToSql};
use strum::{EnumCount, IntoStaticStr, VariantArray};

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider, all},
    store::{
        StoreError,
        payments::{self, Record},
    },
};

/// Matches are counted up to here; "more than that" is all that people want to know of the rest.
pub(crate) const MAX_COUNTED: u32 = 10_000;

/// Which payments; an empty one takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// A part of a number, of the description or of a mask.
    pub(crate) text: Option<String>,
    /// The mask of the card number that the text is, if it may be one.
    pub(crate) card: Option<String>,
    pub(crate) kind: Option<PaymentKind>,
    pub(crate) provider: Option<Provider>,
    pub(crate) status: Option<PaymentStatus>,
    /// Registered at this time or later.
    pub(crate) from: Option<i64>,
    /// Registered before this time.
    pub(crate) until: Option<i64>,
    /// At least so many hundredths.
    pub(crate) least: Option<i64>,
    /// At most so many hundredths.
    pub(crate) most: Option<i64>,
}

/// By what they are sorted.
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
    /// All of them.
    pub(crate) const ALL: [Self; Self::COUNT] = all();

    /// Its name.
    pub(crate) fn as_str(self) -> &'static str {
        self.into()
    }

    /// The column, and whether it goes down.
    fn column(self) -> (&'static str, bool) {
        match self {
            Self::Newest => ("created_at", true),
            Self::Oldest => ("created_at", false),
            Self::Largest => ("amount_minor", true),
            Self::Smallest => ("amount_minor", false),
        }
    }
}

/// A place in the sorted list: the sorted column's value and the id of the payment that stands there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) key: i64,
    pub(crate) id: i64,
}

/// Which page of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Start {
    #[default]
    First,
    After(Place),
    Before(Place),
}

/// A payment in a list, and its place.
pub(crate) struct Entry {
    pub(crate) record: Record,
    pub(crate) place: Place,
}

/// A page of the list.
pub(crate) struct Page {
    pub(crate) rows: Vec<Entry>,
    pub(crate) has_earlier: bool,
    pub(crate) has_later: bool,
}

/// Conditions and what stands for their question marks.
struct Conditions {
    sql: Vec<String>,
    values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// For a list that is sorted by a column, or for a count. A list is read in its order and stops when its page is
    /// full; a `+` keeps SQLite from reading all that another condition lets through, only to sort it.
    fn of(filter: &Filter, sorted_by: Option<&str>) -> Self {
        let (time, amount) = match sorted_by {
            None => ("", ""),
            Some("created_at") => ("", "+"),
            Some(_) => ("+", ""),
        };
        let mut all = Self { sql: Vec::new(), values: Vec::new() };
        if let Some(text) = &filter.text {
            let mut parts = Vec::new();
            let mut like = |column: &str, text: &str| {
                parts.push(format!("p.{column} LIKE ? ESCAPE '\\'"));
                all.values.push(Box::new(pattern(text)));
            };
            for column in ["order_number", "gateway_number", "masked_phone"] {
                like(column, text);
            }
            like("masked_card", filter.card.as_ref().unwrap_or(text));
            for spelling in spellings(text) {
                like("description", &spelling);
            }
            all.sql.push(format!("({})", parts.join(" OR ")));
        }
        all.add("p.kind = ?", filter.kind.map(PaymentKind::as_str));
        all.add("p.provider = ?", filter.provider.map(Provider::as_str));
        all.add(&format!("{time}p.status = ?"), filter.status.map(PaymentStatus::as_str));
        all.add(&format!("{time}p.created_at >= ?"), filter.from);
        all.add(&format!("{time}p.created_at < ?"), filter.until);
        all.add(&format!("{amount}p.amount_minor >= ?"), filter.least);
        all.add(&format!("{amount}p.amount_minor <= ?"), filter.most);
        all
    }

    fn add(&mut self, sql: &str, value: Option<impl ToSql + 'static>) {
        if let Some(value) = value {
            self.sql.push(sql.to_owned());
            self.values.push(Box::new(value));
        }
    }

    fn clause(&self) -> String {
        if self.sql.is_empty() { String::new() } else { format!("WHERE {}", self.sql.join(" AND ")) }
    }

    fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(AsRef::as_ref).collect()
    }
}

/// What contains the text, word for word: a pattern's own signs mean nothing in it.
fn pattern(text: &str) -> String {
    format!("%{}%", text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}

/// The text as it may stand somewhere: SQLite takes small and capital letters for the same in English alone.
fn spellings(text: &str) -> Vec<String> {
    let small = text.to_lowercase();
    let mut letters = small.chars();
    let begun = letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str());
    let mut all = vec![text.to_owned()];
    if !text.is_ascii() {
        all.extend([text.to_uppercase(), begun.unwrap_or_default(), small]);
        all.sort();
        all.dedup();
    }
    all
}

/// A page of the payments that a filter lets through.
pub(crate) fn page(
    connection: &Connection,
    filter: &Filter,
    sort: Sort,
    start: Start,
    size: usize,
) -> Result<Page, StoreError> {
    let (is_first, backwards) = (start == Start::First, matches!(start, Start::Before(_)));
    let list = List::of(filter, sort, start);
    // One more than asked for tells whether there is another page.
    let sql = list.sql(&format!("{}, p.{} AS place", payments::COLUMNS, list.column), size + 1);
    let mut statement = connection.prepare_cached(&sql)?;
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

/// A filtered list from a place on, in the direction in which its page is read.
struct List {
    conditions: Conditions,
    column: &'static str,
    order: &'static str,
}

impl List {
    fn of(filter: &Filter, sort: Sort, start: Start) -> Self {
        let (column, goes_down) = sort.column();
        let (place, backwards) = match start {
            Start::First => (None, false),
            Start::After(place) => (Some(place), false),
            Start::Before(place) => (Some(place), true),
        };
        let (compare, order) = if goes_down != backwards { ("<", "DESC") } else { (">", "ASC") };
        let mut conditions = Conditions::of(filter, Some(column));
        if let Some(place) = place {
            conditions.sql.push(format!("(p.{column}, p.id) {compare} (?, ?)"));
            conditions.values.push(Box::new(place.key));
            conditions.values.push(Box::new(place.id));
        }
        Self { conditions, column, order }
    }

    fn sql(&self, select: &str, limit: usize) -> String {
        let Self { conditions, column, order } = self;
        let clause = conditions.clause();
        format!("{select} FROM payments p {clause} ORDER BY p.{column} {order}, p.id {order} LIMIT {limit}")
    }
}

fn list_row(row: &Row<'_>) -> rusqlite::Result<Entry> {
    let record = payments::record(row)?;
    let place = Place { key: row.get("place")?, id: record.id };
    Ok(Entry { record, place })
}

/// How many payments a filter lets through; counted no further than one past `MAX_COUNTED`.
pub(crate) fn count(connection: &Connection, filter: &Filter) -> Result<u32, StoreError> {
    let conditions = Conditions::of(filter, None);
    let sql = counting(&conditions);
    Ok(connection.prepare_cached(&sql)?.query_row(conditions.values().as_slice(), |row| row.get(0))?)
}

fn counting(conditions: &Conditions) -> String {
    format!("SELECT COUNT(*) FROM (SELECT 1 FROM payments p {} LIMIT {})", conditions.clause(), MAX_COUNTED + 1)
}

/// The payment of an id, if there is one.
pub(crate) fn by_id(connection: &Connection, id: i64) -> Result<Option<Record>, StoreError> {
    payments::first(connection, "WHERE p.id = ?1", [id])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{settings::Database, store::Store};

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

    /// Every way to combine filters, but by texts.
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

    const PLACE: Place = Place { key: 1, id: 1 };

    /// The index that has the list's order, so that reading stops when the page is full, and that begins where the page
    /// does.
    fn index(sort: Sort, filter: &Filter) -> &'static str {
        match sort {
            Sort::Largest | Sort::Smallest => "payments_by_amount",
            Sort::Newest | Sort::Oldest if filter.status.is_some() => "payments_by_status",
            Sort::Newest | Sort::Oldest => "payments_by_time",
        }
    }

    #[test]
    fn a_page_is_read_in_the_order_of_its_own_index_from_where_it_begins() {
        let store = Store::open(&Database::Memory).expect("a store");
        for sort in Sort::ALL {
            for start in [Start::First, Start::After(PLACE), Start::Before(PLACE)] {
                for filter in filters() {
                    let list = List::of(&filter, sort, start);
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

    /// Where few or none match, what is passed over costs a step in the index, and not a row each. Of an amount, which
    /// is computed, no plan says so; that its index has all the columns must do.
    #[test]
    fn what_a_filter_asks_for_stands_in_the_index() {
        let store = Store::open(&Database::Memory).expect("a store");
        for filter in filters().into_iter().filter(|filter| filter.least.is_none()) {
            for sort in [Sort::Newest, Sort::Oldest] {
                let list = List::of(&filter, sort, Start::First);
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
    fn a_search_for_a_text_sorts_nothing() {
        let store = Store::open(&Database::Memory).expect("a store");
        for sort in Sort::ALL {
            let filter = Filter { text: Some("a".to_owned()), ..Filter::default() };
            let list = List::of(&filter, sort, Start::First);
            let plan = plan(&store, &list.sql("SELECT *", 26), &list.conditions);
            assert!(plan.contains(index(sort, &filter)) && !plan.contains("TEMP B-TREE"), "{sort:?}: {plan}");
        }
    }
}
