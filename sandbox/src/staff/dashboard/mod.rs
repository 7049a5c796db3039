//! The merchant's dashboard, for people who logged in with the issued credentials. Here: what its pages are given to work with, and
//! its error pages.

mod analysis;
mod deliveries;
mod export;
mod payment;
mod routes;
mod schedules;
pub(crate) mod text;
mod transactions;

pub(crate) use routes::routes;

use std::sync::Arc;

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    encoding::FormPairs,
    staff::layout::{Section, Staff, Visitor},
    state::State,
    store::StoreError,
    web::{self, Document, Policy},
};

/// What somebody who is logged in asks for.
pub(super) struct PageContext<'a> {
    pub(super) state: &'a Arc<State>,
    pub(super) document: Document,
    pub(super) visitor: Visitor,
    pub(super) query: &'a FormPairs,
}

impl PageContext<'_> {
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

fn message(visit: &PageContext<'_>, status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let staff = Staff { section: None, visitor: Some(visit.visitor.clone()) };
    web::page(status, Policy::Staff, &MessagePage { document: visit.document.clone(), staff, title, text })
}

pub(super) fn not_found(visit: &PageContext<'_>) -> Response {
    message(visit, StatusCode::NOT_FOUND, "Nothing here", "There is no page, or no payment, under this address.")
}

pub(super) fn forbidden(visit: &PageContext<'_>) -> Response {
    let text = "The form was made for another session. Go back, load the page again, and send it once more.";
    message(visit, StatusCode::FORBIDDEN, "This form is out of date", text)
}

pub(super) fn failed(visit: &PageContext<'_>, error: &StoreError) -> Response {
    tracing::error!(%error, "a page of the dashboard failed inside the sandbox");
    message(visit, StatusCode::INTERNAL_SERVER_ERROR, "The sandbox failed", "Its log says why.")
}
