//! Citations: the page, and the part of it, that a comment in code points to exists.

use crate::{markdown::Document, repository::Repository};

pub fn problems(repository: &Repository) -> Vec<String> {
    let code = repository.files().filter(|path| !path.ends_with(".md") && !is_of_this_check(path));
    code.flat_map(|path| of_file(repository, path)).collect()
}

/// Its tests have citations that lead nowhere.
fn is_of_this_check(path: &str) -> bool {
    path.starts_with("tests/rust/tests/documents/")
}

fn of_file(repository: &Repository, path: &str) -> Vec<String> {
    let text = repository.text(path);
    let lines = text.lines().enumerate().filter(|(_, line)| line.contains("docs/"));
    let cited = lines.flat_map(|(at, line)| pages_cited(line).map(move |cited| (at + 1, cited)));
    let broken = cited.filter(|(_, cited)| !exists(repository, cited));
    broken.map(|(line, cited)| format!("{path}:{line}: there is no {cited}")).collect()
}

/// What looks like `docs/page.md` or `docs/page.md#part` in a line.
fn pages_cited(line: &str) -> impl Iterator<Item = &str> {
    let starts = line.match_indices("docs/").map(|(at, _)| at);
    starts.filter_map(|at| {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '/' | '-' | '_' | '.' | '#');
        let rest = &line[at..];
        let cited = rest.find(|c| !is_part(c)).map_or(rest, |end| &rest[..end]).trim_end_matches(['.', '/', '#']);
        let is_own = !line[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        (is_own && cited.contains(".md")).then_some(cited)
    })
}

fn exists(repository: &Repository, cited: &str) -> bool {
    let (page, anchor) = cited.split_once('#').map_or((cited, None), |(page, anchor)| (page, Some(anchor)));
    let has = |anchor: &str| Document::parse(page, &repository.text(page)).anchors.iter().any(|known| known == anchor);
    repository.has(page) && anchor.is_none_or(has)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(code: &str) -> Vec<String> {
        problems(&Repository::of([
            ("docs/adr/0001-a.md", "# A part"),
            ("core/lib.rs", code),
            ("notes.md", "docs/b.md"),
        ]))
    }

    #[test]
    fn citations_of_what_exists_are_no_problem() {
        for code in [
            "// See docs/adr/0001-a.md.",
            "// (docs/adr/0001-a.md#a-part)",
            "include_str!(\"../../docs/adr/0001-a.md\")",
            "// docs/adr/",
            "// mydocs/b.md, old-docs/c.md",
        ] {
            assert_eq!(found_in(code), [""; 0], "{code}");
        }
    }

    #[test]
    fn citations_that_lead_nowhere_are_found() {
        for cited in ["docs/b.md", "docs/adr/0001-a.md#b-part"] {
            assert_eq!(found_in(&format!("//\n/// See `{cited}`.")), [format!("core/lib.rs:2: there is no {cited}")]);
        }
    }
}
