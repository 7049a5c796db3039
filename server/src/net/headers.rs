//! Headers that pages and the HTTP interface read and write alike.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, header};

/// Whether a body says that it is of this media type, whatever parameters stand behind it.
pub(crate) fn is_of_media_type(headers: &HeaderMap, media_type: &str) -> bool {
    let given = headers.get(header::CONTENT_TYPE).and_then(|given| given.to_str().ok()).unwrap_or_default();
    given.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media_type)
}

/// `Retry-After`: whole seconds, at least one, and never too few.
pub(crate) fn retry_after(wait: Duration) -> HeaderValue {
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    HeaderValue::from(seconds.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_come_back_too_early() {
        for (wait, expected) in [(0, 1), (1, 1), (1000, 1), (1001, 2), (61_500, 62)] {
            assert_eq!(retry_after(Duration::from_millis(wait)), HeaderValue::from(expected), "{wait} ms");
        }
    }
}
