//! Whether a cookie may be one that browsers send over TLS alone.

use axum::http::{HeaderMap, HeaderName, header};

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
    use axum::http::HeaderValue;

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
}
