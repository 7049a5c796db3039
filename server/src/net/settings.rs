//! The settings of a listener.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use super::caller::Proxies;

/// The settings of a [`Listener`](crate::Listener).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenerSettings {
    /// The address to listen on. Port 0 picks a free port.
    pub address: SocketAddr,
    /// The TLS files; without them connections are plain.
    pub tls: Option<TlsFiles>,
    /// The most open connections: 12,000, because 10,000 apps may wait. Beyond that, a new connection closes the longest-idle one
    /// of the address with the most idle ones, or is closed if none is idle. An address holds at most half of them. If the
    /// process may open fewer files (`LimitNOFILE`, `ulimit -n`), fewer are accepted, and the log says so.
    pub max_connections: usize,
    /// The proxies in front of the server, which may hold all connections. Default: none.
    pub proxies: Proxies,
    /// The deadline of a TLS handshake.
    pub handshake_limit: Duration,
    /// The deadline of the head of a new connection's first request.
    pub first_head_limit: Duration,
    /// How long a connection may wait for the next request, including its head. It is longer than the idle timeouts of proxies
    /// and clients, so that no connection closes while a request is on its way.
    pub idle_limit: Duration,
    /// The time for which a caller may read nothing of a response.
    pub write_limit: Duration,
    /// The interval at which the TLS files are checked for renewal.
    pub renewal_check: Duration,
}

/// A certificate and its key, each a file in PEM. A renewed pair is loaded without a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, with its intermediate certificates.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl ListenerSettings {
    /// The default settings, for plain connections on this address.
    pub fn new(address: SocketAddr) -> Self {
        Self {
            address,
            tls: None,
            max_connections: 12_000,
            proxies: Proxies::default(),
            handshake_limit: Duration::from_secs(10),
            first_head_limit: Duration::from_secs(10),
            idle_limit: Duration::from_secs(75),
            write_limit: Duration::from_secs(30),
            renewal_check: Duration::from_secs(60),
        }
    }
}
