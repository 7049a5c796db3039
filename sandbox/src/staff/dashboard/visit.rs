//! What the pages of the dashboard work with.

use std::sync::Arc;

use axum::response::Response;

use crate::{
    encoding::FormPairs,
    staff::layout::{Section, Staff, Visitor},
    state::State,
    store::StoreError,
    web::Document,
};

/// What somebody who is logged in asks for.
pub(super) struct Visit<'a> {
    pub(super) state: &'a Arc<State>,
    pub(super) document: Document,
    pub(super) visitor: Visitor,
    pub(super) query: &'a FormPairs,
}

impl Visit<'_> {
    pub(super) fn staff(&self, section: Section) -> Staff {
        Staff::of(section, Some(self.visitor.clone()))
    }
}

/// A page, or a failure of the store.
pub(super) type Answer = Result<Response, StoreError>;
