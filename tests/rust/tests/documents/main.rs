//! Documentation checks: what the project's Markdown says about the project is true, as far as a machine can see.
//!
//! Each check is a file: it takes the repository and a document, and answers with the problems that it found. Its own
//! tests show that it finds them.

mod citations;
mod links;
mod make_targets;
mod markdown;
mod paths;
mod private_words;
mod programs;
mod promises;
mod repository;
mod shown_programs;
mod test_names;

use markdown::Document;
use repository::Repository;

/// Looks into one document.
type Check = fn(&Repository, &Document<'_>) -> Vec<String>;

#[test]
fn every_link_leads_somewhere() {
    holds_for_all_documents(links::problems);
}

#[test]
fn every_path_exists() {
    holds_for_all_documents(paths::problems);
}

#[test]
fn every_make_target_exists() {
    holds_for_all_documents(make_targets::problems);
}

#[test]
fn money_promises_name_tests_that_run() {
    let repository = Repository::committed();
    none(promises::problems(&repository, &repository.text("MONEY-SAFETY.md")));
}

#[test]
fn document_parts_cited_by_code_exist() {
    none(citations::problems(&Repository::committed()));
}

/// Not all documents: those that the site shows to people who use Kassa.
#[test]
fn shown_programs_are_run_by_tests() {
    let repository = Repository::committed();
    let shown = repository.files().filter(|path| shown_programs::is_shown(path));
    none(shown.flat_map(|path| shown_programs::problems(path, &repository.text(path))).collect());
    none(shown_programs::gone(&repository));
}

#[test]
fn no_private_word_came_back() {
    none(private_words::problems(&Repository::committed()));
}

fn holds_for_all_documents(check: Check) {
    let repository = Repository::committed();
    let paths: Vec<_> = repository.files().filter(|path| path.ends_with(".md")).collect();
    assert!(paths.contains(&"README.md") && paths.contains(&"docs/interface.md"), "the documents: {paths:?}");
    let problems_of = |path: &str| {
        let text = repository.text(path);
        check(&repository, &Document::parse(path, &text))
    };
    none(paths.into_iter().flat_map(problems_of).collect());
}

fn none(problems: Vec<String>) {
    assert!(problems.is_empty(), "{} problems:\n{}", problems.len(), problems.join("\n"));
}
