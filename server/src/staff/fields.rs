//! The fields of a form, or of a query: each by its name, once.

use url::form_urlencoded;

use crate::values::card_number::looks_like_card_number;

/// No form and no query of ours has more: of a body of ten million fields the rest is not looked at.
const MOST: usize = 16;

/// What was sent.
#[derive(Default)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MOST).collect())
    }

    /// A field's text, without spaces around it; empty where there is none. Of several by one name the first counts.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// The same for what a page shows again: nothing that looks like a card number comes back.
    pub(super) fn shown(&self, name: &str) -> &str {
        Some(self.get(name)).filter(|text| !looks_like_card_number(text)).unwrap_or_default()
    }
}

/// Pairs as a query, without those that are empty.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    let given = pairs.iter().filter(|(_, value)| !value.is_empty());
    form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_fields_is_not_read() {
        let fields = Fields::parse(format!("from=1&{}csrf=2", "a&".repeat(1_000_000)).as_bytes());
        assert_eq!((fields.get("from"), fields.get("csrf"), fields.0.len()), ("1", "", MOST));
    }
}
