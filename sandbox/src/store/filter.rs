//! Which payments are wanted, and the conditions in SQL that say so.

use rusqlite::ToSql;

use crate::{
    domain::{PaymentKind, PaymentStatus, Provider},
    store::searched_text::SearchedText,
};

/// Matches are counted up to here; "more than that" is all that people want to know of the rest. Few in this crate's own tests,
/// so that they come there.
pub(crate) const MAX_COUNTED: u32 = if cfg!(test) { 100 } else { 10_000 };

/// Which payments; an empty one takes all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) text: Option<SearchedText>,
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

/// Conditions and what stands for their question marks.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) sql: Vec<String>,
    pub(super) values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// For a list that is sorted by a column, or for a count. A list is read in its order and stops when its page is
    /// full; a `+` keeps SQLite from reading all that another condition lets through, only to sort it.
    pub(super) fn of(filter: &Filter, sorted_by: Option<&str>) -> Self {
        match sorted_by {
            None => Self::with_signs(filter, "", ""),
            Some("created_at") => Self::with_signs(filter, "", "+"),
            Some(_) => Self::with_signs(filter, "+", ""),
        }
    }

    /// For payments that are looked up by their ids, whatever else holds for them.
    pub(super) fn of_known(filter: &Filter) -> Self {
        Self::with_signs(filter, "+", "+")
    }

    fn with_signs(filter: &Filter, time: &str, amount: &str) -> Self {
        let mut all = Self::default();
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

    pub(super) fn clause(&self) -> String {
        if self.sql.is_empty() { String::new() } else { format!("WHERE {}", self.sql.join(" AND ")) }
    }

    pub(super) fn values(&self) -> Vec<&dyn ToSql> {
        self.values.iter().map(AsRef::as_ref).collect()
    }
}
