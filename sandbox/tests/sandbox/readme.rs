//! The README and the code say the same.

use std::collections::BTreeSet;

use kassa_sandbox::{EndpointName, FaultName, PaymentStatus, RejectReason, TEST_CARDS, TEST_PHONES, ThreeDs};

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
fn the_test_cards_are_the_table_s() {
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
fn the_test_phones_are_the_table_s() {
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
fn every_fault_and_endpoint_is_documented_and_no_other() {
    let section = README.split("\n## ").find(|section| section.starts_with("Faults\n")).expect("the section");
    let table = section.split("What narrows").next().expect("the table");
    let listed: Vec<_> = table.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    let names: BTreeSet<_> = FaultName::ALL.iter().map(|name| name.as_str()).collect();
    assert_eq!((listed.len(), listed.into_iter().collect()), (names.len(), names));
    for endpoint in EndpointName::ALL {
        assert!(section.contains(&format!("`{endpoint}`")), "{endpoint}");
    }
}
