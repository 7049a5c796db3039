//! Shared values: times, methods, states and hidden strings; identifiers, cursors, card numbers and errors in files of their own.

pub mod card_number;
mod cursor;
pub mod error;
mod ids;
pub mod text_file;

use std::fmt;

pub use cursor::Cursor;
pub use ids::{ApiKeyId, CheckoutId, PaymentId, hex, is_hex_128};
use strum::{Display, EnumIter, EnumString, IntoStaticStr};

/// A time by the database's clock: milliseconds since the beginning of 1970.
pub type Millis = i64;

/// The milliseconds of a duration, capped at the largest value of a database.
pub fn millis(duration: std::time::Duration) -> Millis {
    Millis::try_from(duration.as_millis()).unwrap_or(Millis::MAX)
}

// Payment methods.

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
    /// A MegaPay wallet, confirmed by a PIN: only if the settings name the merchant's requisite.
    Megapay,
    /// A card whose number passes through the server, which puts it under PCI DSS: only if the settings enable
    /// cards, and the checkout names it.
    Card,
}

impl Method {
    /// All methods, in an order that databases depend on (`pace::queues`).
    pub const ALL: [Self; 5] = [Self::PayForm, Self::Qr, Self::Mbank, Self::Megapay, Self::Card];

    /// True if the request that begins such a payment can itself take money; otherwise it creates a page or a code, which
    /// nobody can pay without seeing it.
    pub fn moves_money(self) -> bool {
        matches!(self, Self::Mbank | Self::Megapay | Self::Card)
    }

    /// True if the payer confirms the payment by a code that comes to a phone: a one-time password, or a wallet's PIN.
    pub fn is_confirmed_by_code(self) -> bool {
        matches!(self, Self::Mbank | Self::Megapay)
    }

    /// True if it may wait until it can be sent. A card payment may not: the card would have to be stored in the meantime.
    pub fn may_wait(self) -> bool {
        self != Self::Card
    }
}

// States of checkouts and payments.

/// The state of a checkout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum CheckoutState {
    /// It can be paid.
    Open,
    /// The gateway reported that a payment of it was charged. Final.
    Paid,
    /// Its time passed. A late charge still makes it paid.
    Expired,
    /// The shop cancelled it. A late charge still makes it paid.
    Cancelled,
}

/// The state of a payment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum PaymentState {
    /// Recorded, and certainly not sent.
    Prepared,
    /// Recorded, and perhaps sent.
    Sending,
    /// Certainly nothing happened at the gateway, or nobody can pay the page or code that was created there.
    NotMade,
    /// It may have happened. It is polled, and never sent again.
    Unknown,
    /// The gateway has it; the payer has to act.
    Awaiting,
    /// The payer's one-time password was sent, or may have been.
    Confirming,
    /// The gateway reported that the money was taken, or a person decided it. Final.
    Charged,
    /// The gateway reported that it ended without money being taken, or a person decided it.
    Rejected,
    /// The gateway reports another order, amount or currency than requested: a person must review it.
    Mismatch,
    /// The gateway reports a charge that cannot be verified: a person must review it.
    Unverifiable,
}

/// The state of a number that a callback claimed for a pay-form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Display, EnumString, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum ClaimState {
    /// The gateway has not answered about it yet.
    Querying,
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
    /// The gateway reports a charge that cannot be trusted: a person must decide.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Unverifiable | Self::Mismatch | Self::OtherPayment)
    }

    /// Whether it gives way to a newer claim if too many are stored.
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
    /// The resulting state.
    pub fn state(self) -> PaymentState {
        match self {
            Self::Charged => PaymentState::Charged,
            Self::NotCharged => PaymentState::Rejected,
        }
    }
}

impl PaymentState {
    /// The states in which money may still be taken, or may have been taken unnoticed.
    pub const MAY_TAKE_MONEY: [Self; 7] = [
        Self::Prepared,
        Self::Sending,
        Self::Unknown,
        Self::Awaiting,
        Self::Confirming,
        Self::Mismatch,
        Self::Unverifiable,
    ];

    /// The states in which our request is in flight or its outcome is unknown, including mismatch and unverifiable, which a
    /// person may find charged. They delay the expiry of a checkout and block its cancellation, as does a card payment that
    /// awaits nothing from its payer.
    pub const UNDER_WAY: [Self; 6] =
        [Self::Prepared, Self::Sending, Self::Unknown, Self::Confirming, Self::Mismatch, Self::Unverifiable];

    /// True if it may still take money.
    pub fn may_take_money(self) -> bool {
        Self::MAY_TAKE_MONEY.contains(&self)
    }

    /// True if it no longer needs polling, unless there is a hint.
    pub fn is_final(self) -> bool {
        matches!(self, Self::NotMade | Self::Charged | Self::Rejected) || self.is_in_doubt()
    }

    /// True if the gateway reported a charge that cannot be trusted: a person must decide, and nobody pays until then.
    pub fn is_in_doubt(self) -> bool {
        matches!(self, Self::Mismatch | Self::Unverifiable)
    }
}

// Strings that no log and no error may show.

/// A string that `Debug` does not print.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Hidden(String);

impl Hidden {
    /// Hides a string.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The string itself.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[hidden]")
    }
}
