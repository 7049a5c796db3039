//! What a test payer is: a card or a phone, its check, its one-time password, and how its payments end.

use strum::Display;

use crate::domain::{Event, Provider, RejectReason};

/// How a test payer's payment ends once the payer did their part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
pub enum TestOutcome {
    /// Charged.
    #[strum(serialize = "approved")]
    Approved,
    /// Rejected: declined.
    #[strum(serialize = "declined")]
    Declined,
    /// Rejected: insufficient funds.
    #[strum(serialize = "insufficient funds")]
    InsufficientFunds,
    /// Stays pending until it is decided by `approve` or `decline`, or resolves by itself where it is to
    /// (`resolve_pending`).
    #[strum(serialize = "stuck pending")]
    StuckPending,
    /// The creating request answers HTTP 500, and the payment ends rejected.
    #[strum(serialize = "error")]
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

/// Which cardholder check a card takes part in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
pub enum ThreeDs {
    /// 3DS 2.0: a confirmation page.
    #[strum(serialize = "3DS 2.0")]
    V2,
    /// 3DS 1.0: a confirmation page only by a switch.
    #[strum(serialize = "3DS 1.0")]
    V1,
    /// No 3DS: resolved at once.
    #[strum(serialize = "without 3DS")]
    None,
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

/// A row of the table of cards.
pub(super) const fn card(pan: &'static str, three_ds: ThreeDs, outcome: TestOutcome, otp: &'static str) -> TestCard {
    TestCard { pan, three_ds, outcome, otp }
}

/// A row of the table of phones.
pub(super) const fn phone(
    provider: Provider,
    phone: &'static str,
    otp: &'static str,
    outcome: TestOutcome,
) -> TestPhone {
    TestPhone { provider, phone, otp, outcome }
}
