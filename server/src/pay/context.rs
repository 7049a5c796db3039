//! A request for the page of a checkout: the context that handlers extract, and the fields of its form and query.

use std::sync::Arc;

use axum::{extract::FromRequestParts, http::request::Parts, response::Response};
use url::form_urlencoded;

use super::{
    frame::{ErrorPage, Links},
    page_state::PageState,
};
use crate::{
    checkouts::CheckoutView,
    net::see_other,
    values::{Method, card_number::looks_like_card_number},
};

/// A request for the page of a checkout. The router admits it and reads its form; handlers extract it.
#[derive(Clone)]
pub(super) struct RequestContext {
    pub(super) pages: Arc<PageState>,
    pub(super) view: Box<CheckoutView>,
    pub(super) links: Links,
    pub(super) query: Form,
    pub(super) form: Form,
    /// Whether it is a HEAD request, which changes nothing.
    pub(super) is_head: bool,
}

impl RequestContext {
    /// Redirects to the page, which shows the current state.
    pub(super) fn home(&self) -> Response {
        see_other(&self.links.to(""))
    }
}

impl<S: Sync> FromRequestParts<S> for RequestContext {
    type Rejection = ErrorPage;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, ErrorPage> {
        parts.extensions.remove().ok_or_else(ErrorPage::failed)
    }
}

/// The most fields of a form: any further ones in a body are ignored.
const MOST: usize = 8;

/// The separators of a query's parameters. Except for the first, which is correct, they come from gateways and browsers that
/// add to an address carelessly: a second `?`, an escaped `#`, a `&amp;`.
pub(super) const QUERY_SEPARATORS: [char; 4] = ['&', '?', '#', ';'];

/// A submitted form. It can contain a one-time password, so `Debug` prints nothing of it.
#[derive(Clone, Default)]
pub(super) struct Form(Vec<(String, String)>);

impl Form {
    pub(super) fn parse(bytes: &[u8]) -> Self {
        Self(form_urlencoded::parse(bytes).into_owned().take(MOST).collect())
    }

    /// Parses the page's own query, despite any additions on the way: none of its values contains
    /// one of the [`QUERY_SEPARATORS`].
    pub(super) fn of_query(query: &str) -> Self {
        let field = |part: &str| {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            (name.to_owned(), value.to_owned())
        };
        let pairs = form_urlencoded::parse(query.as_bytes()).map(|(name, value)| format!("{name}={value}"));
        Self(pairs.flat_map(|pair| pair.split(QUERY_SEPARATORS).map(field).collect::<Vec<_>>()).take(MOST).collect())
    }

    /// A field's text, without spaces around it; empty if there is none. Of several with one name the first counts.
    pub(super) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.trim()).unwrap_or_default()
    }

    /// A field's text to show again on the page, without anything that looks like a card number.
    pub(super) fn shown(&self, name: &str) -> &str {
        Some(self.get(name)).filter(|text| !looks_like_card_number(text)).unwrap_or_default()
    }
}

/// The payer's rejected input.
#[derive(Default)]
pub(super) struct RejectedInput {
    pub(super) method: Option<Method>,
    pub(super) phone: String,
    /// The phone of a MegaPay wallet, which has its own field.
    pub(super) wallet_phone: String,
    pub(super) phone_problem: Option<&'static str>,
    pub(super) code_problem: Option<&'static str>,
    /// The message above the form.
    pub(super) notice: Option<&'static str>,
    /// Without scripts: the payer requested the other payment methods.
    pub(super) is_choosing: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_query_ignores_appended_parameters() {
        for query in [
            "lang=ky",
            "lang=ky&OrderNumber=1&statusCode=200",
            "lang=ky?OrderNumber=1&statusCode=200",
            "lang=ky%3FOrderNumber=1",
            "lang=ky#OrderNumber=1",
            "lang=ky%23OrderNumber=1",
            "lang=ky%26OrderNumber=1",
            "lang=ky&amp;OrderNumber=1",
            "lang=ky;OrderNumber=1",
            "utm=1&amp;lang=ky",
            "OrderNumber=1?lang=ky",
            "?lang=ky",
            "lang=ky&lang=ru",
        ] {
            assert_eq!(Form::of_query(query).get("lang"), "ky", "{query}");
        }
        assert_eq!(Form::of_query("OrderNumber=1&language=ky").get("lang"), "");
    }
}
