//! Shared parts of the server's and the sandbox's pages, without any payment logic: styles, charts, static files, cookies, the
//! tokens of sessions and forms, and the protection of logins.
//!
//! Server and sandbox share no protocol code, so that each finds the other's mistakes on the wire. A cookie's attributes or a
//! chart's axis are not part of the protocol, so they are shared.

#![forbid(unsafe_code)]

mod asset;
pub mod chart;
mod cookie;
mod lockout;
mod network;
pub mod stylesheets;
pub mod token;

pub use asset::Asset;
pub use cookie::{Cookie, read_cookie};
pub use lockout::Lockout;
pub use network::Network;
