//! The pages for links that lead to no payment, and for what went wrong on the way.

use askama::Template;
use axum::{http::StatusCode, response::Response};

use crate::{
    messages::Message,
    pages::frame::Frame,
    web::{Document, Policy, page},
};

#[derive(Template)]
#[template(path = "payer/trouble.html")]
struct Trouble<'a> {
    document: &'a Document,
    frame: &'a Frame,
    title: String,
    text: Option<String>,
}

/// The page for a link that leads to no payment.
pub(super) fn not_found(frame: &Frame) -> Response {
    show(frame, StatusCode::NOT_FOUND, Message::PageNotFoundTitle, Some(Message::PageNotFoundText))
}

/// The page for a form that is too large or never arrived whole.
pub(super) fn unreadable(frame: &Frame) -> Response {
    show(frame, StatusCode::BAD_REQUEST, Message::UnreadableForm, None)
}

/// The page for a failure of the sandbox itself.
pub(super) fn internal_error(frame: &Frame) -> Response {
    show(frame, StatusCode::INTERNAL_SERVER_ERROR, Message::InternalError, None)
}

fn show(frame: &Frame, status: StatusCode, title: Message, text: Option<Message>) -> Response {
    let trouble =
        Trouble { document: &frame.document, frame, title: frame.say(title), text: text.map(|text| frame.say(text)) };
    page(status, Policy::Payer, &trouble)
}
