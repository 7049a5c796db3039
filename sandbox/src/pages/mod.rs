//! The payer's pages: plain HTML forms that post to their own URL, with an optional script. Each page shows or changes one
//! payment, found by the unguessable `token` in the query. This file has the table of pages and the handling of requests.

mod form;
mod frame;
pub(crate) mod otp;
pub(crate) mod pay_form;
pub(crate) mod qr;
mod result;
mod summary;

use std::{convert::Infallible, sync::Arc};

use axum::{
    Router,
    body::Body,
    extract::{self, FromRequestParts},
    http::{HeaderMap, header, request::Parts},
    middleware::from_fn_with_state,
    response::Response,
    routing::get,
};

use crate::{
    domain::{Language, PaymentKind, PaymentStatus},
    encoding::FormPairs,
    pages::frame::{Frame, Page, Query, View},
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
    web::{log_request, page_method_not_allowed, read_body, respond_blocking},
};

/// The routes of the pages.
pub(crate) fn routes(state: &Arc<State>) -> Router {
    let router = PAGES.iter().fold(Router::new(), |router, page| {
        let methods = get(show).post(submit).fallback(page_method_not_allowed);
        router.route(page.path, methods.with_state((Arc::clone(state), page)))
    });
    router.layer(from_fn_with_state("page", log_request))
}

/// The shared state, and the page of a route.
type PageState = (Arc<State>, &'static Page);

/// The part of a page's request that selects the payment and the language.
struct Selection {
    query: Query,
    /// The browser's preferred language.
    preferred: Option<Language>,
}

impl<S: Sync> FromRequestParts<S> for Selection {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let query = Query::parse(parts.uri.query().unwrap_or_default());
        Ok(Self { query, preferred: accepted_language(&parts.headers) })
    }
}

fn accepted_language(headers: &HeaderMap) -> Option<Language> {
    Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?)
}

async fn show(extract::State((state, page)): extract::State<PageState>, selection: Selection) -> Response {
    respond_blocking(move || respond(&state, page, &selection, None)).await
}

async fn submit(
    extract::State((state, page)): extract::State<PageState>,
    selection: Selection,
    body: Body,
) -> Response {
    match read_body(body).await {
        Ok(body) => {
            let form = FormPairs::parse(&body);
            respond_blocking(move || respond(&state, page, &selection, Some(&form))).await
        }
        Err(_) => result::unreadable(&frame(&state, page, &selection, None)),
    }
}

/// The language that the payer switched to, else the payment's, else the browser's, else the merchant's.
fn frame(state: &State, page: &Page, selection: &Selection, record: Option<&Record>) -> Frame {
    let Selection { query, preferred } = selection;
    let registered = record.and_then(|record| record.language);
    let language = query.language.or(registered).or(*preferred).unwrap_or_else(|| state.switches().language);
    Frame::new(page.path, query, language)
}

fn respond(state: &State, page: &Page, selection: &Selection, form: Option<&FormPairs>) -> Response {
    let _generation = state.generation();
    let frame = |record| frame(state, page, selection, record);
    let found = state.read(|connection| payments::by_gateway_number(connection, &selection.query.token));
    let record = match found {
        Ok(Some(record)) if (page.is_for)(&record) => record,
        Ok(_) => return result::not_found(&frame(None)),
        Err(error) => return failed(&error, &frame(None)),
    };
    let frame = frame(Some(&record));
    let view = View { state, record: &record, frame: &frame, fill: selection.query.fill.as_deref() };
    if record.payment.status != PaymentStatus::Created {
        return result::already(&view);
    }
    match form {
        None => (page.show)(&view),
        Some(form) => (page.submit)(&view, form).unwrap_or_else(|error| failed(&error, &frame)),
    }
}

fn failed(error: &StoreError, frame: &Frame) -> Response {
    tracing::error!(%error, "a page failed inside the sandbox");
    result::internal_error(frame)
}

/// All pages.
static PAGES: [Page; 4] = [otp::THREE_DS, pay_form::PAGE, otp::WALLET, qr::PAGE];

/// The path of the page where a payment waits for its payer, if any.
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
        // The password goes from the payer to the merchant's back end.
        PaymentKind::Mbank | PaymentKind::Megapay => None,
    }
}
