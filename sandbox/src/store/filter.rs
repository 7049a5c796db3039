//! Filters for lists of payments, and their SQL conditions.

use rusqlite::ToSql;

use crate::domain::{PaymentKind, PaymentStatus, Provider};

/// Matches are counted up to here; the page shows more as "more than". Lower in this crate's tests, so that they reach it.
pub(crate) const MAX_COUNTED: u32 = if cfg!(test) { 100 } else { 10_000 };

/// The payments to list; an empty filter selects all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) text: Option<SearchedText>,
    pub(crate) kind: Option<PaymentKind>,
    pub(crate) provider: Option<Provider>,
    pub(crate) status: Option<PaymentStatus>,
    /// Registered at or after this time.
    pub(crate) from: Option<i64>,
    /// Registered before this time.
    pub(crate) until: Option<i64>,
    /// The smallest amount, in hundredths.
    pub(crate) least: Option<i64>,
    /// The largest amount, in hundredths.
    pub(crate) most: Option<i64>,
}

/// SQL conditions, and the values of their placeholders.
#[derive(Default)]
pub(super) struct Conditions {
    pub(super) sql: Vec<String>,
    pub(super) values: Vec<Box<dyn ToSql>>,
}

impl Conditions {
    /// For a list that is sorted by a column, or for a count. A list is read in its order until its page
    /// is full. A `+` keeps SQLite from reading all matches of another condition only to sort them.
    pub(super) fn of(filter: &Filter, sorted_by: Option<&str>) -> Self {
        match sorted_by {
            None => Self::with_signs(filter, "", ""),
            Some("created_at") => Self::with_signs(filter, "", "+"),
            Some(_) => Self::with_signs(filter, "+", ""),
        }
    }

    /// For payments that are looked up by id, with any other conditions.
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

/// The length of a trigram.
const SHORTEST: usize = 3;
/// A search text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchedText {
    /// A part of a number, the description or a mask.
    pub(crate) text: String,
    /// The mask of the card number, if the text may be one.
    pub(crate) card: Option<String>,
}

impl SearchedText {
    fn of_card(&self) -> &str {
        self.card.as_ref().unwrap_or(&self.text)
    }

    /// Whether the index can find it.
    pub(crate) fn is_indexed(&self) -> bool {
        [self.text.as_str(), self.of_card()].iter().all(|text| text.chars().nth(SHORTEST - 1).is_some())
    }

    /// A query of the full-text index. A phrase of trigrams is the text itself; in quotes, its own operators have no meaning.
    pub(super) fn query(&self) -> String {
        let phrase = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!(
            "{{order_number gateway_number masked_phone description}} : {} OR masked_card : {}",
            phrase(&self.text),
            phrase(self.of_card())
        )
    }

    /// A condition that scans the texts of payments `p`, and its values.
    pub(super) fn condition(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut parts = Vec::new();
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut like = |column: &str, text: &str| {
            parts.push(format!("p.{column} LIKE ? ESCAPE '\\'"));
            values.push(Box::new(pattern(text)));
        };
        for column in ["order_number", "gateway_number", "masked_phone"] {
            like(column, &self.text);
        }
        like("masked_card", self.of_card());
        for spelling in spellings(&self.text) {
            like("description", &spelling);
        }
        (format!("({})", parts.join(" OR ")), values)
    }
}

/// A pattern that matches the text literally: its own wildcards are escaped.
fn pattern(text: &str) -> String {
    format!("%{}%", text.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_"))
}

/// The spellings of a text to search for: SQLite ignores case only in English.
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
