//! The repository: its files, as committed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::PathBuf,
    process::Command,
};

/// Files by their paths from the root, with `/` between the names.
pub struct Repository {
    files: BTreeMap<String, Source>,
    folders: BTreeSet<String>,
}

/// Where a file's text is.
enum Source {
    Disk(PathBuf),
    /// Of a repository that a test made up.
    Given(String),
}

impl Repository {
    /// This project: what Git tracks, and what is new and not ignored. Build outputs are neither, so a claim about one
    /// is not taken for true only because somebody has built it.
    pub fn committed() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
        let listed = Command::new("git")
            // A checkout may belong to somebody else, as in a container.
            .args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(&root)
            .output()
            .expect("git lists the files");
        assert!(listed.status.success(), "git: {}", String::from_utf8_lossy(&listed.stderr));
        let names = String::from_utf8(listed.stdout).expect("names are UTF-8");
        let there = names.split('\0').filter(|name| !name.is_empty() && root.join(name).exists());
        Self::new(there.map(|name| (name.to_owned(), Source::Disk(root.join(name)))).collect())
    }

    /// A repository that a test made up: paths with their texts.
    pub fn of<const COUNT: usize>(files: [(&str, &str); COUNT]) -> Self {
        Self::new(files.map(|(path, text)| (path.to_owned(), Source::Given(text.to_owned()))).into())
    }

    fn new(files: BTreeMap<String, Source>) -> Self {
        let folders = files.keys().flat_map(|path| parents(path)).map(str::to_owned).collect();
        Self { files, folders }
    }

    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Whether a file or a folder is there. The root is the empty path.
    pub fn has(&self, path: &str) -> bool {
        path.is_empty() || self.files.contains_key(path) || self.folders.contains(path)
    }

    /// The text of a file that is there; of a picture or the like, what can be read of it.
    pub fn text(&self, path: &str) -> String {
        match self.files.get(path).unwrap_or_else(|| panic!("no file {path}")) {
            Source::Disk(place) => {
                String::from_utf8_lossy(&fs::read(place).expect("a file of Git's list")).into_owned()
            }
            Source::Given(text) => text.clone(),
        }
    }
}

/// The folders that a path is in, from the nearest one outwards, without the root.
pub fn parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |folder| parent(folder))
}

fn parent(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(folder, _)| folder)
}

/// A path from a folder, with `.` and `..` followed; nothing where it leaves the repository.
pub fn joined(folder: &str, path: &str) -> Option<String> {
    let mut names: Vec<_> = folder.split('/').filter(|name| !name.is_empty()).collect();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()?),
            name => names.push(name),
        }
    }
    Some(names.join("/"))
}

#[test]
fn paths_stay_inside_the_repository() {
    assert_eq!(joined("docs/adr", "../../README.md").as_deref(), Some("README.md"));
    assert_eq!(joined("", "./core/").as_deref(), Some("core"));
    assert_eq!(joined("docs", "../.."), None);
    assert_eq!(parents("a/b/c").collect::<Vec<_>>(), ["a/b", "a"]);
}

#[test]
fn folders_are_those_that_files_are_in() {
    let repository = Repository::of([("a/b/c", "text")]);
    assert!(["a", "a/b", "a/b/c", ""].into_iter().all(|path| repository.has(path)));
    assert!(["b", "a/c", "a/b/c/d"].into_iter().all(|path| !repository.has(path)));
    assert_eq!(repository.text("a/b/c"), "text");
}
