//! Values that every room uses: moments, methods, states and hidden texts; identifiers, cursors, card numbers and errors in files of
//! their own.

pub mod card_number;
mod cursor;
pub mod error;
mod ids;
pub mod text_file;

use std::fmt;

pub use cursor::Cursor;
pub use ids::{ApiKeyId, CheckoutId, PaymentId, hex, is_hex_128};
use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// A moment by the database's clock: milliseconds since the beginning of 1970.
pub type Millis = i64;

/// Milliseconds of a duration, cut at the largest that a database keeps.
pub fn millis(duration: std::time::Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

// Ways to pay.

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
    /// A MegaPay wallet, confirmed by a PIN: only where the settings name the merchant's requisite.
    Megapay,
    /// A card whose number passes through the server, which puts it under PCI DSS: only where the settings turn cards on, and
    /// the checkout names it.
    Card,
}

impl Method {
    /// All of them, in their order, which databases keep (`pace::queues`).
    pub const ALL: [Self; 5] = [Self::PayForm, Self::Qr, Self::Mbank, Self::Megapay, Self::Card];

    /// True where the request that begins such a payment can itself take money; else it makes a page or a code that nobody
    /// can pay who has not seen it.
    pub fn moves_money(self) -> bool {
        matches!(self, Self::Mbank | Self::Megapay | Self::Card)
    }

    /// True where the payer confirms the payment by a code that comes to a phone: a one-time password, or a wallet's PIN.
    pub fn is_confirmed_by_code(self) -> bool {
        matches!(self, Self::Mbank | Self::Megapay)
    }

    /// True where it may wait until it can be sent. A card may not: it would have to be kept meanwhile.
    pub fn may_wait(self) -> bool {
        self != Self::Card
    }
}

// States of checkouts and payments.

/// Where a checkout stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CheckoutState {
    /// It can be paid.
    Open,
    /// The gateway reported that a payment of it was charged. Nothing takes that back.
    Paid,
    /// Its time passed. Money that comes late makes it paid all the same.
    Expired,
    /// The shop cancelled it. Money that comes late makes it paid all the same.
    Cancelled,
}

/// Where a payment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentState {
    /// Written down, and certainly not sent.
    Prepared,
    /// Written down, and perhaps sent.
    Sending,
    /// Certainly nothing happened at the gateway, or nobody can pay what was made there.
    NotMade,
    /// It may have happened. It is polled, and never sent again.
    Unknown,
    /// The gateway has it; the payer has to act.
    Awaiting,
    /// The payer's one-time password was sent, or may have been.
    Confirming,
    /// The gateway reported that the money was taken, or a person decided it. Nothing takes that back.
    Charged,
    /// The gateway reported that it ended without money being taken, or a person decided it.
    Rejected,
    /// The gateway reports another order, amount or currency than requested: a person has to look.
    Mismatch,
    /// The gateway reports a charge that cannot be verified: a person has to look.
    Unverifiable,
}

/// Where a number stands that a callback claimed for a pay-form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ClaimState {
    /// The gateway has not answered about it yet.
    Asked,
    /// The gateway's answers say nothing about it.
    Unknown,
    /// The gateway reports that it is pending.
    Pending,
    /// The gateway reports that it ended without a charge. The payer may have tried again under another number.
    Rejected,
    /// The gateway reports the requested charge. Final.
    Charged,
    /// The gateway reports a charge that cannot be verified.
    Unverifiable,
    /// The gateway reports a charge of another amount, currency or order.
    Mismatch,
    /// The gateway reports a charge that belongs to another payment.
    OtherPayment,
}

impl ClaimState {
    /// The gateway reports a charge that cannot be believed: a person has to decide.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Unverifiable | Self::Mismatch | Self::OtherPayment)
    }

    /// It gives way to a newer claim where too many are kept.
    pub(crate) fn gives_way(self) -> bool {
        matches!(self, Self::Rejected | Self::Unknown)
    }
}

/// A person's decision on a payment with an unknown outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Resolution {
    /// The money was taken.
    Charged,
    /// It was not, and will not be.
    NotCharged,
}

impl Resolution {
    /// The state that it makes.
    pub fn state(self) -> PaymentState {
        match self {
            Self::Charged => PaymentState::Charged,
            Self::NotCharged => PaymentState::Rejected,
        }
    }
}

impl PaymentState {
    /// The states in which money may still be taken, or may have been without anybody knowing.
    pub const MAY_TAKE_MONEY: [Self; 7] = [
        Self::Prepared,
        Self::Sending,
        Self::Unknown,
        Self::Awaiting,
        Self::Confirming,
        Self::Mismatch,
        Self::Unverifiable,
    ];

    /// The states in which a request of ours is under way, or nobody knows what it did: a person may find a mismatch or an
    /// unverifiable one charged. They hold back the expiry of a checkout, and its cancellation, as a card does that awaits
    /// nothing of its payer.
    pub const UNDER_WAY: [Self; 6] =
        [Self::Prepared, Self::Sending, Self::Unknown, Self::Confirming, Self::Mismatch, Self::Unverifiable];

    /// True where it may still take money.
    pub fn may_take_money(self) -> bool {
        Self::MAY_TAKE_MONEY.contains(&self)
    }

    /// True where nobody needs to query it any more, unless somebody hints that there is something new.
    pub fn is_final(self) -> bool {
        matches!(self, Self::NotMade | Self::Charged | Self::Rejected) || self.is_in_doubt()
    }

    /// True where the gateway reported a charge that cannot be believed: a person has to decide, and nobody pays meanwhile.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Mismatch | Self::Unverifiable)
    }
}

// Texts that no log and no error may show.

/// A text that prints as nothing.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}
