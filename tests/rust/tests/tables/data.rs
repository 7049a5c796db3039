//! The test data, read and checked.

use std::{collections::HashSet, fs};

use serde::Deserialize;

use crate::repository;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestData {
    pub cards: Vec<Card>,
    pub phones: Vec<Phone>,
    pub faults: Vec<Fault>,
    pub dialects: Vec<Dialect>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    pub name: String,
    pub pan: String,
    pub three_ds: ThreeDs,
    pub outcome: Outcome,
    /// The right one-time password on its page, where it has one.
    pub otp: String,
    pub doc: String,
}

impl Card {
    /// The one-time password; none where no page ever asks for one.
    pub fn asked_otp(&self) -> Option<&str> {
        (self.three_ds != ThreeDs::None).then_some(&*self.otp)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Phone {
    pub name: String,
    pub phone: String,
    pub provider: Provider,
    pub outcome: Outcome,
    pub otp: String,
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub word: String,
    /// Only the sandbox itself has to know.
    pub strikes: Moment,
    pub doc: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dialect {
    pub word: String,
    /// The file that teaches it to a client.
    file: String,
    pub doc: String,
}

impl Dialect {
    pub fn json(&self) -> String {
        read(&self.file)
    }
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
pub enum ThreeDs {
    #[serde(rename = "3DS 2.0")]
    V2,
    #[serde(rename = "3DS 1.0")]
    V1,
    #[serde(rename = "without 3DS")]
    None,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    #[serde(rename = "approved")]
    Approved,
    #[serde(rename = "declined")]
    Declined,
    #[serde(rename = "insufficient funds")]
    InsufficientFunds,
    #[serde(rename = "stuck pending")]
    StuckPending,
    #[serde(rename = "error")]
    Error,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    MBank,
    MegaPay,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Moment {
    Connection,
    Request,
    Response,
    Payment,
    Callback,
}

impl TestData {
    pub fn load() -> Self {
        let path = "sandbox/data/test_data.json";
        let data: Self = serde_json::from_str(&read(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
        let unique = |what: &str, values: Vec<&str>| {
            assert_eq!(values.iter().collect::<HashSet<_>>().len(), values.len(), "{path}: {what} is there twice");
        };
        unique("the name of a card", data.cards.iter().map(|card| &*card.name).collect());
        unique("the number of a card", data.cards.iter().map(|card| &*card.pan).collect());
        unique("the name of a phone", data.phones.iter().map(|phone| &*phone.name).collect());
        unique("the number of a phone", data.phones.iter().map(|phone| &*phone.phone).collect());
        unique("a fault", data.faults.iter().map(|fault| &*fault.word).collect());
        unique("a dialect", data.dialects.iter().map(|dialect| &*dialect.word).collect());
        data
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(repository().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
