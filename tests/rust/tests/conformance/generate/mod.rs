//! Writes the files of vectors that come from tables. It knows nothing of how the core makes its verdicts.

mod cells;
pub mod faults;
pub mod outcomes;

use std::fs;

use serde_json::{Value, json};

use crate::vectors::directory;

/// The three columns of the table of outcomes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Column {
    MovesMoney,
    Creates,
    Asks,
}

/// An operation; its valid input and its success are constants with its name in them.
pub struct Operation {
    pub name: &'static str,
    /// What the dialect calls it.
    endpoint: &'static str,
    column: Column,
    /// The reference of its payment, as a constant and as a text.
    payment: (&'static str, &'static str),
}

const CARD: (&str, &str) =
    ("payment of order-1", "kassa1:kind=card&order=order-1&provider=Cards&amount=100.25&currency=KGS");
const MBANK: (&str, &str) =
    ("payment of order-2", "kassa1:kind=mbank&order=order-2&provider=MBank&amount=250&currency=KGS");
const MEGAPAY: (&str, &str) =
    ("payment of order-3", "kassa1:kind=megapay&order=order-3&provider=MegaPay&amount=250.55&currency=KGS");
const NONE: (&str, &str) = ("", "");

pub const OPERATIONS: [Operation; 11] = [
    operation("create_card_payment", "card_payment", Column::MovesMoney, CARD),
    operation("create_mbank_payment", "mbank_payment", Column::MovesMoney, MBANK),
    operation("confirm_mbank_payment", "mbank_confirm", Column::MovesMoney, MBANK),
    operation("check_megapay", "megapay_check", Column::MovesMoney, MEGAPAY),
    operation("pay_by_megapay", "megapay_pay", Column::MovesMoney, MEGAPAY),
    operation("create_pay_form", "pay_form", Column::Creates, NONE),
    operation("create_qr_image", "qr_image", Column::Creates, NONE),
    operation("create_qr_data", "qr_data", Column::Creates, NONE),
    operation("payment_status", "payment_status", Column::Asks, NONE),
    operation("provider_status", "provider_status", Column::Asks, NONE),
    operation("qr_status", "qr_status", Column::Asks, NONE),
];

const fn operation(
    name: &'static str,
    endpoint: &'static str,
    column: Column,
    payment: (&'static str, &'static str),
) -> Operation {
    Operation { name, endpoint, column, payment }
}

/// The files that are written here, and what is in them.
fn files() -> [(&'static str, String); 2] {
    [("outcomes.json", outcomes::whole_file()), ("faults.json", faults::whole_file())]
}

pub fn write() {
    for (file, content) in files() {
        fs::write(directory().join(file), content).unwrap();
    }
}

/// The committed files must be what this writes.
pub fn differences() -> Vec<String> {
    let committed = |file: &str| fs::read_to_string(directory().join(file)).unwrap_or_default();
    let differing = files().into_iter().filter(|(file, content)| committed(file) != *content);
    differing.map(|(file, _)| format!("{file} is not what the generator writes: run with -- --generate")).collect()
}

/// A file of vectors, one a line. The defaults are left out where there are none.
fn file(group: &str, about: &str, constants: &[(&str, Value)], defaults: Option<Value>, vectors: &[String]) -> String {
    let constants: Vec<String> = constants.iter().map(|(name, value)| format!("    \"{name}\": {value}")).collect();
    let defaults = defaults.map(|defaults| format!("  \"defaults\": {defaults},\n")).unwrap_or_default();
    let vectors: Vec<String> = vectors.iter().map(|vector| format!("    {vector}")).collect();
    format!(
        "{{\n  \"group\": \"{group}\",\n  \"about\": {},\n{defaults}  \
         \"constants\": {{\n{}\n  }},\n  \"vectors\": [\n{}\n  ]\n}}\n",
        json!(about),
        constants.join(",\n"),
        vectors.join(",\n")
    )
}

/// A vector on one line, its keys in this order; those that are null are left out.
fn line(fields: &[(&str, Value)]) -> String {
    let fields: Vec<String> = fields
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| format!("\"{name}\": {value}"))
        .collect();
    format!("{{{}}}", fields.join(", "))
}

/// A text, or the pattern of one where it holds a star.
fn like(text: &str) -> Value {
    if text.contains('*') { json!({"$like": text}) } else { json!(text) }
}

fn without_nulls(value: Value) -> Value {
    let Value::Object(map) = value else { return value };
    map.into_iter().filter(|(_, value)| !value.is_null()).collect::<serde_json::Map<_, _>>().into()
}
