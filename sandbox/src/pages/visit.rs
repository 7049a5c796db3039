//! A payer's visit to a page: the payment is found by the token in the address, and the page shows or changes it.

use std::{sync::Arc, time::Instant};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::task::spawn_blocking;

use crate::{
    domain::{Language, PaymentStatus},
    encoding::FormPairs,
    pages::{finish, frame::Frame, page::Page, query::Query, trouble, view::View},
    state::State,
    store::{
        StoreError,
        payments::{self, Record},
    },
    web::read_body,
};

/// What somebody asked of a page.
struct Visit {
    query: Query,
    /// The language the browser wishes for.
    wish: Option<Language>,
    form: Option<FormPairs>,
}

/// Answers a request to a page.
pub(crate) async fn visit(state: Arc<State>, page: &'static Page, request: Request) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let query = Query::parse(parts.uri.query().unwrap_or_default());
    let wish = accepted_language(&parts.headers);
    let method = parts.method.clone();
    let form = match parts.method {
        Method::GET | Method::HEAD => None,
        Method::POST => match read_body(body).await {
            Ok(body) => Some(FormPairs::parse(&body)),
            Err(_) => return trouble::unreadable(&frame(&state, page, &query, None, wish)),
        },
        _ => return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD, POST")]).into_response(),
    };
    let visit = Visit { query, wish, form };
    let response = match spawn_blocking(move || answer(&state, page, &visit)).await {
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
fn frame(state: &State, page: &Page, query: &Query, record: Option<&Record>, wish: Option<Language>) -> Frame {
    let registered = record.and_then(|record| record.language);
    let language = query.language.or(registered).or(wish).unwrap_or_else(|| state.switches().language);
    Frame::new(page.path, query, language)
}

fn answer(state: &State, page: &Page, visit: &Visit) -> Response {
    let _age = state.age();
    let frame = |record| frame(state, page, &visit.query, record, visit.wish);
    let found = state.read(|connection| payments::by_gateway_number(connection, &visit.query.token));
    let record = match found {
        Ok(Some(record)) if (page.is_for)(&record) => record,
        Ok(_) => return trouble::not_found(&frame(None)),
        Err(error) => return failed(&error, &frame(None)),
    };
    let frame = frame(Some(&record));
    let view = View { state, record: &record, frame: &frame, fill: visit.query.fill.as_deref() };
    if record.payment.status != PaymentStatus::Created {
        return finish::already(&view);
    }
    match &visit.form {
        None => (page.show)(&view),
        Some(form) => (page.submit)(&view, form).unwrap_or_else(|error| failed(&error, &frame)),
    }
}

fn failed(error: &StoreError, frame: &Frame) -> Response {
    tracing::error!(%error, "a page failed inside the sandbox");
    trouble::internal_error(frame)
}
