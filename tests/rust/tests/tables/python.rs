//! The tables in Python.

use crate::{
    Table,
    data::{Outcome, Provider, TestData, ThreeDs},
    names::upper,
    prose::{lines, mark, with_parameters},
};

pub fn tables(data: &TestData) -> Vec<Table> {
    let table = |path, content: String| Table { path, content: mark("#") + &content };
    vec![
        table("bindings/python-sandbox/src/kassa_sandbox/cards.py", cards(data)),
        table("bindings/python-sandbox/src/kassa_sandbox/phones.py", phones(data)),
        table("bindings/python-sandbox/src/kassa_sandbox/_names.py", names(data)),
    ]
}

const CARDS: &str = r#""""The test cards, by name. Those whose name says nothing else take part in 3DS 2.0.

>>> from kassa_sandbox import cards
>>> cards.APPROVED.pan
'4111111111111111'
"""

from __future__ import annotations

from .payers import TestCard

"#;

fn cards(data: &TestData) -> String {
    let rows = data.cards.iter().map(|card| {
        let otp = card.asked_otp().map_or("None".to_owned(), |otp| format!("{otp:?}"));
        let (three_ds, outcome) = (three_ds(card.three_ds), outcome(card.outcome));
        let value = format!("TestCard({:?}, {three_ds:?}, {outcome:?}, {otp})", card.pan);
        constant(&card.name, &value, &card.doc)
    });
    let names: Vec<&str> = data.cards.iter().map(|card| &*card.name).collect();
    CARDS.to_owned() + &rows.collect::<String>() + &all("TestCard", &names, "Every test card.")
}

const PHONES: &str = r#""""The test phones, by name.

>>> from kassa_sandbox import phones
>>> phones.MBANK_APPROVED.phone, phones.MBANK_APPROVED.otp
('996555000101', '101101')
"""

from __future__ import annotations

from .payers import TestPhone

"#;

fn phones(data: &TestData) -> String {
    let rows = data.phones.iter().map(|phone| {
        let (provider, outcome) = (provider(phone.provider), outcome(phone.outcome));
        let value = format!("TestPhone({:?}, {provider:?}, {outcome:?}, {:?})", phone.phone, phone.otp);
        constant(&phone.name, &value, &phone.doc)
    });
    let names: Vec<&str> = data.phones.iter().map(|phone| &*phone.name).collect();
    PHONES.to_owned() + &rows.collect::<String>() + &all("TestPhone", &names, "Every test phone.")
}

const NAMES: &str = r#""""The names of faults and dialects."""

from __future__ import annotations

from typing import Literal, TypeAlias

"#;

fn names(data: &TestData) -> String {
    let faults =
        data.faults.iter().map(|fault| literal(&fault.word, &with_parameters(&fault.doc, "delay", "retry_after")));
    let dialects = data.dialects.iter().map(|dialect| literal(&dialect.word, &dialect.doc));
    NAMES.to_owned()
        + &alias("FaultName", faults.collect(), "Each fault there is; `kassa_sandbox.Faults` says what it does.")
        + "\n"
        + &alias("DialectName", dialects.collect(), "Which gateway's responses the sandbox gives.")
}

fn constant(name: &str, value: &str, doc: &str) -> String {
    format!("{} = {value}\n\"\"\"{doc}\"\"\"\n", upper(name))
}

fn all(class: &str, names: &[&str], doc: &str) -> String {
    let names: String = names.iter().map(|name| format!("    {},\n", upper(name))).collect();
    format!("\nALL: tuple[{class}, ...] = (\n{names})\n\"\"\"{doc}\"\"\"\n")
}

fn literal(word: &str, doc: &str) -> String {
    lines(doc, "    # ") + &format!("    {word:?},\n")
}

fn alias(name: &str, literals: String, doc: &str) -> String {
    format!("{name}: TypeAlias = Literal[\n{literals}]\n\"\"\"{doc}\"\"\"\n")
}

fn three_ds(check: ThreeDs) -> &'static str {
    match check {
        ThreeDs::V2 => "3DS 2.0",
        ThreeDs::V1 => "3DS 1.0",
        ThreeDs::None => "without 3DS",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Approved => "approved",
        Outcome::Declined => "declined",
        Outcome::InsufficientFunds => "insufficient funds",
        Outcome::StuckPending => "stuck pending",
        Outcome::Error => "error",
    }
}

fn provider(provider: Provider) -> &'static str {
    match provider {
        Provider::MBank => "MBank",
        Provider::MegaPay => "MegaPay",
    }
}
