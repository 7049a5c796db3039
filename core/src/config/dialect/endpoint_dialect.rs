//! Overrides for one endpoint: where a dialect names other JSON pointers or codes than the endpoint's own defaults.

use std::collections::BTreeMap;

use crate::config::{endpoint::Endpoint, reply_field::ReplyField};

/// What a dialect overrides for one endpoint. Only what differs from the defaults is kept, so that two dialects with
/// the same meaning compare as equal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Overrides {
    pointers: BTreeMap<ReplyField, Vec<String>>,
    success_codes: Option<Vec<String>>,
    refusal_codes: Vec<String>,
}

impl Overrides {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn set_pointers(&mut self, field: ReplyField, pointers: Vec<String>) {
        if pointers != field.shown_pointers() {
            self.pointers.insert(field, pointers);
        }
    }

    pub(super) fn set_success_codes(&mut self, endpoint: &Endpoint, codes: Vec<String>) {
        self.success_codes = (codes != endpoint.success_codes).then_some(codes);
    }

    pub(super) fn set_refusal_codes(&mut self, codes: Vec<String>) {
        self.refusal_codes = codes;
    }
}

/// One endpoint's defaults, with a dialect's overrides on top.
#[derive(Clone, Copy)]
pub(crate) struct EndpointDialect<'a> {
    pub(super) endpoint: &'static Endpoint,
    pub(super) overrides: Option<&'a Overrides>,
}

impl<'a> EndpointDialect<'a> {
    /// The JSON pointers to try for a field; none where this endpoint's reply has no such field.
    pub(crate) fn pointers(self, field: ReplyField) -> impl Iterator<Item = &'a str> {
        let named = self.overrides.and_then(|overrides| overrides.pointers.get(&field));
        let is_shown = named.is_none() && self.endpoint.reply_fields.contains(&field);
        let shown = if is_shown { field.shown_pointers() } else { &[] };
        named.into_iter().flatten().map(String::as_str).chain(shown.iter().copied())
    }

    pub(crate) fn success_codes(self) -> impl Iterator<Item = &'a str> {
        let named = self.overrides.and_then(|overrides| overrides.success_codes.as_ref());
        let shown = if named.is_some() { &[] } else { self.endpoint.success_codes };
        named.into_iter().flatten().map(String::as_str).chain(shown.iter().copied())
    }

    pub(crate) fn refusal_codes(self) -> impl Iterator<Item = &'a str> {
        self.overrides.into_iter().flat_map(|overrides| overrides.refusal_codes.iter().map(String::as_str))
    }

    pub(crate) fn is_refusal(self, code: &str) -> bool {
        self.refusal_codes().any(|refusal| refusal == code)
    }

    /// With an empty list of success codes, every code is a success that is not listed as a refusal.
    pub(crate) fn is_success(self, code: Option<&str>) -> bool {
        let any_will_do = self.success_codes().next().is_none();
        match code {
            Some(code) => {
                (any_will_do || self.success_codes().any(|success| success == code)) && !self.is_refusal(code)
            }
            None => any_will_do,
        }
    }
}
