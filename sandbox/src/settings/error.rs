//! Why a sandbox could not start.

use std::{io, net::SocketAddr, path::PathBuf};

/// Why a sandbox could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The address is taken or not allowed.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        source: io::Error,
    },
    /// The database cannot be opened, or is not one.
    #[error("cannot use the database {}: {detail}", path.display())]
    Database {
        /// The file asked for, or `:memory:`.
        path: PathBuf,
        /// What SQLite said.
        detail: String,
    },
    /// The database was written by a newer sandbox.
    #[error(
        "the database {} has schema version {found}, newer than the {supported} this sandbox knows: use a newer \
        sandbox or another file",
        path.display()
    )]
    NewerDatabase {
        /// The file asked for.
        path: PathBuf,
        /// The version found in it.
        found: i64,
        /// The newest version this sandbox can use.
        supported: i64,
    },
    /// An option has an unusable value.
    #[error("{option}: {detail}")]
    Option {
        /// The option's name.
        option: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The system refused a thread, a runtime or a TLS client.
    #[error("cannot start: {0}")]
    System(String),
}
