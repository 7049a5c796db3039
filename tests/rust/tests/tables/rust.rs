//! The tables in Rust: the sandbox's own.

use crate::{
    Table,
    data::{Card, Moment, Outcome, Phone, Provider, TestData, ThreeDs},
    names::{lower_snake, upper_camel},
    prose::{lines, mark, with_parameters},
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table = |path, content: String| Table { path, content: mark("//") + "\n" + &content };
    vec![
        table("sandbox/src/domain/test_data/cards.rs", cards(data)),
        table("sandbox/src/domain/test_data/phones.rs", phones(data)),
        table("sandbox/src/faults/table.rs", faults(data)),
    ]
}

const CARDS: &str = "\
//! The table of test cards.

use crate::domain::test_data::payer::{
    TestCard,
    TestOutcome::{Approved, Declined, Error, InsufficientFunds, StuckPending},
    ThreeDs, card,
};
";

fn cards(data: &TestData) -> String {
    let row = |it: &Card| {
        let (three_ds, outcome) = (three_ds(it.three_ds), outcome(it.outcome));
        format!("    card({:?}, ThreeDs::{three_ds}, {outcome}, {:?}),\n", it.pan, it.otp)
    };
    format!(
        "{CARDS}\n/// Every test card. The 13 and the 20 digit one stand at the interface's limits of length.\n\
         pub const TEST_CARDS: [TestCard; {}] = [\n{}];\n",
        data.cards.len(),
        data.cards.iter().map(row).collect::<String>(),
    )
}

const PHONES: &str = "\
//! The table of test phones.

use crate::domain::{
    Provider,
    test_data::payer::{
        TestOutcome::{Approved, Declined, InsufficientFunds, StuckPending},
        TestPhone, phone,
    },
};
";

fn phones(data: &TestData) -> String {
    let row = |it: &Phone| {
        let (provider, outcome) = (provider(it.provider), outcome(it.outcome));
        format!("    phone(Provider::{provider}, {:?}, {:?}, {outcome}),\n", it.phone, it.otp)
    };
    format!(
        "{PHONES}\n/// Every test phone.\npub const TEST_PHONES: [TestPhone; {}] = [\n{}];\n",
        data.phones.len(),
        data.phones.iter().map(row).collect::<String>(),
    )
}

const FAULTS: &str = "\
//! The table of faults: what each does, its variant, its constructor, its name, and when it is injected. The macro
//! hands its rows to another one, which makes of them what it needs.

macro_rules! fault_table {
    ($rows:ident) => {
        $rows! {
";

fn faults(data: &TestData) -> String {
    let rows = data.faults.iter().map(|fault| {
        let doc = with_parameters(&fault.doc, "delay_ms", "retry_after_s");
        let (variant, constructor) = (upper_camel(&fault.word), lower_snake(&fault.word));
        let moment = moment(fault.strikes);
        lines(&doc, "            /// ")
            + &format!("            {variant}, {constructor}, {:?}, {moment};\n", fault.word)
    });
    format!("{FAULTS}{}        }}\n    }};\n}}\n", rows.collect::<String>())
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
        Moment::Response => "Response",
        Moment::Payment => "Payment",
        Moment::Callback => "Callback",
    }
}
