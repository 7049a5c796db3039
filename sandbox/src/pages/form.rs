//! The fields of a posted form.

use std::collections::HashMap;

use url::form_urlencoded;

/// The fields of a posted form; one that is not there is empty. It has no `Debug`: card data is in it.
pub(crate) struct Form(HashMap<String, String>);

impl Form {
    pub(crate) fn parse(body: &[u8]) -> Self {
        Self(form_urlencoded::parse(body).into_owned().collect())
    }

    /// The field's text without the blanks around it.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.get(name).map_or("", |text| text.trim())
    }
}
