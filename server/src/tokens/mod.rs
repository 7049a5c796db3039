//! Client tokens: opaque, 256 random bits, for one checkout. Only their SHA-256 is stored. Also the keys of shops and staff.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use ring::digest::{SHA256, digest};
use strum::{Display, EnumString, IntoStaticStr};
use subtle::ConstantTimeEq;

use crate::values::ApiKeyId;

const PREFIX: &str = "ct_";

/// The credential of an app or a payer's page. It opens one checkout, for 15 minutes by default. It is shown once,
/// and `Debug` prints nothing of it.
#[derive(Clone, PartialEq, Eq)]
pub struct ClientToken(String);

impl ClientToken {
    /// A new token, from 256 random bits.
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

/// The stored form of a token. The lookup time of a hash reveals nothing, because nobody can choose the hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenHash(pub [u8; 32]);

impl TokenHash {
    /// The hash of a text that may be a token.
    pub fn of(token: &str) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest(&SHA256, token.as_bytes()).as_ref());
        Self(hash)
    }
}

// Keys of the shop's back ends, and of the merchant's staff. Several are valid at once, so that one can be replaced.
// Only their SHA-256 is stored.

/// The credential of a shop's back end (`ak_`, its identifier, and 256 random bits), or of a person who logs in (`sk_`). It is
/// shown once, and `Debug` prints only its identifier, so that a leaked key can be found and revoked.
#[derive(Clone)]
pub struct ApiKey {
    /// Its identifier.
    id: ApiKeyId,
    role: KeyRole,
    secret: String,
}

impl ApiKey {
    /// A new key, from random bits.
    pub fn from_random(role: KeyRole, id: [u8; 16], secret: [u8; 32]) -> Self {
        Self { id: ApiKeyId::from_random(id), role, secret: URL_SAFE_NO_PAD.encode(secret) }
    }

    /// Its identifier, which is not secret.
    pub fn id(&self) -> &ApiKeyId {
        &self.id
    }

    /// The role of its owner, as the key states it.
    pub fn role(&self) -> KeyRole {
        self.role
    }

    /// The key itself.
    pub fn expose(&self) -> String {
        format!("{}{}_{}", self.role.prefix(), self.id.bare(), self.secret)
    }

    /// The stored part of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.expose())
    }

    /// Whether it is the key of this stored hash, compared in constant time.
    pub fn is(&self, stored: &TokenHash) -> bool {
        self.hash().0.ct_eq(&stored.0).into()
    }
}

/// Parses the form of a key; only the storage knows whether it is valid.
impl FromStr for ApiKey {
    type Err = InvalidApiKey;

    fn from_str(text: &str) -> Result<Self, InvalidApiKey> {
        let role = if text.starts_with(KeyRole::Staff.prefix()) { KeyRole::Staff } else { KeyRole::Shop };
        let rest = text.strip_prefix(role.prefix()).ok_or(InvalidApiKey)?;
        let (id, secret) = rest.split_once('_').ok_or(InvalidApiKey)?;
        let id = format!("key_{id}").parse().map_err(|_| InvalidApiKey)?;
        let is_secret = URL_SAFE_NO_PAD.decode(secret).is_ok_and(|bytes| bytes.len() == 32);
        if is_secret { Ok(Self { id, role, secret: secret.to_owned() }) } else { Err(InvalidApiKey) }
    }
}

/// The text does not have the form of an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("This is not an API key.")]
pub struct InvalidApiKey;

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.id)
    }
}

// The person who made a decision, and the key.

/// A person who decides, by name, and the key through which the decision came. A shop's back end can name anyone; a staff key
/// belongs to one person, so its name is that person's. The event has both.
///
/// ```
/// use kassa_server::DecidedBy;
///
/// assert_eq!(DecidedBy::from("Aizada"), DecidedBy::new("Aizada"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidedBy {
    pub(crate) name: String,
    pub(crate) via: Option<Via>,
}

/// The key of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Via {
    pub(crate) role: KeyRole,
    pub(crate) key: ApiKeyId,
}

impl DecidedBy {
    /// A person, without a key: the embedding program decides.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), via: None }
    }

    /// Sets the key.
    #[must_use]
    pub fn through(self, role: KeyRole, key: ApiKeyId) -> Self {
        Self { via: Some(Via { role, key }), ..self }
    }
}

impl From<String> for DecidedBy {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<&str> for DecidedBy {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

// The permissions of staff (role-based access control): each one includes the previous one.

/// The permission of a key's owner on the staff's pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Permission {
    /// Read everything and reconcile, without changes.
    View,
    /// Also decide, cancel, record refunds, query the gateway, and deliver events again.
    Decide,
}

// The roles of keys. A key of one role opens nothing of another's.

/// The role of a key's owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum KeyRole {
    /// A shop's back end: all of `/v1`.
    Shop,
    /// A person of the merchant's staff: the pages under `/staff`, by the name of the key.
    Staff,
}

impl KeyRole {
    /// The prefix of its keys.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::Shop => "ak_",
            Self::Staff => "sk_",
        }
    }
}

#[cfg(test)]
mod api_key_tests {
    use super::*;

    #[test]
    fn api_key_matches_only_its_own_hash() {
        let key = ApiKey::from_random(KeyRole::Shop, [0xab; 16], [7; 32]);
        let read: ApiKey = key.expose().parse().unwrap();
        assert_eq!(read.id(), key.id());
        assert!(read.is(&key.hash()));
        assert!(!ApiKey::from_random(KeyRole::Shop, [0xab; 16], [8; 32]).is(&key.hash()), "another secret");
        assert!(!ApiKey::from_random(KeyRole::Shop, [0xac; 16], [7; 32]).is(&key.hash()), "another identifier");
        assert!(!ApiKey::from_random(KeyRole::Staff, [0xab; 16], [7; 32]).is(&key.hash()), "another role");
        assert!(!format!("{key:?}").contains(&key.secret));
    }

    #[test]
    fn malformed_api_key_is_rejected() {
        let key = ApiKey::from_random(KeyRole::Shop, [0xab; 16], [7; 32]).expose();
        for text in ["", "ak_", "ak__", &key[..key.len() - 1], &key[1..], &key.to_uppercase(), &format!("{key}A")] {
            assert!(text.parse::<ApiKey>().is_err(), "{text}");
        }
    }
}
