//! Make targets: what a document tells its readers to make, the Makefile knows.

use crate::{markdown::Document, repository::Repository};

pub fn problems(repository: &Repository, document: &Document<'_>) -> Vec<String> {
    let makefile = repository.text("Makefile");
    let known: Vec<_> = makefile.lines().filter_map(target_of_rule).collect();
    let code = document.inline.iter().chain(&document.typed);
    let named = code.flat_map(|found| targets_named(&found.text).into_iter().map(move |target| (found, target)));
    let unknown = named.filter(|(_, target)| !known.contains(target));
    unknown.map(|(found, target)| document.problem(found, &format!("make knows no {target}"))).collect()
}

fn target_of_rule(line: &str) -> Option<&str> {
    let (target, _) = line.split_once(':')?;
    is_target(target).then_some(target)
}

fn is_target(word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    word.starts_with(|first: char| first.is_ascii_lowercase()) && word.chars().all(is_part)
}

/// The targets of every `make` in a line: the words after it in its command, without options and variables.
fn targets_named(line: &str) -> Vec<&str> {
    let line = line.split(" #").next().unwrap_or_default();
    let mut targets = Vec::new();
    for command in line.split([';', '&', '|']) {
        let mut words = command.split_whitespace().skip_while(|word| word.contains('='));
        if words.next() == Some("make") {
            let mut is_quoted = false;
            targets.extend(words.filter(|word| {
                let was_quoted = is_quoted;
                is_quoted ^= word.matches('"').count() % 2 == 1;
                !was_quoted && is_target(word)
            }));
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(text: &str) -> Vec<String> {
        let repository = Repository::of([("Makefile", ".PHONY: test\ntest: ## All\n\t@echo a: b\ntest-swift:\n")]);
        problems(&repository, &Document::parse("a.md", text))
    }

    #[test]
    fn existing_targets_and_other_words_are_valid() {
        for code in [
            "make",
            "make test",
            "make -j2 test test-swift",
            "make test TIME=600",
            "make test PACKAGES=\"one two three\" test-swift",
            "A=1 make test",
            "make TARGET",
            "made x",
        ] {
            assert_eq!(found_in(&format!("`{code}`")), [""; 0], "{code}");
        }
        assert_eq!(found_in("```sh\nmake test # make it so\n```\nmake nothing of it"), [""; 0]);
    }

    #[test]
    fn targets_that_do_not_exist_are_found() {
        for code in ["make tests", "make -j2 test tests", "make test && make tests", "A=1 make tests B=2"] {
            assert_eq!(found_in(&format!("`{code}`")), [format!("a.md:1: `{code}`: make knows no tests")]);
        }
        assert_eq!(found_in("```sh\nmake test\nmake x\n```"), ["a.md:3: `make x`: make knows no x"]);
    }
}
