//! Headers shared by pages and the HTTP interface, and pages as responses.

use std::{future::ready, time::Duration};

use askama::Template;
use axum::{
    Router,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    middleware::map_response,
    response::{Html, IntoResponse, Response},
};

/// Sets these headers and the common ones in each response, even if no route was found. A response with its own `Cache-Control`
/// or policy, such as a stylesheet, keeps it; no other response is cached.
pub(crate) fn with_security_headers(
    router: Router,
    is_secure: bool,
    policy: &'static str,
    others: &[(HeaderName, &'static str)],
) -> Router {
    let defaults = [(header::CACHE_CONTROL, "no-store"), (header::CONTENT_SECURITY_POLICY, policy)];
    let same_site = HeaderName::from_static("cross-origin-resource-policy");
    let mut always = HeaderMap::from_iter([
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (same_site, HeaderValue::from_static("same-origin")),
    ]);
    always.extend(others.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))));
    if is_secure {
        always.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static("max-age=31536000"));
    }
    router.layer(map_response(move |mut response: Response| {
        let headers = response.headers_mut();
        for (name, value) in &defaults {
            headers.entry(name).or_insert(HeaderValue::from_static(value));
        }
        for (name, value) in &always {
            headers.insert(name, value.clone());
        }
        ready(response)
    }))
}

/// Whether a body has this media type, with any parameters.
pub(crate) fn is_of_media_type(headers: &HeaderMap, media_type: &str) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// `Retry-After`: whole seconds, at least one, and never too few.
pub(crate) fn retry_after(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

/// A template's page.
pub(crate) fn page(status: StatusCode, template: &impl Template) -> Response {
    match template.render() {
        Ok(text) => (status, Html(text)).into_response(),
        Err(problem) => {
            tracing::error!(target: "kassa_server", %problem, "a page could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// 303: the browser follows with a GET, so that a reload sends nothing again.
pub(crate) fn see_other(path: &str) -> Response {
    match HeaderValue::from_str(path) {
        Ok(location) => (StatusCode::SEE_OTHER, [(header::LOCATION, location)]).into_response(),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_header_rounds_up_to_seconds() {
        for (wait, expected) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (61_500, 62)] {
            assert_eq!(retry_after(Duration::from_millis(wait)), HeaderValue::from(expected), "{wait} ms");
        }
    }
}
