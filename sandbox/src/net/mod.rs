//! Networking: TCP and TLS, timeouts of handshakes and heads, and connections that are cut on purpose.

pub(crate) mod connections;
mod line;
pub(crate) mod tls;
mod transport;

pub(crate) use connections::HEAD_LIMIT;
pub(crate) use line::{Cut, HANDSHAKE_LIMIT, Line, LineStream, Lines, Resets, Until};
