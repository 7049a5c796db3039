//! How one endpoint's replies are read: as the interface shows them, but for what a dialect says otherwise.

use std::collections::BTreeMap;

use crate::config::{endpoint::Endpoint, reply_field::ReplyField};

/// What a dialect says of one endpoint. It holds only what differs from the endpoint's own, so equal dialects are equal.
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
        if pointers == field.shown_pointers() {
            self.pointers.remove(&field);
        } else {
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

/// One endpoint as a dialect reads it.
#[derive(Clone, Copy)]
pub(crate) struct EndpointDialect<'a> {
    pub(super) endpoint: &'static Endpoint,
    pub(super) overrides: Option<&'a Overrides>,
}

impl<'a> EndpointDialect<'a> {
    /// Where to look for a field; nowhere for one that means nothing in this endpoint's reply.
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

    /// An empty list of success codes means that any code will do that is not a refusal.
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
