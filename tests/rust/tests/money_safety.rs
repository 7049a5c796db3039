//! The promises about money name the tests that show them; here it is seen that those tests exist.

use std::{fs, path::PathBuf};

const WAYS_TO_LOSE_MONEY: usize = 12;

#[test]
fn every_promise_names_tests_that_exist() {
    let text = read("MONEY-SAFETY.md");
    let mut sections = text.split("\n## ").skip(1);
    for number in 1..=WAYS_TO_LOSE_MONEY {
        let section = sections.next().unwrap_or_else(|| panic!("no section {number}"));
        assert!(section.starts_with(&format!("{number}. ")), "section {number} is: {section}");
        let lines: Vec<_> = section.lines().filter(|line| line.starts_with("- ")).collect();
        assert!(!lines.is_empty(), "{number} names no test");
        lines.into_iter().for_each(has_its_tests);
    }
    assert_eq!(sections.next(), None);
}

/// A line: a file, then names of tests in it.
fn has_its_tests(line: &str) {
    let quoted: Vec<_> = line.split('`').skip(1).step_by(2).collect();
    let [path, names @ ..] = quoted.as_slice() else { panic!("no file: {line}") };
    assert!(!names.is_empty(), "no test: {line}");
    let code = read(path);
    for name in names {
        assert!(is_test(&code, name), "{path} has no test `{name}`");
    }
}

/// Whether a test of that name is in a file of Rust, Python, Kotlin or Swift: its marker stands on the same line or shortly before.
fn is_test(code: &str, name: &str) -> bool {
    let starts = [format!("fn {name}("), format!("def {name}("), format!("fun `{name}`("), format!("func {name}(")];
    let lines: Vec<_> = code.lines().collect();
    let Some(at) = lines.iter().position(|line| starts.iter().any(|start| line.contains(start))) else {
        return false;
    };
    let is_marked = |line: &&str| line.contains("#[test]") || line.contains("#[tokio::test") || line.contains("@Test");
    name.starts_with("test_") || lines[at.saturating_sub(3)..=at].iter().any(is_marked)
}

fn read(path: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}
