//! The test cards and test phones: the only payers the sandbox knows, and how each of them ends.

mod payers;

use std::fmt;

use crate::{
    mask,
    payment::Provider,
    state::{Event, RejectReason},
};

pub use payers::{TEST_CARDS, TEST_PHONES};

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

const fn card(pan: &'static str, three_ds: ThreeDs, outcome: TestOutcome, otp: &'static str) -> TestCard {
    TestCard { pan, three_ds, outcome, otp }
}

const fn phone(provider: Provider, phone: &'static str, otp: &'static str, outcome: TestOutcome) -> TestPhone {
    TestPhone { provider, phone, otp, outcome }
}

use TestOutcome::{Approved, Declined, Error, InsufficientFunds, StuckPending};

/// The test card of a full card number.
pub(crate) fn card_of(pan: &str) -> Option<&'static TestCard> {
    TEST_CARDS.iter().find(|card| card.pan == pan)
}

/// The test card of a stored mask.
pub(crate) fn card_of_mask(masked: &str) -> Option<&'static TestCard> {
    TEST_CARDS.iter().find(|card| mask::card(card.pan) == masked)
}

/// The provider's test phone of a full number.
pub(crate) fn phone_of(provider: Provider, digits: &str) -> Option<&'static TestPhone> {
    TEST_PHONES.iter().find(|phone| phone.provider == provider && phone.phone == digits)
}

/// The test phone of a stored mask.
pub(crate) fn phone_of_mask(masked: &str) -> Option<&'static TestPhone> {
    TEST_PHONES.iter().find(|phone| mask::phone(phone.phone) == masked)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn luhn(pan: &str) -> bool {
        let sum: u32 = pan
            .bytes()
            .rev()
            .enumerate()
            .map(|(index, digit)| {
                let digit = u32::from(digit - b'0') << (index % 2);
                if digit > 9 { digit - 9 } else { digit }
            })
            .sum();
        sum.is_multiple_of(10)
    }

    #[test]
    fn every_card_number_passes_the_luhn_check() {
        for card in TEST_CARDS {
            assert!(luhn(card.pan), "{}", card.pan);
        }
        assert!(!luhn("4111111111111112"));
    }

    #[test]
    fn a_mask_tells_the_test_payers_apart() {
        let cards: HashSet<_> = TEST_CARDS.iter().map(|card| mask::card(card.pan)).collect();
        assert_eq!(cards.len(), TEST_CARDS.len());
        let phones: HashSet<_> = TEST_PHONES.iter().map(|phone| mask::phone(phone.phone)).collect();
        assert_eq!(phones.len(), TEST_PHONES.len());
    }
}
