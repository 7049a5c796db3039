//! The settings of a listener.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use super::caller::Proxies;

/// The settings of a [`Listener`](crate::Listener).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ListenerSettings {
    /// Where to listen. Port 0 is any that is free.
    pub address: SocketAddr,
    /// The files that connections are encrypted with; plain where there are none.
    pub tls: Option<TlsFiles>,
    /// The most connections that are open at once: 12,000, as 10,000 apps may wait. For one more, the one is closed that is
    /// idle for the longest, of the address that has the most idle ones; where none is idle, the new one is. An address
    /// holds half of them at most. Where the process may have fewer files open (`LimitNOFILE`, `ulimit -n`), fewer are
    /// accepted, and the log says so.
    pub max_connections: usize,
    /// The proxies in front of the server, which may hold all connections: none.
    pub proxies: Proxies,
    /// The deadline of a TLS handshake.
    pub handshake_limit: Duration,
    /// The deadline of the head of a new connection's first request.
    pub first_head_limit: Duration,
    /// How long a connection may wait for the next request, its head included. Longer than proxies and clients keep one that
    /// is idle: none is to close under a request that is on its way.
    pub idle_limit: Duration,
    /// The time for which a caller may read nothing of a response.
    pub write_limit: Duration,
    /// The interval at which the TLS files are checked for renewal.
    pub renewal_check: Duration,
}

/// A certificate and its key, each a file in PEM. A renewed pair is taken up without a restart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those between it and its root.
    pub certificate: PathBuf,
    /// Its private key.
    pub key: PathBuf,
}

impl ListenerSettings {
    /// The default ones, for plain connections to this address.
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
