//! Localization: everything the sandbox says to people, one file a language. A missing translation does not compile.

mod en;
mod ky;
mod message;
mod ru;
mod say;

pub(crate) use message::Message;
