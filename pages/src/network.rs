//! The addresses that count as one caller.

use std::net::{IpAddr, Ipv6Addr};

/// The addresses that count as one caller: one of IPv4, and a /64 network of IPv6, as one client has all of it.
///
/// ```
/// # use std::net::IpAddr;
/// use kassa_pages::Network;
///
/// let network = |text: &str| Network::from(text.parse::<IpAddr>().unwrap());
/// assert_eq!(network("2001:db8::1"), network("2001:db8::2"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network(IpAddr);

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            address => address,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse::<IpAddr>().unwrap().into()
    }

    #[test]
    fn network_of_ipv6_is_one_caller() {
        assert_eq!(network("2001:db8::1"), network("2001:db8::ffff:2"));
        assert_ne!(network("2001:db8::1"), network("2001:db8:0:1::1"));
        assert_ne!(network("192.0.2.1"), network("192.0.2.2"));
        assert_eq!(network("::ffff:192.0.2.1"), network("192.0.2.1"));
    }
}
