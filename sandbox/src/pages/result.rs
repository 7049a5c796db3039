//! The end of a payer's visit: the redirect to the merchant, a result page, or an error page.

use askama::Template;
use axum::{http::StatusCode, response::Response};
use url::Url;

use crate::{
    domain::{PaymentStatus, RejectReason, codes},
    messages::Message,
    pages::{
        frame::{Frame, View},
        summary::Summary,
    },
    web::{Document, Policy, page, see_other},
};

#[derive(Template)]
#[template(path = "payer/result.html")]
struct ResultPage<'a> {
    document: &'a Document,
    frame: &'a Frame,
    summary: Summary,
    /// `good`, `bad` or `wait`: the style of the page.
    mood: &'static str,
    title: String,
    text: String,
    note: Option<String>,
    /// The link back to the merchant.
    return_link: Option<String>,
}

/// The response to the form that resolved the payment.
pub(super) fn resolved(view: &View<'_>) -> Response {
    let payment = &view.record.payment;
    let code = match (payment.status, payment.reject_reason) {
        (PaymentStatus::Charged, _) => Some(codes::SUCCESS),
        (PaymentStatus::Rejected, Some(reason)) if view.state.switches().redirect_declines => Some(reason.code()),
        _ => None,
    };
    match code.and_then(|code| return_url(view, code)) {
        Some(url) => see_other(&url),
        None => result_page(view, None),
    }
}

/// The response if a payment no longer waits for its payer.
pub(super) fn already(view: &View<'_>) -> Response {
    let is_final = view.record.payment.status.is_final();
    result_page(view, is_final.then(|| view.say(Message::AlreadyFinished)))
}

/// The return URL with the two parameters appended; the merchant's own query stays.
fn return_url(view: &View<'_>, code: &str) -> Option<String> {
    let mut url = Url::parse(view.record.return_url.as_deref()?).ok()?;
    url.query_pairs_mut().append_pair("OrderNumber", &view.record.payment.order_number).append_pair("statusCode", code);
    Some(url.into())
}

fn result_page(view: &View<'_>, note: Option<String>) -> Response {
    let payment = &view.record.payment;
    let (mood, title, text) = match (payment.status, payment.reject_reason) {
        (PaymentStatus::Charged, _) => ("good", Message::PaidTitle, Message::PaidText),
        (PaymentStatus::Rejected, Some(RejectReason::CancelledByPayer)) => {
            ("bad", Message::RejectedTitle, Message::YouCancelled)
        }
        (PaymentStatus::Rejected, Some(reason)) => ("bad", Message::RejectedTitle, reason.into()),
        (PaymentStatus::Rejected, None) => ("bad", Message::RejectedTitle, Message::Declined),
        (PaymentStatus::Created | PaymentStatus::Pending, _) => ("wait", Message::PendingTitle, Message::PendingText),
    };
    let result_page = ResultPage {
        document: &view.frame.document,
        frame: view.frame,
        summary: Summary::of(view),
        mood,
        title: view.say(title),
        text: view.say(text),
        note,
        return_link: return_link(view),
    };
    page(StatusCode::OK, Policy::Payer, &result_page)
}

/// A link back to the merchant; for a paid order, with the parameters of the redirect.
fn return_link(view: &View<'_>) -> Option<String> {
    match view.record.payment.status {
        PaymentStatus::Charged => return_url(view, codes::SUCCESS),
        _ => view.record.return_url.clone(),
    }
}

#[derive(Template)]
#[template(path = "payer/error.html")]
struct ErrorPage<'a> {
    document: &'a Document,
    frame: &'a Frame,
    title: String,
    text: Option<String>,
}

/// The page for a link without a payment.
pub(super) fn not_found(frame: &Frame) -> Response {
    error_page(frame, StatusCode::NOT_FOUND, Message::PageNotFoundTitle, Some(Message::PageNotFoundText))
}

/// The page for a form that is too large or incomplete.
pub(super) fn unreadable(frame: &Frame) -> Response {
    error_page(frame, StatusCode::BAD_REQUEST, Message::UnreadableForm, None)
}

/// The page for a failure of the sandbox itself.
pub(super) fn internal_error(frame: &Frame) -> Response {
    error_page(frame, StatusCode::INTERNAL_SERVER_ERROR, Message::InternalError, None)
}

fn error_page(frame: &Frame, status: StatusCode, title: Message, text: Option<Message>) -> Response {
    let error =
        ErrorPage { document: &frame.document, frame, title: frame.say(title), text: text.map(|text| frame.say(text)) };
    page(status, Policy::Payer, &error)
}
