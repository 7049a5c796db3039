//! The payer's pages: plain HTML forms that post to their own URL. Each shows and each changes one payment,
//! named by the unguessable `token` in the query.

mod finish;
mod form;
mod html;
mod otp_form;
pub(crate) mod pay_form;
mod pay_form_input;
pub(crate) mod qr;
pub(crate) mod three_ds;
pub(crate) mod wallet;

use std::{sync::Arc, time::Instant};

use axum::{
    extract::Request,
    http::{HeaderMap, Method, StatusCode, header},
    response::{IntoResponse, Response},
};
use tokio::task::spawn_blocking;
use url::form_urlencoded;

use crate::{
    api::read_body,
    gateway::Gateway,
    language::Language,
    messages::Message,
    pages::form::Form,
    state::PaymentStatus,
    store::{
        StoreError,
        payments::{self, Record},
    },
};

pub(crate) use html::{STYLE_PATH, stylesheet};

/// A page: which payments it is for, what it shows, and what a posted form does.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) is_for: fn(&Record) -> bool,
    pub(crate) show: fn(&View<'_>) -> Answer,
    pub(crate) submit: fn(&View<'_>, &Form) -> Result<Answer, StoreError>,
}

/// All of them.
pub(crate) static PAGES: [Page; 4] = [three_ds::PAGE, pay_form::PAGE, wallet::PAGE, qr::PAGE];

/// What a page works with.
pub(crate) struct View<'a> {
    pub(crate) gateway: &'a Gateway,
    pub(crate) record: &'a Record,
    pub(crate) language: Language,
}

impl View<'_> {
    /// A message, ready to stand in HTML.
    fn say(&self, message: Message) -> String {
        html::escape(&self.language.say(message))
    }
}

/// What a page answers.
pub(crate) enum Answer {
    Html(StatusCode, String),
    /// 303: the browser goes there with a GET.
    SeeOther(String),
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        match self {
            Self::Html(status, document) => html::response(status, document),
            Self::SeeOther(url) => html::see_other(&url),
        }
    }
}

/// Answers a request to a page.
pub(crate) async fn visit(gateway: Arc<Gateway>, page: &'static Page, request: Request) -> Response {
    let started = Instant::now();
    let (parts, body) = request.into_parts();
    let token = token(parts.uri.query().unwrap_or_default());
    let wish = accepted_language(&parts.headers);
    let method = parts.method.clone();
    let form = match parts.method {
        Method::GET | Method::HEAD => None,
        Method::POST => match read_body(body).await {
            Ok(body) => Some(Form::parse(&body)),
            Err(_) => return html::unreadable(wish.unwrap_or(gateway.options.language)),
        },
        _ => return html::method_not_allowed(),
    };
    let work = move || answer(&gateway, page, &token, wish, form.as_ref());
    let response = match spawn_blocking(work).await {
        Ok(answer) => answer.into_response(),
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

fn token(query: &str) -> String {
    form_urlencoded::parse(query.as_bytes())
        .find(|(name, _)| name == "token")
        .map(|(_, token)| token.into_owned())
        .unwrap_or_default()
}

fn accepted_language(headers: &HeaderMap) -> Option<Language> {
    Language::accepted(headers.get(header::ACCEPT_LANGUAGE)?.to_str().ok()?)
}

fn answer(gateway: &Gateway, page: &Page, token: &str, wish: Option<Language>, form: Option<&Form>) -> Answer {
    let fallback = wish.unwrap_or(gateway.options.language);
    let found = gateway.read(|connection| payments::by_gateway_number(connection, token));
    let record = match found {
        Ok(Some(record)) if (page.is_for)(&record) => record,
        Ok(_) => return html::not_found(fallback),
        Err(error) => return failed(&error, fallback),
    };
    let view = View { gateway, record: &record, language: record.language.unwrap_or(fallback) };
    if record.payment.status != PaymentStatus::Created {
        return finish::already(&view);
    }
    match form {
        None => (page.show)(&view),
        Some(form) => (page.submit)(&view, form).unwrap_or_else(|error| failed(&error, view.language)),
    }
}

fn failed(error: &StoreError, language: Language) -> Answer {
    tracing::error!(%error, "a page failed inside the sandbox");
    html::internal_error(language)
}
