//! Full-text search: the payments with a text in a number, in the description or in a mask, found by an index of every
//! three characters in a row (trigrams).
//!
//! The index is filled lazily, in the background, once somebody searches, so that payments cost nothing for it. What is not
//! in it yet is looked through as it stands, and so is everything for a text of one or two characters.

use rusqlite::{Connection, ToSql, Transaction};

use crate::store::{StoreError, browse::MAX_COUNTED};

/// A trigram has so many characters.
const SHORTEST: usize = 3;
/// Payments that are taken into the index in one transaction: more would keep those that are being made waiting.
const BATCH: u32 = 200;

/// A text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Text {
    /// A part of a number, of the description or of a mask.
    pub(crate) text: String,
    /// The mask of the card number that the text is, if it may be one.
    pub(crate) card: Option<String>,
}

/// The payments with a text.
pub(super) enum Matches {
    /// Too many to be counted.
    Many,
    /// These.
    Ids(Vec<i64>),
    /// The text is too short for the index.
    NotIndexed,
}

impl Text {
    fn of_card(&self) -> &str {
        self.card.as_ref().unwrap_or(&self.text)
    }

    /// Whether the index can find it.
    pub(crate) fn is_indexed(&self) -> bool {
        [self.text.as_str(), self.of_card()].iter().all(|text| text.chars().nth(SHORTEST - 1).is_some())
    }

    /// A query of the full-text index. A phrase of trigrams is the text itself, and in quotes its own signs mean nothing.
    fn query(&self) -> String {
        let phrase = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        format!(
            "{{order_number gateway_number masked_phone description}} : {} OR masked_card : {}",
            phrase(&self.text),
            phrase(self.of_card())
        )
    }

    /// A condition for payments `p` that looks through their texts as they stand, and its values.
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

    /// The payments with it, as far as they can be counted: those of the index that are still as they were, and of the
    /// others those that have it now.
    pub(super) fn matches(&self, connection: &Connection) -> Result<Matches, StoreError> {
        if !self.is_indexed() {
            return Ok(Matches::NotIndexed);
        }
        let (condition, unindexed) = self.condition();
        let sql = format!(
            "SELECT rowid FROM payments_text WHERE payments_text MATCH ?
                AND rowid NOT IN (SELECT payment_id FROM payments_text_stale)
             UNION ALL SELECT p.id FROM payments p WHERE p.id > (SELECT upto FROM payments_text_upto) AND {condition}
             UNION ALL SELECT p.id FROM payments_text_stale s CROSS JOIN payments p ON p.id = s.payment_id
                WHERE {condition}
             LIMIT {}",
            MAX_COUNTED + 1
        );
        let query = self.query();
        let mut values: Vec<&dyn ToSql> = vec![&query];
        for _ in 0..2 {
            values.extend(unindexed.iter().map(AsRef::as_ref));
        }
        let mut statement = connection.prepare_cached(&sql)?;
        let ids: Vec<i64> = statement.query_map(values.as_slice(), |row| row.get(0))?.collect::<Result<_, _>>()?;
        let is_counted = u32::try_from(ids.len()).is_ok_and(|count| count <= MAX_COUNTED);
        Ok(if is_counted { Matches::Ids(ids) } else { Matches::Many })
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

/// Takes some more payments into the index; false where there are no more.
pub(crate) fn index_some(transaction: &Transaction<'_>) -> Result<bool, StoreError> {
    let stale = format!("SELECT payment_id FROM payments_text_stale ORDER BY payment_id LIMIT {BATCH}");
    let of = |ids: &str| {
        format!(
            "INSERT INTO payments_text (rowid, order_number, gateway_number, masked_phone, masked_card, description)
             SELECT id, order_number, gateway_number, masked_phone, masked_card, description FROM payments WHERE {ids}"
        )
    };
    let execute = |sql: &str| transaction.prepare_cached(sql)?.execute(());
    execute(&format!("DELETE FROM payments_text WHERE rowid IN ({stale})"))?;
    let anew = execute(&of(&format!("id IN ({stale})")))?;
    execute(&format!("DELETE FROM payments_text_stale WHERE payment_id IN ({stale})"))?;
    let more = execute(&of(&format!("id > (SELECT upto FROM payments_text_upto) ORDER BY id LIMIT {BATCH}")))?;
    execute(&format!(
        "UPDATE payments_text_upto SET upto = (
            SELECT IFNULL(MAX(id), upto) FROM (SELECT id FROM payments WHERE id > upto ORDER BY id LIMIT {BATCH})
         )"
    ))?;
    Ok(anew + more > 0)
}

/// Empties the index.
pub(super) fn forget(transaction: &Transaction<'_>) -> Result<(), StoreError> {
    Ok(transaction.execute_batch(
        "INSERT INTO payments_text (payments_text) VALUES ('delete-all');
         DELETE FROM payments_text_stale;
         UPDATE payments_text_upto SET upto = 0;",
    )?)
}
