//! What an endpoint answers: an HTTP status and the envelope of code, message and data.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde::Serialize;

/// The codes of the envelope that are not a reject reason's.
pub(crate) mod codes {
    pub(crate) const CREATED: &str = "110";
    pub(crate) const PENDING: &str = "120";
    pub(crate) const SUCCESS: &str = "200";
    pub(crate) const INVALID: &str = "400";
    pub(crate) const UNAUTHORIZED: &str = "401";
    pub(crate) const NOT_FOUND: &str = "404";
    pub(crate) const WRONG_METHOD: &str = "405";
    pub(crate) const TIMEOUT: &str = "408";
    pub(crate) const CONFLICT: &str = "409";
    pub(crate) const TOO_LARGE: &str = "413";
    pub(crate) const WRONG_OTP: &str = "422";
    pub(crate) const INTERNAL: &str = "500";
}

/// A finished answer, independent of the web framework.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    content_type: &'static str,
    body: String,
    header: Option<(HeaderName, HeaderValue)>,
}

#[derive(Serialize)]
struct Envelope<'a, T> {
    code: &'a str,
    message: &'a str,
    data: &'a T,
}

impl Reply {
    /// The envelope with HTTP 200.
    pub(crate) fn ok(code: &str, message: &str, data: &impl Serialize) -> Self {
        Self::envelope(StatusCode::OK, code, message, data)
    }

    /// The envelope with any HTTP status.
    pub(crate) fn envelope(status: StatusCode, code: &str, message: &str, data: &impl Serialize) -> Self {
        let envelope = Envelope { code, message, data };
        match serde_json::to_string(&envelope) {
            Ok(body) => Self { status, content_type: "application/json", body, header: None },
            Err(error) => {
                tracing::error!(%error, "an answer could not be written");
                Self::text(StatusCode::INTERNAL_SERVER_ERROR, String::new())
            }
        }
    }

    /// A bare text.
    pub(crate) fn text(status: StatusCode, body: String) -> Self {
        Self { status, content_type: "text/plain; charset=utf-8", body, header: None }
    }

    /// The same answer with a header more.
    pub(crate) fn with_header(mut self, name: HeaderName, value: &'static str) -> Self {
        self.header = Some((name, HeaderValue::from_static(value)));
        self
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        // Answers are about money: no proxy and no browser may keep one.
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        headers.extend(self.header);
        response
    }
}
