//! Error pages of the dashboard.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    staff::{dashboard::visit::Visit, layout::Staff},
    store::StoreError,
    web::{self, Document, Policy},
};

#[derive(Template)]
#[template(path = "staff/message.html")]
struct Message {
    document: Document,
    staff: Staff,
    title: &'static str,
    text: &'static str,
}

fn message(visit: &Visit<'_>, status: StatusCode, title: &'static str, text: &'static str) -> Response {
    let staff = Staff { section: None, visitor: Some(visit.visitor.clone()) };
    web::page(status, Policy::Staff, &Message { document: visit.document.clone(), staff, title, text })
}

pub(super) fn not_found(visit: &Visit<'_>) -> Response {
    message(visit, StatusCode::NOT_FOUND, "Nothing here", "There is no page, or no payment, under this address.")
}

pub(super) fn forbidden(visit: &Visit<'_>) -> Response {
    let text = "The form was made for another session. Go back, load the page again, and send it once more.";
    message(visit, StatusCode::FORBIDDEN, "This form is out of date", text)
}

pub(super) fn failed(visit: &Visit<'_>, error: &StoreError) -> Response {
    tracing::error!(%error, "a page of the dashboard failed inside the sandbox");
    message(visit, StatusCode::INTERNAL_SERVER_ERROR, "The sandbox failed", "Its log says why.")
}
