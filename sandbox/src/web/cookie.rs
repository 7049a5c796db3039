//! Cookies: reading one, and setting one that scripts and other sites get nothing from.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The value of a cookie, if the browser sent it.
pub(crate) fn read<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(known, value)| (known == name).then_some(value))
}

/// The header that sets a cookie for as long as the browser runs; an empty value takes it away.
pub(crate) fn set(name: &str, value: &str, secure: bool) -> HeaderValue {
    let secure = if secure { "; Secure" } else { "" };
    let age = if value.is_empty() { "; Max-Age=0" } else { "" };
    let cookie = format!("{name}={value}; Path=/; HttpOnly; SameSite=Lax{secure}{age}");
    HeaderValue::from_str(&cookie).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Whether the browser came over TLS to a proxy before the sandbox: the proxy says so, or it asked for the public
/// address, and that is one of https. Somebody who comes past the proxy gets a cookie that works there.
pub(crate) fn came_by_tls(headers: &HeaderMap, public_url: &str) -> bool {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let forwarded = text(HeaderName::from_static("x-forwarded-proto")).split(',').next().unwrap_or_default().trim();
    let public_host = public_url.strip_prefix("https://").and_then(|rest| rest.split('/').next());
    let asked_for = text(header::HOST);
    forwarded.eq_ignore_ascii_case("https") || public_host.is_some_and(|host| host.eq_ignore_ascii_case(asked_for))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_or_the_public_address_tells_of_tls() {
        let came = |name: &'static str, value: &'static str, public_url: &str| {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            came_by_tls(&headers, public_url)
        };
        let (here, tunnel) = ("http://127.0.0.1:8400", "https://tunnel.example/kassa");
        assert!(came("x-forwarded-proto", "https", here) && came("x-forwarded-proto", "HTTPS, http", here));
        assert!(!came("x-forwarded-proto", "http", here) && !came("host", "127.0.0.1:8400", here));
        assert!(came("host", "tunnel.example", tunnel));
        assert!(!came("host", "127.0.0.1:8400", tunnel), "past the tunnel, over plain http");
    }

    #[test]
    fn a_cookie_is_found_among_others_and_by_its_whole_name() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; kassa=2;b=3"));
        headers.append(header::COOKIE, HeaderValue::from_static("c=4"));
        for (name, value) in [("a", Some("1")), ("kassa", Some("2")), ("c", Some("4")), ("kass", None), ("", None)] {
            assert_eq!(read(&headers, name), value, "{name}");
        }
    }
}
