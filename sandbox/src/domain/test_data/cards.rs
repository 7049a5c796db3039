// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

//! The table of test cards.

use crate::domain::test_data::payer::{
    TestCard,
    TestOutcome::{Approved, Declined, Error, InsufficientFunds, StuckPending},
    ThreeDs, card,
};

/// Every test card. The 13 and the 20 digit one stand at the interface's limits of length.
pub const TEST_CARDS: [TestCard; 15] = [
    card("4111111111111111", ThreeDs::V2, Approved, "123456"),
    card("4111111111000124", ThreeDs::V2, Declined, "123456"),
    card("4111111111000231", ThreeDs::V2, InsufficientFunds, "123456"),
    card("4111111111000348", ThreeDs::V2, StuckPending, "123456"),
    card("5200000000001013", ThreeDs::V1, Approved, "123456"),
    card("5200000000001021", ThreeDs::V1, Declined, "123456"),
    card("5200000000001039", ThreeDs::V1, InsufficientFunds, "123456"),
    card("5200000000001047", ThreeDs::V1, StuckPending, "123456"),
    card("4000000000002016", ThreeDs::None, Approved, "123456"),
    card("4222222222222", ThreeDs::None, Approved, "123456"),
    card("62000000000000002019", ThreeDs::None, Approved, "123456"),
    card("4000000000002024", ThreeDs::None, Declined, "123456"),
    card("4000000000002032", ThreeDs::None, InsufficientFunds, "123456"),
    card("4000000000002040", ThreeDs::None, StuckPending, "123456"),
    card("4000000000002057", ThreeDs::None, Error, "123456"),
];
