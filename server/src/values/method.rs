//! Ways to pay.

use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// A way to pay. Cards are not among them: they would put the server under PCI DSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The gateway's hosted page.
    PayForm,
    /// A dynamic QR code.
    Qr,
    /// The mobile bank, confirmed by a one-time password.
    Mbank,
}

impl Method {
    /// True where the request that begins such a payment can itself take money; else it makes a page or a code that nobody
    /// can pay who has not seen it.
    pub fn moves_money(self) -> bool {
        self == Self::Mbank
    }
}
