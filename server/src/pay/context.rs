//! A request for the page of a checkout: what a handler gets of it.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};

use super::{error_page::ErrorPage, form::Form, frame::see_other, links::Links, page_state::PageState};
use crate::checkouts::checkout::CheckoutView;

/// A request for the page of a checkout. The router admits it and reads its form; handlers extract it.
#[derive(Clone)]
pub(super) struct RequestContext {
    pub(super) pages: Arc<PageState>,
    pub(super) view: Box<CheckoutView>,
    pub(super) links: Links,
    pub(super) query: Form,
    pub(super) form: Form,
    /// Whoever asks for the head alone does nothing.
    pub(super) is_head: bool,
}

impl RequestContext {
    /// To the page, which shows how it stands.
    pub(super) fn home(&self) -> Response {
        see_other(&self.links.to(""))
    }
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        parts.extensions.remove().ok_or_else(ErrorPage::failed)
    }
}
