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
    let problems: Vec<String> = tables.iter().filter_map(problem).collect();
    problems.iter().for_each(|problem| println!("FAILED  {problem}"));
    kassa_conformance::report(tables.len(), problems.len())
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
