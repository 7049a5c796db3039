//! The table of test cards.

use crate::domain::test_data::payer::{
    TestCard,
    TestOutcome::{self, Approved, Declined, Error, InsufficientFunds, StuckPending},
    ThreeDs,
};

const fn card(pan: &'static str, three_ds: ThreeDs, outcome: TestOutcome) -> TestCard {
    TestCard { pan, three_ds, outcome, otp: "123456" }
}

/// Every test card. The 13 and the 20 digit one stand at the interface's limits of length.
pub const TEST_CARDS: [TestCard; 15] = [
    card("4111111111111111", ThreeDs::V2, Approved),
    card("4111111111000124", ThreeDs::V2, Declined),
    card("4111111111000231", ThreeDs::V2, InsufficientFunds),
    card("4111111111000348", ThreeDs::V2, StuckPending),
    card("5200000000001013", ThreeDs::V1, Approved),
    card("5200000000001021", ThreeDs::V1, Declined),
    card("5200000000001039", ThreeDs::V1, InsufficientFunds),
    card("5200000000001047", ThreeDs::V1, StuckPending),
    card("4000000000002016", ThreeDs::None, Approved),
    card("4222222222222", ThreeDs::None, Approved),
    card("62000000000000002019", ThreeDs::None, Approved),
    card("4000000000002024", ThreeDs::None, Declined),
    card("4000000000002032", ThreeDs::None, InsufficientFunds),
    card("4000000000002040", ThreeDs::None, StuckPending),
    card("4000000000002057", ThreeDs::None, Error),
];
