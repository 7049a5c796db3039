//! Architecture checks: the rooms of a crate use one another in one direction only, as `docs/architecture.md` lists
//! them, and no files of a crate use one another in a circle.

mod graph;
mod references;
mod source;

use std::{collections::BTreeMap, fs, path::Path};

use graph::circles;
use source::{Module, Source};

#[test]
fn core_has_one_direction() {
    check("core/src", "## The rooms of the core");
}

#[test]
fn sandbox_has_one_direction() {
    check("sandbox/src", "## The rooms of the sandbox");
}

#[test]
fn server_has_one_direction() {
    check("server/src", "## The rooms of the server");
}

/// Rooms, modules that stand above them all, and what is wrong.
fn check(folder: &str, heading: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    let order = rooms(&page, heading);
    let source = Source::read(&root.join(folder));
    let edges = source.edges();
    let mut problems = upward(&edges, &order);
    problems.extend(circles(&edges).iter().map(|circle| format!("a circle of files: {}", circle.join(", "))));
    problems.extend(unlisted(&source, &order));
    assert!(problems.is_empty(), "{folder}:\n{}", problems.join("\n"));
}

/// The first column of the table under a heading: the rooms from the top to the bottom.
fn rooms(page: &str, heading: &str) -> Vec<String> {
    let section = page.split(heading).nth(1).unwrap_or_default();
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.filter_map(|row| row.split('`').next()).map(|name| name.trim_end_matches('/').to_owned()).collect()
}

/// A room may use those that are listed below it, and itself. The crate's root re-exports all of them, so it stands
/// above them.
fn upward(edges: &BTreeMap<Module, Vec<Module>>, order: &[String]) -> Vec<String> {
    let place = |module: &Module| match module.first() {
        None => Some(0),
        Some(room) => order.iter().position(|known| known == room).map(|place| place + 1),
    };
    let mut problems = Vec::new();
    for (from, targets) in edges.iter().filter(|(from, _)| !from.is_empty()) {
        for to in targets.iter().filter(|to| to.first() != from.first()) {
            if place(to) < place(from) && !may_use_the_root(from, to) {
                problems.push(format!("{} uses {}, which stands above it", from.join("::"), shown(to)));
            }
        }
    }
    problems
}

/// What stands over the whole crate takes its public names from the root, as a user does.
fn may_use_the_root(from: &Module, to: &Module) -> bool {
    to.is_empty() && from.first().is_some_and(|room| room == "ffi" || room == "testing")
}

fn unlisted(source: &Source, order: &[String]) -> Vec<String> {
    let mut problems: Vec<String> = source
        .rooms()
        .filter(|room| !order.contains(room))
        .map(|room| format!("{room} is not listed in docs/architecture.md"))
        .collect();
    let listed = order.iter().filter(|room| !source.rooms().any(|known| known == **room));
    problems.extend(listed.map(|room| format!("{room} is listed in docs/architecture.md and does not exist")));
    problems
}

fn shown(module: &Module) -> String {
    if module.is_empty() { "the crate's root".to_owned() } else { module.join("::") }
}

#[test]
fn order_violations_of_rooms_are_found() {
    let table = "| Room | Holds |\n|---|---|\n| `top` | x |\n| `bottom/` | y |\n| `gone` | z |";
    let page = &format!("## Rooms\n\n{table}\n\n## Else\n| `no` |");
    let order = rooms(page, "## Rooms");
    assert_eq!(order, ["top", "bottom", "gone"]);
    let source = Source::of(&[
        ("lib.rs", "mod top; mod bottom; pub use top::T;"),
        ("top/mod.rs", "mod one; use crate::bottom::{self, one::{A, B}};"),
        ("top/one.rs", "use super::T; #[cfg(test)] mod tests { use crate::never::There; }"),
        ("bottom/mod.rs", "mod one;"),
        ("bottom/one.rs", "fn f() -> crate::top::one::X { crate::T }"),
        ("cellar.rs", ""),
    ]);
    let edges = source.edges();
    assert_eq!(
        upward(&edges, &order),
        [
            "bottom::one uses the crate's root, which stands above it",
            "bottom::one uses top::one, which stands above it"
        ]
    );
    assert_eq!(circles(&edges), [["bottom::one", "top", "top::one"]]);
    assert_eq!(
        unlisted(&source, &order),
        ["cellar is not listed in docs/architecture.md", "gone is listed in docs/architecture.md and does not exist"]
    );
}
