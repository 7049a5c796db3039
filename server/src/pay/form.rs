//! The fields of a form, or of a query: each by its name, once.

use url::form_urlencoded;

use crate::values::card_number::looks_like_card_number;

/// No form of the page's has more: of a body of a million fields the rest is not looked at.
const MOST: usize = 8;

/// What was sent. It can hold a one-time password, so it prints as nothing.
#[derive(Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MOST).collect())
    }

    /// A field's text, without spaces around it; empty where there is none. Of several by one name the first counts.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// The same for what the page shows again: nothing that looks like a card number comes back.
    pub(super) fn shown(&self, name: &str) -> &str {
        Some(self.get(name)).filter(|text| !looks_like_card_number(text)).unwrap_or_default()
    }
}
