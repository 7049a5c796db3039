//! Pages as answers, errors as pages, and the stylesheets: those that the sandbox has too, and their own.

use std::time::Duration;

use askama::Template;
use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use kassa_pages::{Asset, stylesheets};

use super::admin_state::StaffUser;
use crate::{
    net::{page, retry_after},
    values::error::ServerError,
};

/// A part of the pages, as the navigation names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    Checkouts,
    Day,
    Reconciliation,
}

/// The frame that every page shows around its content.
pub(super) struct Frame {
    /// With what every address begins.
    pub(super) home: String,
    pub(super) stylesheets: [String; 3],
    pub(super) section: Option<Section>,
    /// The logged-in person, and the token of the logout form.
    pub(super) person: Option<(String, String)>,
}

impl Frame {
    pub(super) fn of(home: &str, user: Option<&StaffUser>, section: Option<Section>) -> Self {
        let person = user.map(|user| (user.name.clone(), user.csrf.clone()));
        Self { home: home.to_owned(), stylesheets: stylesheets(), section, person }
    }

    /// For `aria-current`.
    pub(super) fn is_in_checkouts(&self) -> bool {
        self.section == Some(Section::Checkouts)
    }

    pub(super) fn is_in_day(&self) -> bool {
        self.section == Some(Section::Day)
    }

    pub(super) fn is_in_reconciliation(&self) -> bool {
        self.section == Some(Section::Reconciliation)
    }
}

/// An error in one sentence. A handler returns it; the router, which knows who is logged in, makes a page of it.
#[derive(Clone, Debug)]
pub(super) struct ErrorPage {
    pub(super) status: StatusCode,
    pub(super) sentence: String,
    pub(super) retry_after: Option<Duration>,
}

impl ErrorPage {
    pub(super) fn new(status: StatusCode, sentence: impl Into<String>) -> Self {
        Self { status, sentence: sentence.into(), retry_after: None }
    }

    pub(super) fn too_many_requests(wait: Duration) -> Self {
        let sentence = "Too many requests. Wait a little, then try again.";
        Self { retry_after: Some(wait), ..Self::new(StatusCode::TOO_MANY_REQUESTS, sentence) }
    }

    pub(super) fn not_found() -> Self {
        Self::new(StatusCode::NOT_FOUND, "There is no such page.")
    }

    pub(super) fn failed() -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "The server failed; its log says why.")
    }

    /// As a page of its own.
    pub(super) fn page(&self, home: &str, user: Option<&StaffUser>) -> Response {
        let message = Message { frame: Frame::of(home, user, None), sentence: &self.sentence };
        self.waiting(page(self.status, &message))
    }

    /// With the time to wait for, where there is one.
    pub(super) fn waiting(&self, mut response: Response) -> Response {
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
        let status = match &error {
            ServerError::Invalid { .. } => StatusCode::BAD_REQUEST,
            ServerError::NotFound { .. } => StatusCode::NOT_FOUND,
            ServerError::Unavailable { detail } => {
                // What a database says is for the operator.
                tracing::error!(target: "kassa_server", detail, "a page could not be answered");
                let sentence = "The server cannot do this now. Try again in a moment.";
                return Self::new(StatusCode::SERVICE_UNAVAILABLE, sentence);
            }
            _ => StatusCode::CONFLICT,
        };
        Self::new(status, error.to_string())
    }
}

#[derive(Template)]
#[template(path = "staff/message.html")]
struct Message<'a> {
    frame: Frame,
    sentence: &'a str,
}

static OWN: Asset = Asset::new("staff.css", Asset::CSS, include_bytes!("../../assets/staff.css"));
/// In the order in which a page loads them.
static STYLESHEETS: [&Asset; 3] = [&stylesheets::BASE, &stylesheets::STAFF, &OWN];

/// Their names, which change with their content.
pub(super) fn stylesheets() -> [String; 3] {
    STYLESHEETS.map(Asset::versioned_name)
}

pub(super) fn serve_stylesheet(name: &str, request: &HeaderMap) -> Response {
    let found = STYLESHEETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.serve(request))
}
