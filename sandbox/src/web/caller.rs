//! Client address: the peer of the connection, or whom a reverse proxy on this machine speaks for.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderName};

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The caller's address. A proxy adds it as the last one to `X-Forwarded-For`; what stands before came with the request
/// and may be anything. From other machines the header is not believed at all: whoever connects could write what they
/// like.
pub(crate) fn address(headers: &HeaderMap, peer: IpAddr) -> IpAddr {
    let is_proxy = peer.to_canonical().is_loopback();
    let last = headers.get_all(FORWARDED_FOR).iter().next_back().filter(|_| is_proxy);
    let last = last.and_then(|value| value.to_str().ok()?.rsplit(',').next());
    last.and_then(|text| read(text.trim())).unwrap_or(peer)
}

/// An address; some proxies write a port behind it, or brackets around it.
fn read(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()))
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    fn caller(peer: &str, forwarded: &[&'static str]) -> String {
        let pairs = forwarded.iter().map(|value| (FORWARDED_FOR, HeaderValue::from_static(value)));
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value);
        }
        address(&headers, peer.parse().expect("an address")).to_string()
    }

    #[test]
    fn a_proxy_on_this_machine_says_who_called_it() {
        for peer in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert_eq!(caller(peer, &["192.0.2.1"]), "192.0.2.1");
            assert_eq!(caller(peer, &["198.51.100.7, 192.0.2.1"]), "192.0.2.1", "the proxy's own word is the last one");
            assert_eq!(caller(peer, &["192.0.2.1", "198.51.100.7"]), "198.51.100.7");
        }
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(caller("127.0.0.1", &[written]), "2001:db8::1");
        }
        assert_eq!(caller("127.0.0.1", &["192.0.2.1:51234"]), "192.0.2.1");
        for nobody in ["unknown", "", "192.0.2.1,"] {
            assert_eq!(caller("127.0.0.1", &[nobody]), "127.0.0.1");
        }
    }

    #[test]
    fn a_stranger_s_word_for_who_they_are_counts_for_nothing() {
        assert_eq!(caller("198.51.100.7", &["192.0.2.1"]), "198.51.100.7");
        assert_eq!(caller("2001:db8::7", &["192.0.2.1"]), "2001:db8::7");
    }
}
