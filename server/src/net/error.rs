//! Errors of the listener. All of them occur at startup.

use std::{net::SocketAddr, path::PathBuf};

/// Why the server cannot listen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// The server cannot listen on the address.
    #[error("{address} cannot be listened on: {detail}")]
    #[non_exhaustive]
    Listen {
        /// The address.
        address: SocketAddr,
        /// Why.
        detail: String,
    },
    /// A file of TLS cannot be used.
    #[error("{setting}: {}: {detail}", path.display())]
    #[non_exhaustive]
    File {
        /// The setting that names it: `tls.certificate` or `tls.key`.
        setting: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        detail: String,
    },
    /// The text is not a proxy's address or network.
    #[error("{text} is neither an address nor a network of proxies: {detail}")]
    #[non_exhaustive]
    Proxy {
        /// The given value.
        text: String,
        /// Why.
        detail: String,
    },
}
