//! Errors of the line to callers. All of them are found when the server starts.

use std::{net::SocketAddr, path::PathBuf};

/// Why nobody can be listened to.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// The address cannot be listened on.
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
    /// This is no proxy, or no network of them.
    #[error("{text} is no address and no network of proxies: {detail}")]
    #[non_exhaustive]
    Proxy {
        /// The given value.
        text: String,
        /// Why.
        detail: String,
    },
}
