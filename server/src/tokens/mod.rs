//! Client tokens: opaque, 256 random bits, for one checkout. Only their SHA-256 is kept. The shop's keys stand beside them.

pub mod api_key;
pub mod decided_by;
pub mod permission;
pub mod role;

use std::fmt;

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};

const PREFIX: &str = "ct_";

/// What an app or a payer's page calls the server with. It opens one checkout, for a quarter of an hour unless set. It is
/// shown once, and prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientToken(String);

impl ClientToken {
    /// A new one, from 256 random bits.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(bytes)))
    }

    /// The token itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ClientToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientToken([hidden])")
    }
}

/// What is kept of a token. Looking up a hash tells nothing through the time it takes: nobody can choose the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// The hash of a text that somebody says is a token.
    pub fn of(token: &str) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        Self(hash)
    }
}
