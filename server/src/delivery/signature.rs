//! Signatures of events by the Standard Webhooks scheme, version 1: HMAC-SHA256 over `id.timestamp.body`. Shops verify
//! them with that scheme's libraries.

use std::str::FromStr;

use base64::{Engine, engine::general_purpose::STANDARD};
use ring::hmac;

use crate::values::{
    error::ServerError,
    hidden::Hidden,
    violation::{Rule, Violation},
};

const PREFIX: &str = "whsec_";

/// A secret that the shop shares: `whsec_` and base64 of 24 to 64 bytes. It prints as nothing.
#[derive(Clone, Debug)]
pub struct SigningSecret(Hidden);

impl SigningSecret {
    /// A new one, from 256 random bits.
    pub fn from_random(bytes: [u8; 32]) -> Self {
        Self(Hidden::new(format!("{PREFIX}{}", STANDARD.encode(bytes))))
    }

    /// The secret itself, for the shop.
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    fn key(&self) -> Option<hmac::Key> {
        let bytes = decoded(self.0.expose())?;
        Some(hmac::Key::new(hmac::HMAC_SHA256, &bytes))
    }
}

impl FromStr for SigningSecret {
    type Err = ServerError;

    fn from_str(text: &str) -> Result<Self, ServerError> {
        if decoded(text).is_none() {
            let sentence = "must be whsec_ and base64 of 24 to 64 bytes";
            return Err(ServerError::invalid(Violation::new("signing_secret", Rule::Format, sentence)));
        }
        Ok(Self(Hidden::new(text)))
    }
}

fn decoded(text: &str) -> Option<Vec<u8>> {
    let bytes = STANDARD.decode(text.strip_prefix(PREFIX)?).ok()?;
    (24..=64).contains(&bytes.len()).then_some(bytes)
}

/// The header `webhook-signature`: a signature for each secret, so that one can be replaced with both valid for a time.
pub fn sign(secrets: &[SigningSecret], id: &str, timestamp: i64, body: &str) -> String {
    let message = format!("{id}.{timestamp}.{body}");
    let keys = secrets.iter().filter_map(SigningSecret::key);
    let signatures = keys.map(|key| format!("v1,{}", STANDARD.encode(hmac::sign(&key, message.as_bytes()))));
    signatures.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example that the scheme's own documentation and libraries show.
    #[test]
    fn it_signs_as_the_scheme_shows() {
        let secret: SigningSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
        let id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
        let signed = sign(&[secret], id, 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn while_a_secret_is_replaced_both_sign() {
        let (old, new) = (SigningSecret::from_random([1; 32]), SigningSecret::from_random([2; 32]));
        let both = sign(&[new.clone(), old.clone()], "a", 1, "{}");
        assert!(!format!("{old:?}").contains(&old.expose()["whsec_".len()..]));
        assert_eq!(both, format!("{} {}", sign(&[new], "a", 1, "{}"), sign(&[old], "a", 1, "{}")));
    }

    #[test]
    fn other_secrets_are_refused() {
        for text in ["", "whsec_", "whsec_AAAA", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_***"] {
            assert!(text.parse::<SigningSecret>().is_err(), "{text}");
        }
    }
}
