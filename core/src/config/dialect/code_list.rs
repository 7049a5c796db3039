//! Lists of codes and of status words: what a dialect can say that they mean.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// A list of codes of one endpoint, with its name in the JSON form of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumIter, EnumString, IntoStaticStr)]
pub(crate) enum CodeList {
    /// The request succeeded.
    #[strum(serialize = "success_codes")]
    Success,
    /// The gateway said no, and nothing happened.
    #[strum(serialize = "refusal_codes")]
    Refusal,
    /// The gateway itself does not know what became of the payment, such as a timeout of the card's issuer.
    #[strum(serialize = "unknown_codes")]
    Unknown,
    /// The order number was used before (idempotency conflict), so there may be a payment of this number.
    #[strum(serialize = "duplicate_codes")]
    Duplicate,
}

impl CodeList {
    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}

/// A list of status words, with its name in the JSON form of a dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, EnumString, IntoStaticStr)]
pub(crate) enum WordList {
    /// The money was taken.
    #[strum(serialize = "charged_words")]
    Charged,
    /// The payment ended without it.
    #[strum(serialize = "rejected_words")]
    Rejected,
}

impl WordList {
    pub(crate) const ALL: [Self; 2] = [Self::Charged, Self::Rejected];

    pub(crate) fn name(self) -> &'static str {
        self.into()
    }
}
