//! Payment providers: who carries a payment out.

use std::fmt;

/// The providers that the interface names (`docs/interface.md#the-service`), and whatever else a callback may name one
/// day.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "serialized::Form", into = "serialized::Form")
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Payment cards.
    Cards,
    /// The MegaPay wallet.
    MegaPay,
    /// The MBank mobile bank.
    MBank,
    /// A provider that this version does not know. It is carried, and cannot be asked about.
    Other(String),
}

impl Provider {
    /// The provider by its name on the wire; letter case does not matter.
    ///
    /// ```
    /// use kassa::Provider;
    /// assert_eq!(Provider::from_name("mbank"), Provider::MBank);
    /// assert_eq!(Provider::from_name("ELSOM"), Provider::Other("ELSOM".into()));
    /// ```
    pub fn from_name(name: &str) -> Self {
        [Self::Cards, Self::MegaPay, Self::MBank]
            .into_iter()
            .find(|known| known.name().eq_ignore_ascii_case(name))
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// Its name on the wire.
    pub fn name(&self) -> &str {
        match self {
            Self::Cards => "Cards",
            Self::MegaPay => "MegaPay",
            Self::MBank => "MBank",
            Self::Other(name) => name,
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Serialization (serde): a text, or an object for what is not known.
#[cfg(feature = "serde")]
mod serialized {
    use serde::{Deserialize, Serialize};

    use super::Provider;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    pub(super) enum Form {
        Known(String),
        Unknown { kind: Kind, name: String },
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Kind {
        Other,
    }

    impl From<Provider> for Form {
        fn from(value: Provider) -> Self {
            match value {
                Provider::Cards => Self::Known("cards".to_owned()),
                Provider::MegaPay => Self::Known("mega_pay".to_owned()),
                Provider::MBank => Self::Known("mbank".to_owned()),
                Provider::Other(name) => Self::Unknown { kind: Kind::Other, name },
            }
        }
    }

    /// A text that is not known is one of a later version.
    impl From<Form> for Provider {
        fn from(form: Form) -> Self {
            match form {
                Form::Known(name) if name == "cards" => Self::Cards,
                Form::Known(name) if name == "mega_pay" => Self::MegaPay,
                Form::Known(name) if name == "mbank" => Self::MBank,
                Form::Known(name) | Form::Unknown { name, .. } => Self::from_name(&name),
            }
        }
    }
}
