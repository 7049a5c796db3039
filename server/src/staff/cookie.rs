//! Cookies: the session's, from which scripts and other sites get nothing, and how the last statement was read.

use axum::http::{HeaderMap, HeaderValue, header};

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
    value(headers, name(is_secure))
}

/// How the last statement was read, if the browser remembers.
pub(super) fn remembered(headers: &HeaderMap) -> Option<&str> {
    value(headers, REMEMBERED)
}

fn value<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let pairs = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = pairs.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(known, value)| (known == name && !value.is_empty()).then_some(value))
}

/// The header that sets it for as long as the browser runs; an empty token takes it away.
pub(super) fn set(token: &str, is_secure: bool) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let age = if token.is_empty() { "; Max-Age=0" } else { "" };
    let cookie = format!("{}={token}; Path=/; HttpOnly; SameSite=Strict{secure}{age}", name(is_secure));
    HeaderValue::from_str(&cookie).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The header that has the browser remember how a statement is read.
pub(super) fn remember(mapping: &str, is_secure: bool) -> HeaderValue {
    let secure = if is_secure { "; Secure" } else { "" };
    let cookie = format!(
        "{REMEMBERED}={mapping}; Path=/staff/reconciliation; HttpOnly; SameSite=Strict{secure}; Max-Age={LONG}"
    );
    HeaderValue::from_str(&cookie).unwrap_or_else(|_| HeaderValue::from_static(""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_found_among_others_by_its_whole_name_and_locked_to_the_host_over_tls() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; xkassa_staff=2;kassa_staff=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("__Host-kassa_staff=4"));
        assert_eq!((read(&headers, false), read(&headers, true)), (Some("3"), Some("4")));
        assert_eq!(read(&HeaderMap::new(), false), None);
        let secure = set("t", true);
        assert_eq!(secure, "__Host-kassa_staff=t; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert_eq!(set("", false), "kassa_staff=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    }
}
