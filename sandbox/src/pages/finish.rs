//! How a payer's visit ends: the redirect to the merchant, or a page that says what happened.

use axum::http::StatusCode;
use rust_decimal::Decimal;
use url::Url;

use crate::{
    messages::Message,
    pages::{
        Answer, View,
        html::{document, escape},
    },
    payment::{Payment, PaymentKind},
    reply::codes,
    state::PaymentStatus,
};

/// The answer to the form that settled the payment.
pub(super) fn settled(view: &View<'_>) -> Answer {
    let payment = &view.record.payment;
    let code = match (payment.status, payment.reject_reason) {
        (PaymentStatus::Charged, _) => Some(codes::SUCCESS),
        (PaymentStatus::Rejected, Some(reason)) if view.gateway.options.redirect_declines => Some(reason.code()),
        _ => None,
    };
    match code.and_then(|code| return_url(view, code)) {
        Some(url) => Answer::SeeOther(url),
        None => result_page(view, None),
    }
}

/// The answer to whoever comes back to a payment that no longer waits for its payer.
pub(super) fn already(view: &View<'_>) -> Answer {
    result_page(view, Some(Message::AlreadyFinished))
}

/// The return URL with the two parameters appended; what the merchant put into it stays.
fn return_url(view: &View<'_>, code: &str) -> Option<String> {
    let mut url = Url::parse(view.record.return_url.as_deref()?).ok()?;
    url.query_pairs_mut().append_pair("OrderNumber", &view.record.payment.order_number).append_pair("statusCode", code);
    Some(url.into())
}

fn result_page(view: &View<'_>, note: Option<Message>) -> Answer {
    let payment = &view.record.payment;
    let (title, text) = match (payment.status, payment.reject_reason) {
        (PaymentStatus::Charged, _) => (Message::PaidTitle, Message::PaidText),
        (PaymentStatus::Rejected, Some(reason)) => (Message::RejectedTitle, reason.into()),
        (PaymentStatus::Rejected, None) => (Message::RejectedTitle, Message::Declined),
        (PaymentStatus::Created | PaymentStatus::Pending, _) => (Message::PendingTitle, Message::PendingText),
    };
    let note = match note {
        Some(note) => format!("<p>{}</p>\n", view.say(note)),
        None => String::new(),
    };
    let content = format!("<p>{}</p>\n{note}{}{}", view.say(text), summary(view), way_back(view));
    let page = document(view.language, title, &content);
    Answer::Html(StatusCode::OK, page)
}

/// A link back to the merchant; of a paid order with what the redirect would have carried.
fn way_back(view: &View<'_>) -> String {
    let url = match view.record.payment.status {
        PaymentStatus::Charged => return_url(view, codes::SUCCESS),
        _ => view.record.return_url.clone(),
    };
    match url {
        Some(url) => format!("<p><a href=\"{}\">{}</a></p>", escape(&url), view.say(Message::BackToMerchant)),
        None => String::new(),
    }
}

/// What is paid, and for what.
pub(super) fn summary(view: &View<'_>) -> String {
    let payment = &view.record.payment;
    let mut rows = vec![(Message::Order, payment.order_number.clone())];
    if !view.record.description.is_empty() {
        let label = match payment.kind {
            PaymentKind::PayForm | PaymentKind::Qr => Message::Merchant,
            PaymentKind::Card | PaymentKind::Mbank => Message::Description,
        };
        rows.push((label, view.record.description.clone()));
    }
    if let Some(amount) = shown_amount(payment) {
        rows.push((Message::Amount, amount));
    }
    if let Some(card) = &payment.masked_card {
        rows.push((Message::CardNumber, card.clone()));
    }
    if let Some(phone) = &payment.masked_phone {
        rows.push((Message::Phone, phone.clone()));
    }
    let rows: String = rows
        .into_iter()
        .map(|(label, value)| format!("<dt>{}</dt><dd>{}</dd>\n", view.say(label), escape(&value)))
        .collect();
    format!("<dl>\n{rows}</dl>\n")
}

/// The amount for people: a QR's tyiyn as som.
fn shown_amount(payment: &Payment) -> Option<String> {
    let amount = match payment.kind {
        PaymentKind::Qr => payment.amount?.checked_mul(Decimal::new(1, 2))?,
        _ => payment.amount?,
    };
    Some(format!("{amount} {}", payment.currency))
}
