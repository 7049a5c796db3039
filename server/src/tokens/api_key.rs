//! Keys of the shop's back ends, and of the merchant's staff. Several are good at once, so that one can be replaced; only their SHA-256 is kept.

use std::{fmt, str::FromStr};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use subtle::ConstantTimeEq;

use super::{TokenHash, role::KeyRole};
use crate::values::ids::ApiKeyId;

/// What a shop's back end calls the server with (`ak_`, its identifier, and 256 random bits), or a person logs in with (`sk_`). It is shown once, and prints
/// as its identifier alone, so that one which leaked can be found and revoked.
#[derive(Clone)]
pub struct ApiKey {
    /// Its identifier.
    id: ApiKeyId,
    role: KeyRole,
    secret: String,
}

impl ApiKey {
    /// A new one, from random bits.
    pub fn from_random(role: KeyRole, id: [u8; 16], secret: [u8; 32]) -> Self {
        Self { id: ApiKeyId::from_random(id), role, secret: URL_SAFE_NO_PAD.encode(secret) }
    }

    /// Its identifier, which is no secret.
    pub fn id(&self) -> &ApiKeyId {
        &self.id
    }

    /// Who calls with it, by its own word.
    pub fn role(&self) -> KeyRole {
        self.role
    }

    /// The key itself.
    pub fn expose(&self) -> String {
        format!("{}{}_{}", self.role.prefix(), self.id.bare(), self.secret)
    }

    /// What is kept of it.
    pub fn hash(&self) -> TokenHash {
        TokenHash::of(&self.expose())
    }

    /// Whether it is the one of which this is kept, in a time that says nothing (constant-time comparison).
    pub fn is(&self, kept: &TokenHash) -> bool {
        self.hash().0.ct_eq(&kept.0).into()
    }
}

/// Reads what somebody says is a key; whether it is one, only what is kept says.
impl FromStr for ApiKey {
    type Err = NoApiKey;

    fn from_str(text: &str) -> Result<Self, NoApiKey> {
        let role = if text.starts_with(KeyRole::Staff.prefix()) { KeyRole::Staff } else { KeyRole::Shop };
        let rest = text.strip_prefix(role.prefix()).ok_or(NoApiKey)?;
        let (id, secret) = rest.split_once('_').ok_or(NoApiKey)?;
        let id = format!("key_{id}").parse().map_err(|_| NoApiKey)?;
        let is_secret = URL_SAFE_NO_PAD.decode(secret).is_ok_and(|bytes| bytes.len() == 32);
        if is_secret { Ok(Self { id, role, secret: secret.to_owned() }) } else { Err(NoApiKey) }
    }
}

/// A text that has not the form of an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("This is no API key.")]
pub struct NoApiKey;

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({})", self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_no_other_is_it() {
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
    fn what_has_not_its_form_is_none() {
        let key = ApiKey::from_random(KeyRole::Shop, [0xab; 16], [7; 32]).expose();
        for text in ["", "ak_", "ak__", &key[..key.len() - 1], &key[1..], &key.to_uppercase(), &format!("{key}A")] {
            assert!(text.parse::<ApiKey>().is_err(), "{text}");
        }
    }
}
