//! What a page of a payer is.

use axum::response::Response;

use crate::{
    encoding::FormPairs,
    pages::view::View,
    store::{StoreError, payments::Record},
};

/// A page: which payments it is for, what it shows, and what a posted form does.
pub(crate) struct Page {
    pub(crate) path: &'static str,
    pub(crate) is_for: fn(&Record) -> bool,
    pub(crate) show: fn(&View<'_>) -> Response,
    pub(crate) submit: fn(&View<'_>, &FormPairs) -> Result<Response, StoreError>,
}
