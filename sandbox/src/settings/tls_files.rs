//! The files that https needs.

use std::path::PathBuf;

/// The files that encrypted connections need, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, and those that lead from it to a root that clients know.
    pub certificate: PathBuf,
    /// The certificate's private key.
    pub key: PathBuf,
}
