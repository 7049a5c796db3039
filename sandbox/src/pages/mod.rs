//! The payer's pages: plain HTML forms that post to their own URL, with a script that only adds comfort. Each page shows or changes
//! one payment, found by the unguessable `token` in the query. Here: the table of the pages, and how a request is answered.

mod form;
mod frame;
pub(crate) mod otp;
pub(crate) mod pay_form;
pub(crate) mod qr;
mod result;
mod summary;

use std::{sync::Arc, time::Instant};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::task::spawn_blocking;

use crate::{
    domain::{Language, PaymentKind, PaymentStatus},
    encoding::FormPairs,
    pages::frame::{Frame, Page, Query, View},
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
    web::read_body,
};

/// A request to a payer's page.
struct PageRequest {
    query: Query,
    /// The language that the browser prefers.
    preferred: Option<Language>,
    form: Option<FormPairs>,
}

/// Handles a request to a page.
pub(crate) async fn handle(state: Arc<State>, page: &'static Page, request: Request) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let preferred = accepted_language(&parts.headers);
    let method = parts.method.clone();
    let form = match parts.method {
        Method::GET | Method::HEAD => None,
        Method::POST => match read_body(body).await {
            Ok(body) => Some(FormPairs::parse(&body)),
            Err(_) => return result::unreadable(&frame(&state, page, &query, None, preferred)),
        },
        _ => return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD, POST")]).into_response(),
    };
    let page_request = PageRequest { query, preferred, form };
    let response = match spawn_blocking(move || answer(&state, page, &page_request)).await {
        Ok(response) => response,
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    tracing::info!(
        %method,
        path = page.path,
        status = response.status().as_u16(),
        ms = started.elapsed().as_millis(),
        "page"
    );
    response
}

fn accepted_language(headers: &HeaderMap) -> Option<Language> {
    Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?)
}

/// In the language the payer switched to, else the one the payment was registered in, else the browser's, else the
/// merchant's.
fn frame(state: &State, page: &Page, query: &Query, record: Option<&Record>, preferred: Option<Language>) -> Frame {
    let registered = record.and_then(|record| record.language);
    let language = query.language.or(registered).or(preferred).unwrap_or_else(|| state.switches().language);
    Frame::new(page.path, query, language)
}

fn answer(state: &State, page: &Page, page_request: &PageRequest) -> Response {
    let _generation = state.generation();
    let frame = |record| frame(state, page, &page_request.query, record, page_request.preferred);
    let found = state.read(|connection| payments::by_gateway_number(connection, &page_request.query.token));
    let record = match found {
        Ok(Some(record)) if (page.is_for)(&record) => record,
        Ok(_) => return result::not_found(&frame(None)),
        Err(error) => return failed(&error, &frame(None)),
    };
    let frame = frame(Some(&record));
    let view = View { state, record: &record, frame: &frame, fill: page_request.query.fill.as_deref() };
    if record.payment.status != PaymentStatus::Created {
        return result::already(&view);
    }
    match &page_request.form {
        None => (page.show)(&view),
        Some(form) => (page.submit)(&view, form).unwrap_or_else(|error| failed(&error, &frame)),
    }
}

fn failed(error: &StoreError, frame: &Frame) -> Response {
    tracing::error!(%error, "a page failed inside the sandbox");
    result::internal_error(frame)
}

/// Every page.
pub(crate) static PAGES: [Page; 4] = [otp::THREE_DS, pay_form::PAGE, otp::WALLET, qr::PAGE];

/// The path of the page on which a payment waits for its payer, if it waits on one.
pub(crate) fn awaiting(record: &Record) -> Option<&'static str> {
    let payment = &record.payment;
    if payment.status != PaymentStatus::Created {
        return None;
    }
    match payment.kind {
        PaymentKind::Card => Some(otp::THREE_DS_PATH),
        PaymentKind::PayForm if payment.masked_card.is_some() => Some(otp::THREE_DS_PATH),
        PaymentKind::PayForm if payment.masked_phone.is_some() => Some(otp::WALLET_PATH),
        PaymentKind::PayForm => Some(pay_form::PATH),
        PaymentKind::Qr => Some(qr::PATH),
        // The password goes from the payer to the merchant.
        PaymentKind::Mbank => None,
    }
}
