//! The sandbox's test data, as a table for each language: written from `sandbox/data/test_data.json`, which says
//! everything once.
//!
//! `cargo test -p kassa-conformance --test tables` fails where a committed table is stale; with `-- --generate` it
//! writes all of them anew.

mod data;
mod kotlin;
mod names;
mod prose;
mod python;
mod rust;
mod swift;

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use data::TestData;
use kassa_sandbox::{EndpointName, PaymentKind};

/// What every table begins with, behind its language's mark of a comment.
const MARK: [&str; 2] = [
    "Generated from sandbox/data/test_data.json. Change that, and then:",
    "cargo test -p kassa-conformance --test tables -- --generate",
];
const WIDTH: usize = 120;

/// A table: its path in the repository, and what is in it.
struct Table {
    path: &'static str,
    content: String,
}

fn main() -> ExitCode {
    let data = TestData::load();
    let tables: Vec<Table> =
        [rust::tables, python::tables, kotlin::tables, swift::tables].iter().flat_map(|of| of(&data)).collect();
    if std::env::args().any(|argument| argument == "--generate") {
        tables.iter().for_each(|table| fs::write(repository().join(table.path), &table.content).unwrap());
        return ExitCode::SUCCESS;
    }
    let mut problems: Vec<String> = tables.iter().filter_map(problem).collect();
    problems.extend(NAMED_BY_HAND.iter().flat_map(|path| missing_names(path)));
    problems.iter().for_each(|problem| println!("FAILED  {problem}"));
    kassa_conformance::report(tables.len() + NAMED_BY_HAND.len(), problems.len())
}

/// Where the packages of the sandbox name its kinds of payments and its endpoints, each with words of its own.
const NAMED_BY_HAND: [&str; 3] = [
    "bindings/python-sandbox/src/kassa_sandbox/values.py",
    "bindings/kotlin/kassa-sandbox/src/main/kotlin/dev/kassa/sandbox/Values.kt",
    "bindings/swift/Sources/KassaSandbox/Names.swift",
];

/// The names that a package lacks. A payment of a kind that it does not know could not be read.
fn missing_names(path: &str) -> Vec<String> {
    let text = fs::read_to_string(repository().join(path)).unwrap_or_default();
    // In Swift a case without a text stands for its own name.
    let is_named = |name: &str| text.contains(&format!("\"{name}\"")) || text.contains(&format!("case {name}\n"));
    let kinds = PaymentKind::ALL.map(PaymentKind::as_str).into_iter();
    let names = kinds.chain(EndpointName::ALL.map(EndpointName::as_str));
    names.filter(|name| !is_named(name)).map(|name| format!("{path} does not name {name}")).collect()
}

fn problem(table: &Table) -> Option<String> {
    let path = table.path;
    if let Some(line) = table.content.lines().find(|line| line.chars().count() > WIDTH) {
        return Some(format!("{path} would have a line of more than {WIDTH} characters: {line}"));
    }
    let committed = fs::read_to_string(repository().join(path)).unwrap_or_default();
    (committed != table.content).then(|| format!("{path} is stale: run with -- --generate"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
