//! A text that payments are searched for by: as a query of the full-text index, and as a condition where there is none.

use rusqlite::ToSql;

/// A trigram has so many characters.
const SHORTEST: usize = 3;
/// A text to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SearchedText {
    /// A part of a number, of the description or of a mask.
    pub(crate) text: String,
    /// The mask of the card number that the text is, if it may be one.
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

    /// A query of the full-text index. A phrase of trigrams is the text itself, and in quotes its own signs mean nothing.
    pub(super) fn query(&self) -> String {
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
