//! What a test payer is: a card or a phone, its check, its one-time password, and how its payments end.

use std::fmt;

use crate::domain::{Event, Provider, RejectReason};

/// How a test payer's payment ends once the payer did their part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestOutcome {
    /// Charged.
    Approved,
    /// Rejected: declined.
    Declined,
    /// Rejected: insufficient funds.
    InsufficientFunds,
    /// Stays pending until it is decided by `approve` or `decline`, or settles by itself where it is to (`settle_pending`).
    StuckPending,
    /// The creating request answers HTTP 500, and the payment ends rejected.
    Error,
}

impl TestOutcome {
    pub(crate) fn event(self) -> Event {
        match self {
            Self::Approved => Event::Charge,
            Self::Declined => Event::Reject(RejectReason::Declined),
            Self::InsufficientFunds => Event::Reject(RejectReason::InsufficientFunds),
            Self::StuckPending => Event::Hold,
            Self::Error => Event::Reject(RejectReason::ProcessingError),
        }
    }
}

impl fmt::Display for TestOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Approved => "approved",
            Self::Declined => "declined",
            Self::InsufficientFunds => "insufficient funds",
            Self::StuckPending => "stuck pending",
            Self::Error => "error",
        })
    }
}

/// Which cardholder check a card takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThreeDs {
    /// 3DS 2.0: a confirmation page.
    V2,
    /// 3DS 1.0: a confirmation page only by a switch.
    V1,
    /// No 3DS: settled at once.
    None,
}

impl fmt::Display for ThreeDs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::V2 => "3DS 2.0",
            Self::V1 => "3DS 1.0",
            Self::None => "without 3DS",
        })
    }
}

/// A test card. Any CVC of three characters and any expiry later than today go with it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TestCard {
    /// The card number.
    pub pan: &'static str,
    /// The check it takes part in.
    pub three_ds: ThreeDs,
    /// How its payment ends.
    pub outcome: TestOutcome,
    /// The right one-time password on its confirmation page.
    pub otp: &'static str,
}

impl TestCard {
    /// The right one-time password; `None` where no page ever asks for one.
    pub(crate) fn right_otp(&self) -> Option<&'static str> {
        (self.three_ds != ThreeDs::None).then_some(self.otp)
    }
}

/// A test phone with its one-time password.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TestPhone {
    /// MBank or MegaPay.
    pub provider: Provider,
    /// The number, with country code.
    pub phone: &'static str,
    /// The right one-time password.
    pub otp: &'static str,
    /// How its payment ends.
    pub outcome: TestOutcome,
}
