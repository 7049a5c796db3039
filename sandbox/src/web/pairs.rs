//! The pairs of a query or of a posted form.

use std::collections::HashMap;

use url::form_urlencoded;

/// Names and values; of a name given twice the last counts. It has no `Debug`: a password may be in it.
#[derive(Default)]
pub(crate) struct Pairs(HashMap<String, String>);

impl Pairs {
    /// Of a query or a body of the type `application/x-www-form-urlencoded`.
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().collect())
    }

    /// The value without the blanks around it; empty where there is none.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.raw(name).trim()
    }

    /// The value as it stands; empty where there is none.
    pub(crate) fn raw(&self, name: &str) -> &str {
        self.0.get(name).map_or("", String::as_str)
    }
}
