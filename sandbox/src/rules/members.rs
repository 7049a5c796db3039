//! Validation of JSON objects outside the gateway's endpoints: members are taken by name and type, and every mistake is reported.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::encoding::JsonObject;

/// A field and its problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct FieldError {
    /// Name of the field.
    pub field: String,
    /// The violated rule.
    pub message: String,
}

impl FieldError {
    pub(crate) fn new(field: &str, message: impl Into<String>) -> Self {
        Self { field: field.to_owned(), message: message.into() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.field, self.message)
    }
}

/// The remaining members of one object.
pub(crate) struct Members {
    values: Vec<(String, Value)>,
    errors: Vec<FieldError>,
}

impl Members {
    /// From pairs; a repeated name is a mistake.
    pub(crate) fn new(pairs: impl IntoIterator<Item = (String, Value)>) -> Self {
        let mut members = Self { values: Vec::new(), errors: Vec::new() };
        for (name, value) in pairs {
            if members.values.iter().any(|(known, _)| *known == name) {
                members.reject(&name, "is given more than once");
            } else {
                members.values.push((name, value));
            }
        }
        members
    }

    /// Parses a JSON text.
    pub(crate) fn from_json(body: &[u8]) -> Result<Self, FieldError> {
        let object: JsonObject<Value> =
            serde_json::from_slice(body).map_err(|_| FieldError::new("body", "must be a JSON object"))?;
        Ok(Self::new(object.0))
    }

    /// Takes a string that is not blank.
    pub(crate) fn text(&mut self, name: &str) -> Option<String> {
        self.take(name, "must be a non-blank string", |value| {
            value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)
        })
    }

    /// Takes a whole number that is not negative.
    pub(crate) fn whole(&mut self, name: &str) -> Option<u64> {
        self.take(name, "must be a non-negative whole number", Value::as_u64)
    }

    /// Takes a whole number within limits, or a null; `Some(None)` means null.
    pub(crate) fn whole_or_null(&mut self, name: &str, minimum: u64, maximum: u64) -> Option<Option<u64>> {
        let rule = format!("must be a whole number from {minimum} to {maximum}, or null");
        self.take(name, &rule, |value| match value {
            Value::Null => Some(None),
            value => value.as_u64().filter(|number| (minimum..=maximum).contains(number)).map(Some),
        })
    }

    /// Takes a number.
    pub(crate) fn number(&mut self, name: &str) -> Option<f64> {
        self.take(name, "must be a number", Value::as_f64)
    }

    /// Takes a boolean.
    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
        self.take(name, "must be true or false", Value::as_bool)
    }

    /// Takes one of a set of words.
    pub(crate) fn word<T: Copy>(&mut self, name: &str, set: &[T], as_str: fn(T) -> &'static str) -> Option<T> {
        let words: Vec<_> = set.iter().map(|item| as_str(*item)).collect();
        let rule = format!("must be one of {}", words.join(", "));
        self.take(name, &rule, |value| {
            let word = value.as_str()?;
            set.iter().copied().find(|item| as_str(*item) == word)
        })
    }

    fn take<T>(&mut self, name: &str, rule: &str, read: impl FnOnce(&Value) -> Option<T>) -> Option<T> {
        let index = self.values.iter().position(|(known, _)| known == name)?;
        let (_, value) = self.values.remove(index);
        let read = read(&value);
        if read.is_none() {
            self.reject(name, rule);
        }
        read
    }

    /// Records a mistake.
    pub(crate) fn reject(&mut self, field: &str, rule: &str) {
        self.errors.push(FieldError::new(field, rule));
    }

    /// Whether no violation of the field was found.
    pub(crate) fn is_sound(&self, field: &str) -> bool {
        !self.errors.iter().any(|error| error.field == field)
    }

    /// Fails with every mistake, unknown members included.
    pub(crate) fn finish(mut self) -> Result<(), Vec<FieldError>> {
        for (name, _) in std::mem::take(&mut self.values) {
            self.reject(&name, "is not a known field");
        }
        if self.errors.is_empty() { Ok(()) } else { Err(self.errors) }
    }
}
