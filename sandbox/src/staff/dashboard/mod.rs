//! The merchant's dashboard, for people who log in with the merchant's
//! credentials. This file has the context of its pages, and its error pages.

mod analysis;
mod charts;
mod deliveries;
mod export;
mod figures;
mod payment;
mod routes;
pub(crate) mod text;
mod transactions;

pub(crate) use routes::routes;

use std::sync::Arc;

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    staff::layout::{Section, Staff, Visitor},
    state::State,
    store::StoreError,
    web::{self, Document, PageRequest, Policy},
};

/// A request to a page of the dashboard by a logged-in user, and the shared state.
#[derive(Clone)]
pub(super) struct PageContext {
    pub(super) state: Arc<State>,
    pub(super) document: Document,
    pub(super) visitor: Visitor,
    pub(super) request: Arc<PageRequest>,
}

impl PageContext {
    pub(super) fn staff(&self, section: Section) -> Staff {
        Staff::of(section, Some(self.visitor.clone()))
    }
}

/// A page, or a failure of the store.
pub(super) type PageResult = Result<Response, StoreError>;

#[derive(Template)]
#[template(path = "staff/message.html")]
struct MessagePage {
    document: Document,
    staff: Staff,
    title: &'static str,
    text: &'static str,
}

fn message(context: &PageContext, status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let staff = Staff { section: None, visitor: Some(context.visitor.clone()) };
    web::page(status, Policy::Staff, &MessagePage { document: context.document.clone(), staff, title, text })
}

pub(super) fn not_found(context: &PageContext) -> Response {
    message(context, StatusCode::NOT_FOUND, "Nothing here", "There is no page, or no payment, under this address.")
}

pub(super) fn forbidden(context: &PageContext) -> Response {
    let text = "The form was made for another session. Go back, load the page again, and send it once more.";
    message(context, StatusCode::FORBIDDEN, "This form is out of date", text)
}

pub(super) fn failed(context: &PageContext, error: &StoreError) -> Response {
    tracing::error!(%error, "a page of the dashboard failed inside the sandbox");
    message(context, StatusCode::INTERNAL_SERVER_ERROR, "The sandbox failed", "Its log says why.")
}
