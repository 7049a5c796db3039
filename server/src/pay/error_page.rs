//! Refusals, as pages.

use std::time::Duration;

use askama::Template;
use axum::{
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};

use super::{
    frame::{Frame, page},
    links::Links,
    page_state::{AccessDenied, PageState},
    texts::Texts,
};
use crate::{
    net::{BodyError, retry_after},
    values::error::ServerError,
};

/// When somebody should come back whom the server could not answer.
const SOON: Duration = Duration::from_secs(5);

type Text = fn(&Texts) -> &'static str;

/// What is not done, and what the payer may do. A handler returns it; the router, which knows the language, makes a page of it.
#[derive(Clone)]
pub(super) struct ErrorPage {
    status: StatusCode,
    title: Text,
    text: Text,
    retry_after: Option<Duration>,
}

#[derive(Template)]
#[template(path = "pay/message.html")]
struct Message {
    frame: Frame,
    title: &'static str,
    text: &'static str,
    home: Option<String>,
}

impl ErrorPage {
    fn new(status: StatusCode, text: Text) -> Self {
        Self { status, title: |t| t.not_done, text, retry_after: None }
    }

    pub(super) fn not_found() -> Self {
        Self { title: |t| t.nowhere, ..Self::new(StatusCode::NOT_FOUND, |t| t.nowhere_more) }
    }

    pub(super) fn too_many_requests(wait: Duration) -> Self {
        Self { retry_after: Some(wait), ..Self::new(StatusCode::TOO_MANY_REQUESTS, |t| t.too_often) }
    }

    /// A form that is none of ours.
    pub(super) fn bad_form(status: StatusCode) -> Self {
        Self::new(status, |t| t.foreign)
    }

    pub(super) fn failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, |t| t.unavailable)
    }

    pub(super) fn page(&self, pages: &PageState, links: &Links) -> Response {
        let frame = Frame::new(pages, links, None);
        let (title, text) = ((self.title)(frame.t), (self.text)(frame.t));
        let mut response = page(self.status, &Message { frame, title, text, home: links.home() });
        if let Some(wait) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after(wait));
        }
        response
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

impl From<ServerError> for ErrorPage {
    fn from(error: ServerError) -> Self {
        match error {
            ServerError::NotFound { .. } => Self::not_found(),
            ServerError::Invalid { .. } => Self::bad_form(StatusCode::BAD_REQUEST),
            ServerError::Unavailable { detail } => {
                // What a database says is for the operator.
                tracing::error!(target: "kassa_server", detail, "a page could not be answered");
                Self { retry_after: Some(SOON), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, |t| t.unavailable) }
            }
            _ => Self::new(StatusCode::CONFLICT, |t| t.unavailable),
        }
    }
}

impl From<AccessDenied> for ErrorPage {
    fn from(denied: AccessDenied) -> Self {
        match denied {
            AccessDenied::RateLimited(wait) => Self::too_many_requests(wait),
            AccessDenied::Failed(error) => error.into(),
        }
    }
}

impl From<BodyError> for ErrorPage {
    fn from(error: BodyError) -> Self {
        Self::new(
            match error {
                BodyError::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
                BodyError::TooSlow => StatusCode::REQUEST_TIMEOUT,
                _ => StatusCode::BAD_REQUEST,
            },
            |t| t.unavailable,
        )
    }
}
