//! Configuration: what can be set when a sandbox starts, what can be changed while it runs, and what is refused.

mod check;
mod demo;
mod error;
mod options;
mod resolve_pending;
mod switches;
mod tls_files;

pub use demo::Demo;
pub use error::SandboxError;
pub use options::{Database, Dialect, MbankQuid, ReusedOrderNumber, SandboxOptions, StatusNumbers};
pub use resolve_pending::ResolvePending;
pub use switches::Switches;
pub use tls_files::TlsFiles;

pub(crate) use check::check;
pub(crate) use options::WELL_KNOWN_PASSWORD;
