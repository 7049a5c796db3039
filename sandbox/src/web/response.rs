//! Pages as responses, with their security headers.

use askama::Template;
use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};

/// What a page may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Policy {
    /// The merchant's side: forms go to the sandbox alone.
    Staff,
    /// The payer's side. There is no `form-action` on purpose: browsers apply it to the redirect after a form, too,
    /// and that leads to the merchant's return URL, which may be any site or app.
    Payer,
}

impl Policy {
    fn content_security_policy(self) -> &'static str {
        match self {
            Self::Staff => {
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
            }
            Self::Payer => {
                "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; \
                 base-uri 'none'; frame-ancestors 'none'"
            }
        }
    }
}

/// A template's page.
pub(crate) fn page(status: StatusCode, policy: Policy, template: &impl Template) -> Response {
    let document = match template.render() {
        Ok(document) => document,
        Err(error) => {
            tracing::error!(%error, "a page could not be written");
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    };
    let mut response = Response::new(Body::from(document));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy.content_security_policy()));
    headers.extend(guards());
    response
}

/// 303: the browser goes there with a GET. This page's URL, which may have a token in it, is no business of the next
/// site.
pub(crate) fn see_other(url: &str) -> Response {
    let Ok(location) = HeaderValue::from_str(url) else {
        tracing::error!("a redirect's target is no header value");
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    };
    let mut response = StatusCode::SEE_OTHER.into_response();
    response.headers_mut().insert(header::LOCATION, location);
    response.headers_mut().extend(guards());
    response
}

fn guards() -> [(HeaderName, HeaderValue); 4] {
    [
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (header::CACHE_CONTROL, "no-store"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}
