//! Cookies: the session's, from which scripts and other sites get nothing, and how the last statement was read.

use axum::http::{HeaderMap, HeaderValue};
use kassa_pages::{Cookie, read_cookie};

/// With `__Host-` a browser takes it over TLS alone, for this host alone.
fn name(is_secure: bool) -> &'static str {
    if is_secure { "__Host-kassa_staff" } else { "kassa_staff" }
}

/// How a statement was read last: no secret, and nothing that another site could make use of.
const REMEMBERED: &str = "kassa_statement";
/// A year.
const LONG: u32 = 365 * 24 * 3600;

/// The session's token, if the browser sent one.
pub(super) fn read(headers: &HeaderMap, is_secure: bool) -> Option<&str> {
    read_cookie(headers, name(is_secure)).filter(|token| !token.is_empty())
}

/// How the last statement was read, if the browser remembers.
pub(super) fn remembered(headers: &HeaderMap) -> Option<&str> {
    read_cookie(headers, REMEMBERED)
}

/// The header that sets it for as long as the browser runs; an empty token takes it away.
pub(super) fn set(token: &str, is_secure: bool) -> HeaderValue {
    Cookie::new(name(is_secure), token).secure(is_secure).header()
}

/// The header that has the browser remember how a statement is read.
pub(super) fn remember(mapping: &str, is_secure: bool) -> HeaderValue {
    Cookie::new(REMEMBERED, mapping).at("/staff/reconciliation").secure(is_secure).for_seconds(LONG).header()
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn the_session_is_locked_to_the_host_over_tls() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("kassa_staff=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("__Host-kassa_staff=4"));
        assert_eq!((read(&headers, false), read(&headers, true)), (Some("3"), Some("4")));
        assert_eq!(
            read(&HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static("kassa_staff="))]), false),
            None
        );
        let secure = set("t", true);
        assert_eq!(secure, "__Host-kassa_staff=t; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert_eq!(set("", false), "kassa_staff=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    }
}
