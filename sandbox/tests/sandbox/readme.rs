//! The README and the code say the same.

use std::{collections::BTreeSet, fs, path::Path, process::Command};

use kassa_sandbox::{
    Dialect, EndpointName, FaultName, PaymentStatus, RejectReason, Sandbox, Switches, TEST_CARDS, TEST_PHONES, ThreeDs,
};
use serde_json::Value;

use crate::common::start;

const README: &str = include_str!("../../README.md");

/// The cells of every table row whose first cell is a code span of digits of such a length.
fn rows(lengths: std::ops::RangeInclusive<usize>) -> BTreeSet<Vec<String>> {
    README
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"))
        .filter(|line| {
            let number = line.split('`').next().unwrap_or_default();
            lengths.contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
        })
        .map(|line| line.replace('`', "").split(" | ").map(str::to_owned).collect())
        .collect()
}

#[test]
fn test_cards_are_the_table_s() {
    let cards: BTreeSet<Vec<String>> = TEST_CARDS
        .iter()
        .map(|card| {
            let otp = if card.three_ds == ThreeDs::None { "none" } else { card.otp };
            vec![card.pan.to_owned(), card.three_ds.to_string(), card.outcome.to_string(), otp.to_owned()]
        })
        .collect();
    assert_eq!(rows(13..=20), cards);
}

#[test]
fn test_phones_are_the_table_s() {
    let phones: BTreeSet<Vec<String>> = TEST_PHONES
        .iter()
        .map(|phone| {
            vec![phone.phone.to_owned(), phone.provider.to_string(), phone.outcome.to_string(), phone.otp.to_owned()]
        })
        .collect();
    assert_eq!(rows(12..=12), phones);
}

#[test]
fn every_status_and_reject_code_is_documented() {
    for status in PaymentStatus::ALL {
        assert!(README.contains(&format!("| `{status}` |")), "{status}");
    }
    let codes: BTreeSet<String> = rows(3..=3).into_iter().map(|row| row[0].clone()).collect();
    for reason in RejectReason::ALL {
        assert!(codes.contains(reason.code()), "{}", reason.code());
    }
}

#[test]
fn documented_faults_and_endpoints_are_complete() {
    let section = README.split("\n## ").find(|section| section.starts_with("Faults\n")).expect("the section");
    let table = section.split("Settings that restrict").next().expect("the table");
    let listed: Vec<_> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let names: BTreeSet<_> = FaultName::ALL.iter().map(|name| name.as_str()).collect();
    assert_eq!((listed.len(), listed.into_iter().collect()), (names.len(), names));
    for endpoint in EndpointName::ALL {
        assert!(section.contains(&format!("`{endpoint}`")), "{endpoint}");
    }
}

/// The commands of the first shell block behind a heading, each with the comments that say what comes.
fn commands(heading: &str) -> Vec<(String, Vec<&'static str>)> {
    let (_, section) = README.split_once(heading).expect("the heading");
    let block = section.split_once("```sh\n").and_then(|(_, block)| block.split_once("```")).expect("a block").0;
    let mut found: Vec<(String, Vec<&str>)> = vec![];
    for line in block.lines().filter(|line| !line.is_empty()) {
        match (line.strip_prefix("# "), found.last_mut()) {
            (Some(comment), Some((_, comments))) => comments.push(comment),
            (None, Some((command, comments))) if comments.is_empty() && line.starts_with(' ') => {
                command.push('\n');
                command.push_str(line);
            }
            _ => found.push((line.to_owned(), vec![])),
        }
    }
    found
}

/// What a command prints, as somebody types it who has this sandbox before them.
fn typed(command: &str, sandbox: &Sandbox, folder: &Path) -> String {
    let command = command
        .replace("http://127.0.0.1:8400", sandbox.url())
        .replace("curl ", "curl --silent --show-error --noproxy '*' --fail-with-body ");
    let mut shell = Command::new("sh");
    let output = shell.args(["-e", "-c", &command]).current_dir(folder).env("TOKEN", sandbox.admin_token()).output();
    let output = output.expect("a shell");
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).expect("text")
}

/// Whether a text is as a comment shows it, where `...` and what a number begins with stand for anything.
fn fits(text: &str, shown: &str) -> bool {
    let shown = shown.replace("0c5f...", "...").replace("5d0e...", "...").replace("http://127.0.0.1:8400", "...");
    let mut rest = text;
    shown.split("...").all(|part| rest.split_once(part).map(|(_, behind)| rest = behind).is_some())
}

#[test]
fn documented_curl_payment_works() {
    let (sandbox, folder) = (start(), tempfile::tempdir().expect("a folder"));
    let mut token = String::new();
    let commands = commands("## A payment, by hand");
    assert!(commands.len() > 6, "{commands:?}");
    for (command, comments) in commands {
        let printed = typed(&command.replace("0c5f...", &token), &sandbox, folder.path());
        if let Some((_, found)) = printed.split_once("/3ds?token=") {
            token = found.split('"').next().unwrap_or_default().to_owned();
        }
        for shown in comments.into_iter().filter(|comment| comment.starts_with(['{', 'H', 'l'])) {
            assert!(fits(&printed, shown), "{command}\n{printed}\n{shown}");
        }
    }
    assert!(fs::read(folder.path().join("qr.png")).expect("the picture").starts_with(b"\x89PNG"));
}

#[test]
fn documented_admin_requests_work() {
    let (sandbox, folder) = (start(), tempfile::tempdir().expect("a folder"));
    let (register, _) = commands("## A payment, by hand").swap_remove(0);
    typed(&register, &sandbox, folder.path());
    for (command, comments) in [commands("By HTTP, while it runs:"), commands("## The admin interface")].concat() {
        let printed = typed(&command, &sandbox, folder.path());
        assert!(comments.iter().all(|shown| fits(&printed, shown)), "{command}\n{printed}");
    }
    assert!(sandbox.payment("ORDER-1").expect("there").is_charged());
}

#[test]
fn other_dialect_matches_the_documentation() {
    let (sandbox, folder) = (start(), tempfile::tempdir().expect("a folder"));
    let mut commands = commands("## A payment, by hand");
    typed(&commands[0].0, &sandbox, folder.path());
    sandbox.approve("ORDER-1").expect("open");
    sandbox.set_switches(Switches { acts_as: Dialect::Other, ..sandbox.switches() });
    let said: Value = serde_json::from_str(&typed(&commands.swap_remove(2).0, &sandbox, folder.path())).expect("JSON");
    let (_, shown) = README.split_once("```json\n").expect("a block");
    let shown: Value = serde_json::from_str(shown.split("```").next().unwrap_or_default()).expect("JSON");
    assert_eq!(said, shown);
}

#[test]
fn recording_command_lines_parse() {
    let page = include_str!("../../../docs/recordings.md");
    let lines = page.lines().filter_map(|line| line.trim().strip_prefix("kassa-sandbox "));
    let shown: Vec<_> = lines.collect();
    assert_eq!(shown.len(), 5, "{shown:?}");
    for words in shown {
        let parsed = Command::new(env!("CARGO_BIN_EXE_kassa-sandbox")).args(words.split(' ')).arg("--help").output();
        assert!(parsed.expect("it runs").status.success(), "{words}");
    }
}

/// By `--help` behind the words, which is heard after all others were understood.
#[test]
fn documented_command_lines_parse() {
    let lines = README.lines().filter(|line| !line.starts_with('|'));
    let shown: Vec<_> = lines
        .filter_map(|line| {
            line.split_once("cargo run -p kassa-sandbox").or_else(|| line.split_once("kassa-sandbox --"))
        })
        .map(|(_, words)| words.trim_start_matches(" -- ").split(" #").next().unwrap_or_default())
        .collect();
    assert!(shown.len() > 4, "{shown:?}");
    for words in shown {
        let words = if words.starts_with("listen") { format!("--{words}") } else { words.to_owned() };
        let command = format!("\"$PROGRAM\" {words} --help");
        let output =
            Command::new("sh").args(["-c", &command]).env("PROGRAM", env!("CARGO_BIN_EXE_kassa-sandbox")).output();
        let output = output.expect("a shell");
        assert!(output.status.success(), "{command}: {output:?}");
    }
}
