//! Lists of codes: what a dialect can say that a code of the gateway means.

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
