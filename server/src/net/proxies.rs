//! Reverse proxies: their addresses and networks, by which they are known.

use std::{net::IpAddr, str::FromStr};

use ipnet::IpNet;

use super::error::NetError;

/// The reverse proxies in front of the server: their addresses and networks, such as `10.0.0.7, 192.168.0.0/16`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// All of these texts, each with an address, a network, or several of them.
    ///
    /// # Errors
    /// [`NetError::Proxy`] for the first that is none.
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

/// Addresses and networks (CIDR), with commas between them.
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
    // Then everybody could say to be anybody.
    if network.prefix_len() == 0 { Err(refused("it holds every address")) } else { Ok(network.trunc()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_names_no_proxy_is_refused() {
        assert_eq!(Proxies::of(["10.0.0.1", "192.0.2.7, 10.0.0.2"]).unwrap().0.len(), 3);
        for text in ["", "10.0.0.1,", "proxy.example", "10.0.0.0/33", "0.0.0.0/0", "::/0", "10.0.0.1:80"] {
            assert!(matches!(text.parse::<Proxies>(), Err(NetError::Proxy { .. })), "{text}");
        }
    }
}
