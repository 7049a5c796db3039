//! Query strings: known parameters alone, each once. They look up what is stored, and store nothing: none is refused for what
//! it looks like, and no answer repeats it.

use std::{ops::RangeInclusive, str::FromStr};

use url::form_urlencoded;

use super::problem::Problem;
use crate::values::{
    checks::Checks,
    violation::{Rule, Violation},
};

/// The parameters that were not read yet, and what was wrong with those that were.
#[derive(Default)]
pub(super) struct QueryFields {
    pairs: Vec<(String, String)>,
    checks: Checks,
}

impl QueryFields {
    pub(super) fn parse(text: &str) -> Self {
        let pairs = form_urlencoded::parse(text.as_bytes()).into_owned().collect();
        Self { pairs, checks: Checks::default() }
    }

    /// A text.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        let (_, text) = self.pairs.remove(at);
        if self.pairs.iter().any(|(known, _)| known == name) {
            self.checks.fail(name, Rule::Format, "must be given once");
            self.pairs.retain(|(known, _)| known != name);
        }
        Some(text)
    }

    /// A text of a form of its own.
    pub(super) fn parsed<T: FromStr<Err = Violation>>(&mut self, name: &str) -> Option<T> {
        match self.text(name)?.parse() {
            Ok(value) => Some(value),
            Err(violation) => {
                self.checks.fail(name, violation.rule, &violation.text);
                None
            }
        }
    }

    /// A whole number within a range.
    pub(super) fn number(&mut self, name: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let text = self.text(name)?;
        let number = text.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            let sentence = format!("must be a whole number from {} to {}", range.start(), range.end());
            self.checks.fail(name, Rule::Range, &sentence);
        }
        number
    }

    /// A text that must be there.
    pub(super) fn required(&mut self, name: &str) -> String {
        let text = self.text(name);
        if text.is_none() && !self.checks.is_broken(name) {
            self.checks.fail(name, Rule::Required, "must be given");
        }
        text.unwrap_or_default()
    }

    /// Refuses what is left, and tells everything that was wrong.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        if !self.pairs.is_empty() {
            self.checks.fail("query", Rule::Unknown, "holds a parameter that is not known here");
        }
        self.checks.finish().map_err(Problem::from)
    }
}
