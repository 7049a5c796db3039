//! The tables in Rust: the sandbox's own.

use crate::{
    Table,
    data::{Outcome, Provider, TestData, ThreeDs},
    prose::mark,
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table = |path, content: String| Table { path, content: mark("//") + "\n" + &content };
    vec![table("sandbox/src/test_data/payers.rs", payers(data))]
}

const PAYERS: &str = "\
//! Every test payer.

use super::{
    Approved, Declined, Error, InsufficientFunds, Provider, StuckPending, TestCard, TestPhone, ThreeDs, card, phone,
};
";

fn payers(data: &TestData) -> String {
    let cards: String = data
        .cards
        .iter()
        .map(|it| {
            let (three_ds, outcome) = (three_ds(it.three_ds), outcome(it.outcome));
            format!("    card({:?}, ThreeDs::{three_ds}, {outcome}, {:?}),\n", it.pan, it.otp)
        })
        .collect();
    let phones: String = data
        .phones
        .iter()
        .map(|it| {
            let (provider, outcome) = (provider(it.provider), outcome(it.outcome));
            format!("    phone(Provider::{provider}, {:?}, {:?}, {outcome}),\n", it.phone, it.otp)
        })
        .collect();
    format!(
        "{PAYERS}\n/// Every test card. The 13 and the 20 digit one stand at the interface's limits of length.\n\
         pub const TEST_CARDS: [TestCard; {}] = [\n{cards}];\n\n\
         /// Every test phone.\npub const TEST_PHONES: [TestPhone; {}] = [\n{phones}];\n",
        data.cards.len(),
        data.phones.len(),
    )
}

fn three_ds(check: ThreeDs) -> &'static str {
    match check {
        ThreeDs::V2 => "V2",
        ThreeDs::V1 => "V1",
        ThreeDs::None => "None",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "Approved",
        Outcome::Declined => "Declined",
        Outcome::InsufficientFunds => "InsufficientFunds",
        Outcome::StuckPending => "StuckPending",
        Outcome::Error => "Error",
    }
}

fn provider(provider: Provider) -> &'static str {
    match provider {
        Provider::MBank => "MBank",
        Provider::MegaPay => "MegaPay",
    }
}
