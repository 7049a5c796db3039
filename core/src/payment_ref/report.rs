//! Payment status: the gateway's report about a payment.

use std::fmt;

use rust_decimal::Decimal;

/// The status of a payment. Only [`Charged`](Self::Charged) and [`Rejected`](Self::Rejected) are final.
///
/// Words are compared without regard to letter case. An unknown word is kept unchanged, and is never final.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "status_form::Form", into = "status_form::Form")
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaymentStatus {
    /// The money was taken (CHARGE).
    Charged,
    /// The payment ended without a charge (Reject).
    Rejected,
    /// Any other word of the gateway, unchanged.
    Other(String),
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl PaymentStatus {
    /// True if the status is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

/// An unknown word is printed in quotes, so that a gateway's own word "charged" is not mistaken for the status of that
/// name.
impl fmt::Display for PaymentStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Charged => f.write_str("charged"),
            Self::Rejected => f.write_str("rejected"),
            Self::Other(word) => write!(f, "{word:?}"),
        }
    }
}

/// The gateway's answer to a status query.
///
/// Values that the gateway does not report are absent, never zero or empty.
///
/// Source: the status response (`docs/interface.md#status-response`). The responses of `get-status` and of the QR status
/// are not shown there; they are read by the same pointers unless a [`Dialect`](crate::Dialect) says otherwise.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusReport {
    /// The status of the payment.
    pub status: PaymentStatus,
    /// The gateway's code, such as `200`.
    pub code: Option<String>,
    /// The gateway's message, such as `PAYMENT_SUCCESS`, in the requested language.
    pub reason: Option<String>,
    /// The order number as the gateway reports it.
    pub order_number: Option<String>,
    /// The amount as the gateway reports it. **For QR payments the unit is not known** (som or tyiyn) unless the
    /// dialect states it.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::serialized::optional_decimal"))]
    pub amount: Option<Decimal>,
    /// The currency as the gateway reports it.
    pub currency: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl StatusReport {
    /// A report with only a status, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(status: PaymentStatus) -> Self {
        Self { status, code: None, reason: None, order_number: None, amount: None, currency: None, raw: String::new() }
    }
}

/// Serialization (serde): a string, or an object for an unknown value.
#[cfg(feature = "serde")]
mod status_form {
    use serde::{Deserialize, Serialize};

    use crate::payment_ref::report::PaymentStatus;

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    pub(super) enum Form {
        Known(String),
        Unknown { kind: Kind, word: String },
    }

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub(super) enum Kind {
        Other,
    }

    impl From<PaymentStatus> for Form {
        fn from(value: PaymentStatus) -> Self {
            match value {
                PaymentStatus::Charged => Self::Known("charged".to_owned()),
                PaymentStatus::Rejected => Self::Known("rejected".to_owned()),
                PaymentStatus::Other(word) => Self::Unknown { kind: Kind::Other, word },
            }
        }
    }

    /// An unknown string was written by a later version.
    impl From<Form> for PaymentStatus {
        fn from(form: Form) -> Self {
            match form {
                Form::Known(name) if name == "charged" => Self::Charged,
                Form::Known(name) if name == "rejected" => Self::Rejected,
                Form::Known(word) | Form::Unknown { word, .. } => Self::Other(word),
            }
        }
    }
}

// Payment providers: they process payments behind the gateway.

/// The providers that the interface names (`docs/interface.md#the-service`), and others that a callback may name one
/// day.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "provider_form::Form", into = "provider_form::Form")
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
    /// A provider that this version does not know. It is kept, and cannot be queried.
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

/// Serialization (serde): a string, or an object for an unknown value.
#[cfg(feature = "serde")]
mod provider_form {
    use serde::{Deserialize, Serialize};

    use crate::payment_ref::report::Provider;

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

    /// An unknown string was written by a later version.
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
