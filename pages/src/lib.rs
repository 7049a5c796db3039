//! What the pages of the server and of the sandbox share, and nothing of a payment: styles, charts, static files, cookies, the
//! tokens of sessions and forms, and the protection of logins.
//!
//! Server and sandbox are written apart, so that each finds the other's mistakes; that is about the wire. A cookie's attributes or
//! a chart's axis tell nothing of the gateway, and a mistake in them is to be mended once.

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
