//! Networking: the listener with TLS by files, limits of time and number, which connections are closed for new ones, who calls
//! through a proxy, and bodies that are read within limits. It knows nothing of payments.

mod accept;
mod body;
mod caller;
mod certificates;
mod connection;
mod descriptors;
mod error;
mod headers;
mod listener;
#[cfg(all(test, target_os = "linux"))]
pub(crate) mod memory;
mod proxies;
mod registry;
mod settings;
mod write_limit;

pub use body::{BodyError, read_body};
pub use caller::caller;
pub(crate) use caller::caller_of;
pub(crate) use certificates::check_files;
pub use connection::Peer;
pub use error::NetError;
pub(crate) use headers::{is_of_media_type, retry_after, with_security_headers};
pub use listener::Listener;
pub use proxies::Proxies;
pub use settings::{ListenerSettings, TlsFiles};
