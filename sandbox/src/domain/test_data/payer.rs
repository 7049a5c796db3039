//! Test payers: a card or phone with its check, one-time password and outcome; lookup by number or by stored mask.

use strum::Display;

use crate::{
    domain::{
        Event, Provider, RejectReason,
        test_data::{TEST_CARDS, TEST_PHONES},
    },
    redact::card_numbers,
};

/// How the payment of a test payer ends.
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
    /// Stays pending until `approve` or `decline` decides it, or until it becomes final automatically (`resolve_pending`).
    #[strum(serialize = "stuck pending")]
    StuckPending,
    /// The create request returns HTTP 500, and the payment ends rejected.
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

/// The cardholder check of a card.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Display)]
pub enum ThreeDs {
    /// 3DS 2.0: a confirmation page.
    #[strum(serialize = "3DS 2.0")]
    V2,
    /// 3DS 1.0: a confirmation page only if `three_ds_1_page` is set.
    #[strum(serialize = "3DS 1.0")]
    V1,
    /// No 3DS: resolved at once.
    #[strum(serialize = "without 3DS")]
    None,
}

/// A test card. It accepts any CVC of three characters and any expiry later than today.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TestCard {
    /// The card number.
    pub pan: &'static str,
    /// The cardholder check.
    pub three_ds: ThreeDs,
    /// The outcome of its payment.
    pub outcome: TestOutcome,
    /// The correct one-time password on its confirmation page.
    pub otp: &'static str,
}

impl TestCard {
    /// The correct one-time password; `None` if no page requires one.
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
    /// The correct one-time password.
    pub otp: &'static str,
    /// The outcome of its payment.
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

/// FINIPAY's test cards.
pub(crate) const FINIPAY_CARDS: [TestCard; 4] = [
    card("2200112611773794", ThreeDs::V2, TestOutcome::Approved, "123456"),
    card("4439970000000007", ThreeDs::V2, TestOutcome::Approved, "123456"),
    card("5136914521003242", ThreeDs::V1, TestOutcome::Approved, "123456"),
    card("4047300000007550", ThreeDs::None, TestOutcome::Approved, "123456"),
];

/// FINIPAY's test phones.
pub(crate) const FINIPAY_PHONES: [TestPhone; 2] = [
    phone(Provider::MBank, "996772140014", "0000", TestOutcome::Approved),
    phone(Provider::MegaPay, "996555002108", "1548", TestOutcome::Approved),
];

/// All accepted cards.
pub(crate) fn cards() -> impl Iterator<Item = &'static TestCard> {
    TEST_CARDS.iter().chain(&FINIPAY_CARDS)
}

/// All accepted phones.
pub(crate) fn phones() -> impl Iterator<Item = &'static TestPhone> {
    TEST_PHONES.iter().chain(&FINIPAY_PHONES)
}

/// The test card of a full card number.
pub(crate) fn card_of(pan: &str) -> Option<&'static TestCard> {
    cards().find(|card| card.pan == pan)
}

/// The test card of a stored mask.
pub(crate) fn card_of_mask(masked: &str) -> Option<&'static TestCard> {
    cards().find(|card| card_numbers::mask_card(card.pan) == masked)
}

/// The provider's test phone of a full number.
pub(crate) fn phone_of(provider: Provider, digits: &str) -> Option<&'static TestPhone> {
    phones().find(|phone| phone.provider == provider && phone.phone == digits)
}

/// The test phone of a stored mask.
pub(crate) fn phone_of_mask(masked: &str) -> Option<&'static TestPhone> {
    phones().find(|phone| card_numbers::mask_phone(phone.phone) == masked)
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
        for card in cards() {
            assert!(luhn(card.pan), "{}", card.pan);
        }
        assert!(!luhn("4111111111111112"));
    }

    #[test]
    fn masks_of_test_payers_are_distinct() {
        let card_masks: HashSet<_> = cards().map(|card| card_numbers::mask_card(card.pan)).collect();
        assert_eq!(card_masks.len(), cards().count());
        let phone_masks: HashSet<_> = phones().map(|phone| card_numbers::mask_phone(phone.phone)).collect();
        assert_eq!(phone_masks.len(), phones().count());
    }
}
