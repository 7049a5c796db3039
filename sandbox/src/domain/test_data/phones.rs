// Generated from sandbox/data/test_data.json. Change that, and then:
// cargo test -p kassa-conformance --test tables -- --generate

//! The table of test phones.

use crate::domain::{
    Provider,
    test_data::payer::{
        TestOutcome::{Approved, Declined, InsufficientFunds, StuckPending},
        TestPhone, phone,
    },
};

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
