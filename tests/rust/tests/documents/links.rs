//! Links: a relative one leads to a file or a folder, and its anchor to a heading there.

use crate::{
    markdown::Document,
    repository::{Repository, joined, parents},
};

/// How documents that are read elsewhere, as a package's page is, link into this repository.
const OWN_ADDRESSES: [&str; 2] =
    ["https://github.com/kassa-dev/kassa/blob/main/", "https://github.com/kassa-dev/kassa/tree/main/"];

pub fn problems(repository: &Repository, document: &Document<'_>) -> Vec<String> {
    let of_link = |link| Some(document.problem(link, &problem(repository, document, &link.text)?));
    document.links.iter().filter_map(of_link).collect()
}

fn problem(repository: &Repository, document: &Document<'_>, link: &str) -> Option<String> {
    let folder = parents(document.path).next().unwrap_or_default();
    let (folder, link) = match OWN_ADDRESSES.iter().find_map(|address| link.strip_prefix(address)) {
        Some(path) => ("", path),
        // Pages of others are not looked at: a check must not need the network.
        None if link.contains("://") || link.starts_with("mailto:") => return None,
        None => (folder, link),
    };
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = if path.is_empty() { Some(document.path.to_owned()) } else { joined(folder, path) };
    let Some(target) = target.filter(|target| repository.has(target)) else { return Some("leads nowhere".to_owned()) };
    let anchor = anchor?;
    if has_anchor(repository, document, &target, anchor) { None } else { Some(format!("{target} has no #{anchor}")) }
}

/// A folder's page is its README.
fn has_anchor(repository: &Repository, document: &Document<'_>, target: &str, anchor: &str) -> bool {
    let is_it = |known: &String| known == anchor;
    if target == document.path {
        return document.anchors.iter().any(is_it);
    }
    let readme = joined(target, "README.md").filter(|readme| repository.has(readme));
    let page = readme.unwrap_or_else(|| target.to_owned());
    page.ends_with(".md") && Document::parse(&page, &repository.text(&page)).anchors.iter().any(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found_in(text: &str) -> Vec<String> {
        let repository = Repository::of([
            ("README.md", "# Kassa"),
            ("docs/a.md", text),
            ("docs/b.md", "# Part two"),
            ("core/README.md", "# The core"),
            ("core/src/lib.rs", ""),
        ]);
        problems(&repository, &Document::parse("docs/a.md", text))
    }

    #[test]
    fn links_that_lead_somewhere_are_no_problem() {
        for link in [
            "b.md",
            "b.md#part-two",
            "#here",
            "../README.md#kassa",
            "../core",
            "../core/",
            "../core#the-core",
            "../core/src/lib.rs",
            "https://example.com/nowhere#x",
            "mailto:somebody@example.com",
            "https://github.com/kassa-dev/kassa/blob/main/docs/b.md#part-two",
            "https://github.com/kassa-dev/kassa/tree/main/core",
        ] {
            assert_eq!(found_in(&format!("# Here\n\n[link]({link})")), [""; 0], "{link}");
        }
    }

    #[test]
    fn broken_links_are_found() {
        for link in [
            "c.md",
            "README.md",
            "../core/src/main.rs",
            "../../README.md",
            "https://github.com/kassa-dev/kassa/blob/main/docs/c.md",
        ] {
            assert_eq!(
                found_in(&format!("# Here\n\n[link]({link})")),
                [format!("docs/a.md:3: `{link}`: leads nowhere")]
            );
        }
    }

    #[test]
    fn broken_anchors_are_found() {
        for (link, problem) in [
            ("#there", "docs/a.md has no #there"),
            ("b.md#part-three", "docs/b.md has no #part-three"),
            ("../core#x", "core has no #x"),
            ("../core/src/lib.rs#x", "core/src/lib.rs has no #x"),
            ("https://github.com/kassa-dev/kassa/blob/main/docs/b.md#x", "docs/b.md has no #x"),
        ] {
            assert_eq!(found_in(&format!("# Here\n\n[link]({link})")), [format!("docs/a.md:3: `{link}`: {problem}")]);
        }
    }
}
