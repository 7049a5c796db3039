//! How the merchant is shown to payers.

use super::{colour::Colour, logo::Logo};

/// How the merchant is shown on the hosted page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merchant {
    /// The name; without one, the host that payers return to is shown.
    pub name: Option<String>,
    /// The logo.
    pub logo: Option<Logo>,
    /// The colour of buttons.
    pub colour: Option<Colour>,
}
