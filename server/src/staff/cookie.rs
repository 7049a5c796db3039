//! Cookies: the session's, which scripts and other sites cannot read, and the language's.

use axum::http::{HeaderMap, HeaderValue};
use kassa::Language;
use kassa_pages::{Cookie, read_cookie};

/// The path of the pages on a host of their own.
const OWN_HOST: &str = "/staff";

/// With `__Host-`, browsers accept it only over TLS, only for this host, and for all its paths. If the server is under a path,
/// others may share the host: then the cookie is only for the path of these pages, which `__Host-` does not allow.
fn name(is_secure: bool, home: &str) -> &'static str {
    match (is_secure, home == OWN_HOST) {
        (true, true) => "__Host-kassa_staff",
        (true, false) => "__Secure-kassa_staff",
        (false, _) => "kassa_staff",
    }
}

/// A semicolon would end the path.
fn path(path: &str) -> &str {
    if path == OWN_HOST || path.contains(';') { "/" } else { path }
}

/// The language that was picked.
const LANGUAGE: &str = "kassa_language";
/// A year.
const LONG: u32 = 365 * 24 * 3600;

/// The session's token, if the browser sent one.
pub(super) fn read<'a>(headers: &'a HeaderMap, is_secure: bool, home: &str) -> Option<&'a str> {
    read_cookie(headers, name(is_secure, home)).filter(|token| !token.is_empty())
}

/// The language that was picked, if the browser sends it.
pub(super) fn language(headers: &HeaderMap) -> Option<&str> {
    read_cookie(headers, LANGUAGE)
}

/// The header that sets it until the browser closes; an empty token removes it.
pub(super) fn set(token: &str, is_secure: bool, home: &str) -> HeaderValue {
    Cookie::new(name(is_secure, home), token).at(path(home)).secure(is_secure).header()
}

/// The header that stores a language in the browser.
pub(super) fn remember_language(language: Language, is_secure: bool, home: &str) -> HeaderValue {
    Cookie::new(LANGUAGE, &language.to_string()).at(path(home)).secure(is_secure).for_seconds(LONG).header()
}

#[cfg(test)]
mod tests {
    use axum::http::header;

    use super::*;

    #[test]
    fn session_cookie_has_secure_prefix_over_tls() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("kassa_staff=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("__Host-kassa_staff=4"));
        headers.append(header::COOKIE, HeaderValue::from_static("__Secure-kassa_staff=5"));
        let read = |is_secure, home| read(&headers, is_secure, home);
        assert_eq!((read(false, "/staff"), read(true, "/staff")), (Some("3"), Some("4")));
        assert_eq!((read(false, "/kassa/staff"), read(true, "/kassa/staff")), (Some("3"), Some("5")));
        let empty = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static("kassa_staff="))]);
        assert_eq!(super::read(&empty, false, "/staff"), None);
        let secure = set("t", true, "/staff");
        assert_eq!(secure, "__Host-kassa_staff=t; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert_eq!(set("", false, "/staff"), "kassa_staff=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    }

    #[test]
    fn staff_cookies_are_scoped_to_public_path() {
        let secure = set("t", true, "/kassa/staff");
        assert_eq!(secure, "__Secure-kassa_staff=t; Path=/kassa/staff; HttpOnly; SameSite=Strict; Secure");
        let language = remember_language(Language::Kyrgyz, false, "/kassa/staff");
        let language = language.to_str().unwrap();
        assert!(language.starts_with("kassa_language=ky; Path=/kassa/staff; HttpOnly;"), "{language}");
        assert_eq!(set("t", false, "/a;b/staff"), "kassa_staff=t; Path=/; HttpOnly; SameSite=Strict");
    }
}
