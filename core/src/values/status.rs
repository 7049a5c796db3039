//! Payment status: what the gateway says about a payment.

use std::fmt;

use rust_decimal::Decimal;

/// Where a payment stands. Only [`Charged`](Self::Charged) and [`Rejected`](Self::Rejected) are final.
///
/// Words are compared without regard to letter case. A word that is not known is carried as it came, and is never
/// final.
#[cfg_attr(feature = "uniffi", derive(uniffi::Enum))]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(from = "serialized::Form", into = "serialized::Form")
)]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PaymentStatus {
    /// The money was taken (CHARGE).
    Charged,
    /// The payment ended without the money being taken (Reject).
    Rejected,
    /// Any other word of the gateway, exactly as it came.
    Other(String),
}

#[cfg_attr(feature = "uniffi", uniffi::export)]
impl PaymentStatus {
    /// True where nothing more will happen to the payment.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Other(_))
    }
}

/// An unknown word is printed in quotes, so that a gateway's own word "charged" is not taken for the status of that
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

/// The gateway's answer to a question about a payment.
///
/// What the gateway did not say is absent, never zero or empty.
///
/// Source: the status response (`docs/interface.md#status-response`). The responses of `get-status` and of the QR status
/// are not shown there; they are read by the same pointers unless a [`Dialect`](crate::Dialect) says otherwise.
#[cfg_attr(feature = "uniffi", derive(uniffi::Record))]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusReport {
    /// Where the payment stands.
    pub status: PaymentStatus,
    /// The gateway's code, such as `200`.
    pub code: Option<String>,
    /// The gateway's message, such as `PAYMENT_SUCCESS`, in the language that was asked for.
    pub reason: Option<String>,
    /// The order number as the gateway reports it.
    pub order_number: Option<String>,
    /// The amount as the gateway reports it. **For QR payments the unit is not known** (som or tyiyn) unless the
    /// dialect states it.
    #[cfg_attr(feature = "serde", serde(default, with = "crate::values::serialized::optional_decimal"))]
    pub amount: Option<Decimal>,
    /// The currency as the gateway reports it.
    pub currency: Option<String>,
    /// The whole response, with secrets masked.
    pub raw: String,
}

impl StatusReport {
    /// A report with nothing but a status, for a [`PaymentGateway`](crate::PaymentGateway) of your own.
    pub fn new(status: PaymentStatus) -> Self {
        Self { status, code: None, reason: None, order_number: None, amount: None, currency: None, raw: String::new() }
    }
}

/// Serialization (serde): a text, or an object for what is not known.
#[cfg(feature = "serde")]
mod serialized {
    use serde::{Deserialize, Serialize};

    use super::PaymentStatus;

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

    /// A text that is not known is one of a later version.
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
