//! Request parsing: fields are read from the JSON text digit for digit and checked, and every violation is collected.

use std::collections::BTreeMap;

use serde_json::value::{RawValue, to_raw_value};

use crate::{
    encoding::{FormPairs, JsonObject},
    endpoints::Rejection,
    rules::{Problem, Rule, Shape, Spanning, Violation},
};

/// How much of an unknown field's name an error contains.
const SHOWN_NAME_LENGTH: usize = 64;

/// The fields of one request as JSON texts, until an endpoint takes them.
#[derive(Clone, Default)]
pub(crate) struct Fields {
    values: BTreeMap<String, Box<RawValue>>,
    violations: Vec<Violation>,
    /// The recorded fields, if a request is described and not read.
    spec: Option<RequestSpec>,
}

/// The fields of a request, recorded while an endpoint reads them, so that the description cannot differ from the code.
#[derive(Clone, Default)]
pub(crate) struct RequestSpec {
    pub(crate) fields: Vec<FieldSpec>,
    pub(crate) spanning: Vec<Spanning>,
}

/// One field that an endpoint reads.
#[derive(Clone)]
pub(crate) struct FieldSpec {
    pub(crate) name: &'static str,
    pub(crate) is_required: bool,
    pub(crate) shape: Shape,
}

impl Fields {
    /// The fields that `take` reads.
    pub(crate) fn spec_of(take: fn(&mut Self)) -> RequestSpec {
        let mut fields = Self { spec: Some(RequestSpec::default()), ..Self::default() };
        take(&mut fields);
        fields.spec.unwrap_or_default()
    }

    /// The members of a JSON object.
    pub(crate) fn from_json(body: &[u8]) -> Result<Self, Rejection> {
        let value: &RawValue = serde_json::from_slice(body).map_err(|_| Rejection::NotJson)?;
        if !value.get().starts_with('{') {
            return Err(Rejection::NotObject);
        }
        let object: JsonObject<Box<RawValue>> = serde_json::from_str(value.get()).map_err(|_| Rejection::NotJson)?;
        let mut fields = Self::default();
        for (name, value) in object.0 {
            fields.add(name, value);
        }
        Ok(fields)
    }

    /// The pairs of a query string, every value a text.
    pub(crate) fn from_query(query: &str) -> Self {
        let mut fields = Self::default();
        for (name, text) in FormPairs::parse(query.as_bytes()) {
            if let Ok(value) = to_raw_value(&text) {
                fields.add(name, value);
            }
        }
        fields
    }

    fn add(&mut self, name: String, value: Box<RawValue>) {
        if self.values.contains_key(&name) {
            self.violate(&name, Problem::Repeated);
        }
        self.values.insert(name, value);
    }

    /// A text field before validation: for the exchange log and the choice of language.
    pub(crate) fn peek(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.values.get(name)?.get()).ok()
    }

    /// Takes a required field. If it violates a rule, records the violation and returns a
    /// placeholder. The placeholder is never used, because `finish` rejects the request first.
    pub(crate) fn required<T: Default>(&mut self, name: &'static str, rule: Rule<T>) -> T {
        self.record(name, true, rule.shape);
        match self.take(name, &rule) {
            Some(value) => value,
            None => {
                if self.is_sound(name) {
                    self.violate(name, Problem::Missing);
                }
                T::default()
            }
        }
    }

    /// Takes an optional field. A null is not absent; it has the wrong type.
    pub(crate) fn optional<T>(&mut self, name: &'static str, rule: Rule<T>) -> Option<T> {
        self.record(name, false, rule.shape);
        self.take(name, &rule)
    }

    fn take<T>(&mut self, name: &str, rule: &Rule<T>) -> Option<T> {
        let value = self.values.remove(name)?;
        rule.read(&value).map_err(|problem| self.violate(name, problem)).ok()
    }

    fn record(&mut self, name: &'static str, is_required: bool, shape: Shape) {
        if let Some(spec) = &mut self.spec {
            spec.fields.push(FieldSpec { name, is_required, shape });
        }
    }

    /// Records that the endpoint checks a rule that spans fields.
    pub(crate) fn spanning(&mut self, rule: Spanning) {
        if let Some(spec) = &mut self.spec {
            spec.spanning.push(rule);
        }
    }

    /// Records a violation of a rule that spans fields.
    pub(crate) fn violate(&mut self, field: &str, problem: Problem) {
        self.violations.push(Violation::new(field, problem));
    }

    /// Whether no violation of the field was found.
    pub(crate) fn is_sound(&self, field: &str) -> bool {
        !self.violations.iter().any(|violation| violation.field == field)
    }

    /// Rejects the request if a field violated a rule or is unknown: ignoring a field would hide a client's mistake.
    pub(crate) fn finish(mut self) -> Result<(), Rejection> {
        for name in std::mem::take(&mut self.values).into_keys() {
            let shown: String = name.chars().take(SHOWN_NAME_LENGTH).collect();
            self.violate(&shown, Problem::Unknown);
        }
        if self.violations.is_empty() { Ok(()) } else { Err(Rejection::Invalid(self.violations)) }
    }
}
