//! Ways to pay.

use strum::{Display, EnumString, IntoStaticStr};

/// A way to pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Display, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Method {
    /// The gateway's hosted page.
    PayForm,
    /// A dynamic QR code.
    Qr,
    /// The mobile bank, confirmed by a one-time password.
    Mbank,
    /// A card whose number passes through the server, which puts it under PCI DSS: only where the settings turn cards on, and
    /// the checkout names it.
    Card,
}

impl Method {
    /// All of them, in their order, which databases keep (`pace::queues`).
    pub const ALL: [Self; 4] = [Self::PayForm, Self::Qr, Self::Mbank, Self::Card];

    /// True where the request that begins such a payment can itself take money; else it makes a page or a code that nobody
    /// can pay who has not seen it.
    pub fn moves_money(self) -> bool {
        matches!(self, Self::Mbank | Self::Card)
    }

    /// True where it may wait until it can be sent. A card may not: it would have to be kept meanwhile.
    pub fn may_wait(self) -> bool {
        self != Self::Card
    }
}
