//! The test values that the public pages of the gateway FINIPAY publish. Their one-time passwords are the sandbox's own where
//! the pages name none.

use crate::domain::{
    Provider,
    test_data::payer::{TestCard, TestOutcome::Approved, TestPhone, ThreeDs, card, phone},
};

/// FINIPAY's test cards.
pub(crate) const FINIPAY_CARDS: [TestCard; 4] = [
    card("2200112611773794", ThreeDs::V2, Approved, "123456"),
    card("4439970000000007", ThreeDs::V2, Approved, "123456"),
    card("5136914521003242", ThreeDs::V1, Approved, "123456"),
    card("4047300000007550", ThreeDs::None, Approved, "123456"),
];

/// FINIPAY's test phones.
pub(crate) const FINIPAY_PHONES: [TestPhone; 1] = [phone(Provider::MBank, "996772140014", "0000", Approved)];
