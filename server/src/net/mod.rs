//! Networking: the listener with TLS from files, limits on connections and times, eviction of idle connections, client addresses
//! behind proxies, and bounded bodies. It knows nothing of payments.

mod body;
mod caller;
mod certificates;
mod connection;
mod error;
mod headers;
mod listener;
#[cfg(all(test, target_os = "linux"))]
pub(crate) mod memory;
mod registry;
mod settings;

pub use body::{BodyError, read_body};
pub(crate) use caller::caller_of;
pub use caller::{Peer, Proxies, caller};
pub(crate) use certificates::check_files;
pub use error::NetError;
pub(crate) use headers::{is_of_media_type, page, retry_after, see_other, with_security_headers};
pub use listener::Listener;
pub use settings::{ListenerSettings, TlsFiles};
