//! Cookies: reading one, and setting one that scripts and other sites cannot read.

use axum::http::{HeaderMap, HeaderValue, header};

/// The value of a cookie, if the browser sent it.
///
/// ```
/// # use axum::http::{HeaderMap, HeaderValue, header};
/// let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static("a=1; session=2"))]);
/// assert_eq!(kassa_pages::read_cookie(&headers, "session"), Some("2"));
/// ```
pub fn read_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(known, value)| (known == name).then_some(value))
}

/// A cookie to be set, by default for every path and for as long as the browser runs. Scripts never get it (`HttpOnly`).
///
/// ```
/// use kassa_pages::Cookie;
///
/// assert_eq!(Cookie::new("session", "2").secure(true).header(), "session=2; Path=/; HttpOnly; SameSite=Strict; Secure");
/// assert_eq!(Cookie::new("session", "").header(), "session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
/// ```
#[derive(Clone, Debug)]
pub struct Cookie<'a> {
    name: &'a str,
    value: &'a str,
    path: &'a str,
    same_site: &'static str,
    is_secure: bool,
    max_age: Option<u32>,
}

impl<'a> Cookie<'a> {
    /// A name and a value; an empty value removes the cookie.
    pub fn new(name: &'a str, value: &'a str) -> Self {
        let max_age = value.is_empty().then_some(0);
        Self { name, value, path: "/", same_site: "Strict", is_secure: false, max_age }
    }

    /// Whether browsers send it only over TLS.
    pub fn secure(self, is_secure: bool) -> Self {
        Self { is_secure, ..self }
    }

    /// Also sends it if a link on another site leads here (`SameSite=Lax`).
    pub fn lax(self) -> Self {
        Self { same_site: "Lax", ..self }
    }

    /// Sends it only for this path and paths below it.
    pub fn at(self, path: &'a str) -> Self {
        Self { path, ..self }
    }

    /// Keeps it for this many seconds, also after the browser closes.
    pub fn for_seconds(self, seconds: u32) -> Self {
        Self { max_age: Some(seconds), ..self }
    }

    /// The value of `Set-Cookie`; empty if it is not a valid header value.
    pub fn header(&self) -> HeaderValue {
        let Self { name, value, path, same_site, .. } = self;
        let secure = if self.is_secure { "; Secure" } else { "" };
        let age = self.max_age.map(|seconds| format!("; Max-Age={seconds}")).unwrap_or_default();
        let cookie = format!("{name}={value}; Path={path}; HttpOnly; SameSite={same_site}{secure}{age}");
        HeaderValue::from_str(&cookie).unwrap_or_else(|_| HeaderValue::from_static(""))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_found_among_others_and_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; kassa=2;b=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("c=4"));
        for (name, value) in [("a", Some("1")), ("kassa", Some("2")), ("c", Some("4")), ("kass", None), ("", None)] {
            assert_eq!(read_cookie(&headers, name), value, "{name}");
        }
    }

    #[test]
    fn value_that_no_header_can_carry_sets_nothing() {
        assert_eq!(Cookie::new("a", "b\nSet-Cookie: c=d").header(), "");
        let lasting = Cookie::new("a", "b").lax().at("/x").for_seconds(5).header();
        assert_eq!(lasting, "a=b; Path=/x; HttpOnly; SameSite=Lax; Max-Age=5");
    }
}
