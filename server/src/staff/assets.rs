//! The stylesheets of the pages: those that the sandbox's pages have too, and their own.

use axum::{
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
};
use kassa_pages::{Asset, stylesheets};

static OWN: Asset = Asset::new("staff.css", Asset::CSS, include_bytes!("../../assets/staff.css"));
/// In the order in which a page loads them.
static STYLESHEETS: [&Asset; 3] = [&stylesheets::BASE, &stylesheets::STAFF, &OWN];

/// Their names, which change with their content.
pub(super) fn stylesheets() -> [String; 3] {
    STYLESHEETS.map(Asset::versioned_name)
}

pub(super) fn serve(name: &str, request: &HeaderMap) -> Response {
    let found = STYLESHEETS.iter().find(|asset| asset.versioned_name() == name);
    found.map_or_else(|| StatusCode::NOT_FOUND.into_response(), |asset| asset.serve(request))
}
