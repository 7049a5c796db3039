//! The tables in Rust: the sandbox's own.

use crate::{
    Table,
    data::{Moment, Outcome, Provider, TestData, ThreeDs},
    names::{lower_snake, upper_camel},
    prose::{lines, mark, with_parameters},
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table = |path, content: String| Table { path, content: mark("//") + "\n" + &content };
    vec![
        table("sandbox/src/test_data/payers.rs", payers(data)),
        table("sandbox/src/faults/name/table.rs", faults(data)),
    ]
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

const FAULTS: &str = "\
//! Every fault: what it does, its name in three spellings, and the moment at which it strikes.

use super::{Fault, Moment};
";

fn faults(data: &TestData) -> String {
    let rows = data.faults.iter().map(|fault| {
        let doc = with_parameters(&fault.doc, "delay_ms", "retry_after_s");
        let (variant, constructor) = (upper_camel(&fault.word), lower_snake(&fault.word));
        let moment = moment(fault.strikes);
        lines(&doc, "    /// ") + &format!("    {variant}, {constructor}, {:?}, {moment};\n", fault.word)
    });
    format!("{FAULTS}\nfaults! {{\n{}}}\n", rows.collect::<String>())
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

fn moment(moment: Moment) -> &'static str {
    match moment {
        Moment::Connection => "Connection",
        Moment::Request => "Request",
        Moment::Reply => "Reply",
        Moment::Payment => "Payment",
        Moment::Callback => "Callback",
    }
}
