//! Test data: the sandbox accepts only these cards and phones, each with a fixed outcome.

mod cards;
mod payer;
mod phones;

pub use cards::TEST_CARDS;
pub use payer::{TestCard, TestOutcome, TestPhone, ThreeDs};
pub use phones::TEST_PHONES;

pub(crate) use payer::{card_of, card_of_mask, cards, phone_of, phone_of_mask, phones};
