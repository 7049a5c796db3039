//! Paths: what a document calls a file or a folder of this repository is one.
//!
//! A word of code is taken for such a path where it has a `/`, and where its first name is an entry of the root or of a
//! folder that the document is in. So `application/json` is none, and `core/src/lost.rs` is one that is missing.

use crate::{
    markdown::Document,
    repository::{Repository, joined, parents},
};

/// Folders that only a build or a test run makes: a path through one of them is not looked at.
const BUILD_OUTPUTS: [&str; 4] = ["target", "fuzz/artifacts", "Sources/KassaGenerated", "browser-tests/screenshots"];

pub fn problems(repository: &Repository, document: &Document<'_>) -> Vec<String> {
    let code = document.inline.iter().chain(&document.typed);
    let words = code.flat_map(|found| found.text.split_whitespace().map(move |word| (found, word)));
    let missing = words.filter(|(_, word)| is_missing(repository, document, word));
    missing.map(|(found, word)| document.problem(found, &format!("there is no {}", path_of(word)))).collect()
}

fn is_missing(repository: &Repository, document: &Document<'_>, word: &str) -> bool {
    let path = path_of(word);
    let Some((first, _)) = path.split_once('/').filter(|(first, rest)| !first.is_empty() && !rest.is_empty()) else {
        return false;
    };
    if path.contains("://") || is_built(path) {
        return false;
    }
    let known = known_part(path);
    let mut meant = parents(document.path).chain([""]).filter(|folder| has(repository, folder, first)).peekable();
    meant.peek().is_some() && !meant.any(|folder| has(repository, folder, &known))
}

fn is_built(path: &str) -> bool {
    BUILD_OUTPUTS.iter().any(|output| format!("/{path}/").contains(&format!("/{output}/")))
}

fn has(repository: &Repository, folder: &str, path: &str) -> bool {
    joined(folder, path).is_some_and(|path| repository.has(&path))
}

/// A word without what stands around a path: quotes, punctuation of a sentence or a command, and the name of a part.
fn path_of(word: &str) -> &str {
    let path = word.trim_matches(['"', '\'', '(', ')', ',', ';', ':']);
    let path = path.split_once(['#', ':']).map_or(path, |(path, _)| path);
    path.strip_prefix("./").unwrap_or(path).trim_end_matches('/')
}

/// The names of a path up to the first that stands for others: `*`, `{a,b}`, `<name>`, `$NAME`, `...` or `NAME`.
fn known_part(path: &str) -> String {
    let is_open = |name: &str| name.contains(['*', '{', '<', '$']) || name == "..." || is_placeholder(name);
    path.split('/').take_while(|name| !is_open(name)).collect::<Vec<_>>().join("/")
}

/// A name in capitals, such as `NAME`. So a folder's `LICENSE` is not looked at, either: only its folder is.
fn is_placeholder(name: &str) -> bool {
    name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(text: &str) -> Vec<String> {
        let repository = Repository::of([
            ("core/src/lib.rs", ""),
            ("scripts/bench", ""),
            ("sandbox/README.md", ""),
            ("sandbox/tests/a.rs", ""),
            ("tests/b.json", ""),
        ]);
        problems(&repository, &Document::parse("sandbox/README.md", text))
    }

    #[test]
    fn existing_paths_and_other_words_are_valid() {
        for code in [
            "core",
            "core/src",
            "core/src/",
            "./core/src/lib.rs",
            "core/src/*.rs",
            "core/src/{lib,main}.rs",
            "core/NAME/x",
            "tests/a.rs",
            "tests/b.json",
            "scripts/bench NAME --to core/src",
            "application/json",
            "src/lib.rs",
            "/core/x",
            "core/",
            "core/src/lib.rs#part",
            "core/src/lib.rs:part",
            "core/target/debug/x",
            "https://core/x",
        ] {
            assert_eq!(found_in(&format!("`{code}`")), [""; 0], "{code}");
        }
    }

    #[test]
    fn missing_paths_are_found() {
        for (code, path) in [
            ("core/lib.rs", "core/lib.rs"),
            ("./core/lib.rs", "core/lib.rs"),
            ("core/source/*.rs", "core/source/*.rs"),
            ("tests/c.json", "tests/c.json"),
            ("scripts/measure NAME", "scripts/measure"),
            ("sh -c 'core/a'", "core/a"),
        ] {
            assert_eq!(found_in(&format!("`{code}`")), [format!("sandbox/README.md:1: `{code}`: there is no {path}")]);
        }
        assert_eq!(
            found_in("```sh\nscripts/lost\n```"),
            ["sandbox/README.md:2: `scripts/lost`: there is no scripts/lost"]
        );
    }
}
