//! Promises: each way to lose money in `MONEY-SAFETY.md` names the tests that try it, and those tests are run.

use crate::{repository::Repository, test_names::is_test};

const WAYS_TO_LOSE_MONEY: usize = 23;

pub fn problems(repository: &Repository, text: &str) -> Vec<String> {
    let sections: Vec<_> = text.split("\n## ").skip(1).collect();
    let mut problems: Vec<_> =
        sections.iter().zip(1..).flat_map(|(text, number)| of_section(repository, number, text)).collect();
    if sections.len() != WAYS_TO_LOSE_MONEY {
        problems.push(format!("there are {} sections, and not {WAYS_TO_LOSE_MONEY}", sections.len()));
    }
    problems
}

fn of_section(repository: &Repository, number: usize, text: &str) -> Vec<String> {
    let lines: Vec<_> = text.lines().filter(|line| line.starts_with("- ")).collect();
    let mut problems: Vec<_> = lines.iter().flat_map(|line| of_line(repository, line)).collect();
    if !text.starts_with(&format!("{number}. ")) {
        problems.push(format!("section {number} is: {}", text.lines().next().unwrap_or_default()));
    }
    if lines.is_empty() {
        problems.push(format!("section {number} names no test"));
    }
    problems
}

/// A line: a file, then names of tests in it.
fn of_line(repository: &Repository, line: &str) -> Vec<String> {
    let quoted: Vec<_> = line.split('`').skip(1).step_by(2).collect();
    let [path, names @ ..] = quoted.as_slice() else { return vec![format!("no file: {line}")] };
    if names.is_empty() {
        return vec![format!("no test: {line}")];
    }
    if !repository.files().any(|file| file == *path) {
        return vec![format!("there is no {path}")];
    }
    let code = repository.text(path);
    names.iter().filter(|name| !is_test(&code, name)).map(|name| format!("{path} has no test `{name}`")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(lines: [&str; WAYS_TO_LOSE_MONEY]) -> Vec<String> {
        let sections = lines.iter().zip(1..).map(|(line, number)| format!("\n## {number}. Way\n\n{line}\n"));
        let repository = Repository::of([("a.rs", "#[test]\nfn it_holds() {}")]);
        problems(&repository, &format!("# Promises\n{}", sections.collect::<String>()))
    }

    #[test]
    fn promise_without_its_test_is_found() {
        let without_a_test = format!("section {WAYS_TO_LOSE_MONEY} names no test");
        let valid = "- `a.rs`: `it_holds`";
        assert_eq!(found_in([valid; WAYS_TO_LOSE_MONEY]), [""; 0]);
        for (line, problem) in [
            ("- `a.rs`: `it_held`", "a.rs has no test `it_held`"),
            ("- `b.rs`: `it_holds`", "there is no b.rs"),
            ("- `a.rs`", "no test: - `a.rs`"),
            ("- nothing", "no file: - nothing"),
            ("None.", without_a_test.as_str()),
        ] {
            let mut lines = [valid; WAYS_TO_LOSE_MONEY];
            lines[WAYS_TO_LOSE_MONEY - 1] = line;
            assert_eq!(found_in(lines), [problem]);
        }
    }

    #[test]
    fn section_that_is_missing_is_found() {
        let repository = Repository::of([("a.rs", "#[test]\nfn it_holds() {}")]);
        let problems = problems(&repository, "# Promises\n\n## 2. Way\n\n- `a.rs`: `it_holds`\n");
        let too_few = format!("there are 1 sections, and not {WAYS_TO_LOSE_MONEY}");
        assert_eq!(problems, ["section 1 is: 2. Way", too_few.as_str()]);
    }
}
