//! Results of input validation: which field breaks which rule. A value itself is never part of it.

use std::fmt;

use strum::{Display, IntoStaticStr};

/// The rules that an input of the server's can break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Rule {
    /// It must be given and not be blank.
    Required,
    /// It must not have more characters, or more members, than the limit.
    Length,
    /// It must not be under a minimum, or over a maximum.
    Range,
    /// An amount must not have more decimals than its currency has, and a mobile bank takes whole som.
    Exact,
    /// It must be one of a few.
    OneOf,
    /// It does not have the form that is needed.
    Format,
    /// An absolute address is needed, and none that a browser would run as code.
    Url,
    /// There is no such field or parameter.
    Unknown,
    /// It looks like a card number, which is kept nowhere here (PCI DSS).
    CardNumber,
}

/// One rule that one field breaks. An error carries all of them at once.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The field.
    pub field: String,
    /// The rule.
    pub rule: Rule,
    /// One sentence that names the field and what it must be.
    pub text: String,
}

impl Violation {
    /// The same for a member of an object: its field, and the sentence, name that as well.
    pub(crate) fn inside(self, name: &str) -> Self {
        Self { field: format!("{name}.{}", self.field), text: format!("{name}.{}", self.text), ..self }
    }

    /// A field that breaks a rule. The sentence says what it must be; the field's name is put before it.
    pub fn new(field: &str, rule: Rule, sentence: &str) -> Self {
        Self { field: field.to_owned(), rule, text: format!("{field} {sentence}") }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
