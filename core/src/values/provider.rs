//! Payment providers: who carries a payment out.

use std::fmt;

/// The providers that the interface names (`docs/interface.md#the-service`), and whatever else a callback may name one
/// day.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
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
