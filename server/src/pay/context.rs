//! Somebody who came to a page, and what was sent.

use std::{pin::Pin, sync::Arc};

use axum::{http::Method, response::Response};

use super::{error_page::ErrorPage, form::Form, frame::see_other, links::Links, page_state::PageState};
use crate::checkouts::checkout::CheckoutView;

/// An answer on its way.
pub(super) type HandlerFuture = Pin<Box<dyn Future<Output = Result<Response, ErrorPage>> + Send>>;

/// Somebody who came to the page of a checkout.
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

/// One method of one path.
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Whether other sites may post here, as a gateway's page that sends its payer back does. What they post is not read.
    pub(super) takes_foreign_posts: bool,
    pub(super) answer: fn(RequestContext) -> HandlerFuture,
}
