//! Identifiers: a prefix that names the kind, and 128 random bits in 32 characters of `0-9a-f`.

use std::{fmt, str::FromStr};

use super::error::{Rule, Violation};

/// Bytes as `0-9a-f`.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// True for 32 characters of `0-9a-f`.
pub fn is_hex_128(text: &str) -> bool {
    text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

macro_rules! id {
    ($(#[$about:meta])* $name:ident, $prefix:literal, $field:literal) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// A new identifier, from 128 random bits.
            pub fn from_random(bytes: [u8; 16]) -> Self {
                Self(format!(concat!($prefix, "{}"), hex(&bytes)))
            }

            /// Its text, with the prefix.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Its text without the prefix.
            pub fn bare(&self) -> &str {
                &self.0[$prefix.len()..]
            }
        }

        impl FromStr for $name {
            type Err = Violation;

            fn from_str(text: &str) -> Result<Self, Violation> {
                let is_one = text.strip_prefix($prefix).is_some_and(is_hex_128);
                let sentence = concat!("must be ", $prefix, " and 32 characters of 0-9a-f");
                if is_one { Ok(Self(text.to_owned())) } else { Err(Violation::new($field, Rule::Format, sentence)) }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id! {
    /// A checkout's identifier: `co_` and 32 characters.
    CheckoutId, "co_", "checkout"
}
id! {
    /// A payment's identifier: `pay_` and 32 characters. Without the prefix it is the payment's order number at the gateway.
    PaymentId, "pay_", "payment"
}

id! {
    /// An API key's identifier: `key_` and 32 characters. It is not secret.
    ApiKeyId, "key_", "key"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_read_back_and_others_refused() {
        let id = CheckoutId::from_random([0xab; 16]);
        assert_eq!(id.as_str().parse::<CheckoutId>(), Ok(id.clone()));
        assert_eq!(id.bare().len(), 32);
        for text in ["", "co_", "pay_abababababababababababababababab", "co_ABABABABABABABABABABABABABABABAB", "co_é"]
        {
            assert!(text.parse::<CheckoutId>().is_err(), "{text}");
        }
    }
}
