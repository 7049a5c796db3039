//! The client's address: the peer of the connection, or the client that a trusted reverse proxy names;
//! and the list of trusted proxies.

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    str::FromStr,
};

use axum::{
    extract::Request,
    http::{HeaderMap, HeaderName},
};
use ipnet::IpNet;

use super::error::NetError;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The address at the other end of the connection; each request has it in its extensions. Behind a proxy it is the proxy's:
/// [`caller`](crate::caller) returns the client's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub IpAddr);

/// The sender of a request. A request without a listener, as in a test, is from this machine.
pub(crate) fn caller_of(request: &Request, proxies: &Proxies) -> IpAddr {
    let peer = request.extensions().get::<Peer>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |peer| peer.0);
    caller(request.headers(), peer, proxies)
}

/// The caller's address. Each proxy appends its caller to `X-Forwarded-For`: so the header is read from its end, and trusted only
/// as far as trusted proxies reach. Anything before that may be forged.
pub fn caller(headers: &HeaderMap, peer: IpAddr, proxies: &Proxies) -> IpAddr {
    let mut known = peer.to_canonical();
    let values = headers.get_all(FORWARDED_FOR).iter().rev();
    let mut named = values.flat_map(|value| value.to_str().unwrap_or_default().rsplit(','));
    while proxies.has(known) {
        match named.next().and_then(|text| read(text.trim())) {
            Some(before) => known = before,
            None => break,
        }
    }
    known
}

/// Parses an address; some proxies add a port or brackets.
fn read(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse().ok().map(|address: SocketAddr| address.ip()));
    address.map(|address: IpAddr| address.to_canonical())
}

/// The reverse proxies in front of the server: their addresses and networks, such as `10.0.0.7, 192.168.0.0/16`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Parses proxies, each text with an address, a network, or several of them.
    ///
    /// # Errors
    /// [`NetError::Proxy`] for the first invalid one.
    pub fn of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, NetError> {
        let mut all = Self::default();
        for text in texts {
            all.0.extend(text.as_ref().parse::<Self>()?.0);
        }
        Ok(all)
    }

    pub(super) fn has(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// Parses addresses and networks (CIDR), separated by commas.
impl FromStr for Proxies {
    type Err = NetError;

    fn from_str(text: &str) -> Result<Self, NetError> {
        text.split(',').map(|one| network(one.trim())).collect::<Result<_, _>>().map(Self)
    }
}

fn network(text: &str) -> Result<IpNet, NetError> {
    let refused = |detail: &str| NetError::Proxy { text: text.to_owned(), detail: detail.to_owned() };
    if let Ok(address) = text.parse::<IpAddr>() {
        return Ok(IpNet::from(address.to_canonical()));
    }
    let network: IpNet = text.parse().map_err(|_| refused("it must be such as 10.0.0.7 or 10.0.0.0/8"))?;
    // Otherwise any caller could claim any address.
    if network.prefix_len() == 0 { Err(refused("it holds every address")) } else { Ok(network.trunc()) }
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    const PROXIES: &str = "10.0.0.0/8, 192.0.2.7, 2001:db8:1::/48";

    fn called_by(peer: &str, forwarded: &[&'static str]) -> String {
        let mut headers = HeaderMap::new();
        for value in forwarded {
            headers.append(FORWARDED_FOR, HeaderValue::from_static(value));
        }
        caller(&headers, peer.parse().unwrap(), &PROXIES.parse().unwrap()).to_string()
    }

    #[test]
    fn trusted_proxy_supplies_client_address() {
        for peer in ["10.1.2.3", "192.0.2.7", "::ffff:10.1.2.3", "2001:db8:1:2::3"] {
            assert_eq!(called_by(peer, &["198.51.100.1"]), "198.51.100.1", "{peer}");
        }
        assert_eq!(called_by("10.0.0.1", &["203.0.113.9, 198.51.100.1"]), "198.51.100.1", "what it says last");
        assert_eq!(called_by("10.0.0.1", &["203.0.113.9", "198.51.100.1"]), "198.51.100.1", "in several headers");
        assert_eq!(called_by("10.0.0.1", &["203.0.113.9, 198.51.100.1, 10.0.0.2, 192.0.2.7"]), "198.51.100.1");
        assert_eq!(called_by("10.0.0.1", &["10.0.0.3, 10.0.0.2"]), "10.0.0.3", "a call from within");
        for written in ["2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:443"] {
            assert_eq!(called_by("10.0.0.1", &[written]), "2001:db8::1");
        }
        assert_eq!(called_by("10.0.0.1", &["198.51.100.1:51234"]), "198.51.100.1");
    }

    #[test]
    fn forwarded_for_from_untrusted_peer_is_ignored() {
        assert_eq!(called_by("198.51.100.7", &["203.0.113.9"]), "198.51.100.7");
        assert_eq!(called_by("192.0.2.8", &["203.0.113.9"]), "192.0.2.8");
        let mut headers = HeaderMap::new();
        headers.append(FORWARDED_FOR, HeaderValue::from_static("203.0.113.9"));
        let peer = IpAddr::from([127, 0, 0, 1]);
        assert_eq!(caller(&headers, peer, &Proxies::default()), peer, "where none is named");
    }

    #[test]
    fn invalid_forwarded_for_entry_stops_resolution() {
        for nobody in ["unknown", "", "203.0.113.9,", "203.0.113.9, _hidden"] {
            assert_eq!(called_by("10.0.0.1", &[nobody]), "10.0.0.1", "{nobody}");
        }
        assert_eq!(called_by("10.0.0.1", &["203.0.113.9, nonsense, 10.0.0.2"]), "10.0.0.2");
    }

    #[test]
    fn invalid_proxy_setting_is_rejected() {
        assert_eq!(Proxies::of(["10.0.0.1", "192.0.2.7, 10.0.0.2"]).unwrap().0.len(), 3);
        for text in ["", "10.0.0.1,", "proxy.example", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80"] {
            assert!(matches!(text.parse::<Proxies>(), Err(NetError::Proxy { .. })), "{text}");
        }
    }
}
