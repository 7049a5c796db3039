//! A form that was refused: what stood in its fields, and what is wrong with which of them.

use crate::{encoding::FormPairs, rules::FieldError};

/// What the page draws its fields from: of one form what was posted, of the others what is so.
pub(super) struct Posted<'a> {
    /// The form's place under the page.
    pub(super) place: &'a str,
    pub(super) form: Option<&'a FormPairs>,
    pub(super) errors: &'a [FieldError],
}

impl Posted<'_> {
    /// Nothing was refused.
    pub(super) const NOTHING: Posted<'static> = Posted { place: "", form: None, errors: &[] };

    fn of(&self, place: &str) -> Option<&FormPairs> {
        self.form.filter(|_| !self.errors.is_empty() && self.place == place)
    }

    /// What stands in a form's field: what was posted, else something else.
    pub(super) fn value<'b>(&'b self, place: &str, name: &str, otherwise: &'b str) -> &'b str {
        self.of(place).map_or(otherwise, |form| form.raw(name))
    }

    /// Whether a word of a field's is the chosen one.
    pub(super) fn is_chosen(&self, place: &str, name: &str, word: &str, otherwise: &str) -> bool {
        self.value(place, name, otherwise) == word
    }

    /// Whether a box is checked.
    pub(super) fn is_checked(&self, place: &str, name: &str, otherwise: bool) -> bool {
        self.of(place).map_or(otherwise, |form| form.get(name) == "on")
    }

    /// What is wrong with a form's field.
    pub(super) fn problem(&self, place: &str, name: &str) -> Option<&str> {
        self.of(place)?;
        self.errors.iter().find(|error| error.field == name).map(|error| error.message.as_str())
    }

    /// Whether the keyboard goes to a form's field: the first that is wrong.
    pub(super) fn is_first(&self, place: &str, name: &str) -> bool {
        self.of(place).is_some() && self.errors.first().is_some_and(|error| error.field == name)
    }

    /// Whether one of the fields that are folded away is wrong.
    pub(super) fn is_any_wrong(&self, place: &str, names: [&str; 4]) -> bool {
        names.into_iter().any(|name| self.problem(place, name).is_some())
    }
}
