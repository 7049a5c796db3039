// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

//! Every test payer.

use super::{
    Approved, Declined, Error, InsufficientFunds, Provider, StuckPending, TestCard, TestPhone, ThreeDs, card, phone,
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

/// Every test phone.
pub const TEST_PHONES: [TestPhone; 8] = [
    phone(Provider::MBank, "996555000101", "101101", Approved),
    phone(Provider::MBank, "996555000102", "102102", Declined),
    phone(Provider::MBank, "996555000103", "103103", InsufficientFunds),
    phone(Provider::MBank, "996555000104", "104104", StuckPending),
    phone(Provider::MegaPay, "996755000201", "201201", Approved),
    phone(Provider::MegaPay, "996755000202", "202202", Declined),
    phone(Provider::MegaPay, "996755000203", "203203", InsufficientFunds),
    phone(Provider::MegaPay, "996755000204", "204204", StuckPending),
];
