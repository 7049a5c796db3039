//! The files of a crate as its modules, and which of them refer to which.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use crate::references;

/// A module by its path within the crate; empty for the crate's root.
pub type Module = Vec<String>;

pub struct Source(BTreeMap<Module, syn::File>);

impl Source {
    /// All files below a folder, but those that hold tests alone.
    pub fn read(folder: &Path) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(&next).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else if entry.extension().is_some_and(|ending| ending == "rs") {
                    let name = entry.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, fs::read_to_string(entry).unwrap());
                }
            }
        }
        Self::of(&files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect::<Vec<_>>())
    }

    pub fn of(files: &[(&str, &str)]) -> Self {
        let all: BTreeMap<Module, syn::File> =
            files.iter().map(|(name, text)| (module(name), syn::parse_file(text).unwrap())).collect();
        let declared_for_tests = declared_for_tests(&all);
        let is_test = |module: &Module| declared_for_tests.iter().any(|test| module.starts_with(test));
        Self(all.into_iter().filter(|(module, _)| !is_test(module)).collect())
    }

    /// Which module refers to which others. Each has an entry.
    pub fn edges(&self) -> BTreeMap<Module, Vec<Module>> {
        let of_one = |(module, file): (&Module, &syn::File)| {
            let found = references::of(file).into_iter().filter_map(|path| self.target(module, &path));
            let others: BTreeSet<Module> = found.filter(|target| target != module).collect();
            (module.clone(), others.into_iter().collect())
        };
        // The root declares and re-exports everything: it is used, and uses nothing that could close a circle.
        self.0
            .iter()
            .map(of_one)
            .map(|(module, to)| if module.is_empty() { (module, Vec::new()) } else { (module, to) })
            .collect()
    }

    /// The modules at the first level that are folders or files of their own.
    pub fn rooms(&self) -> impl Iterator<Item = String> {
        let rooms: BTreeSet<String> = self.0.keys().filter_map(|module| module.first()).cloned().collect();
        rooms.into_iter()
    }

    /// The file in which the thing stands that a path names.
    fn target(&self, from: &Module, path: &[String]) -> Option<Module> {
        // A program in `bin` is a crate of its own, and takes what the library exports by its name.
        let program =
            if from.first().is_some_and(|room| room == "bin") { from.get(..2).unwrap_or_default() } else { &[] };
        let mut absolute = if path[0] == "crate" { program.to_vec() } else { from.clone() };
        for segment in path {
            match segment.as_str() {
                "crate" | "self" => {}
                "super" => drop(absolute.pop()),
                name => absolute.push(name.to_owned()),
            }
        }
        (0..=absolute.len()).rev().map(|length| absolute[..length].to_vec()).find(|module| self.0.contains_key(module))
    }
}

fn module(file: &str) -> Module {
    let name = file.strip_suffix(".rs").unwrap_or(file);
    let name = name.strip_suffix("/mod").unwrap_or(name);
    if name == "lib" || name == "main" { Vec::new() } else { name.split('/').map(str::to_owned).collect() }
}

/// `#[cfg(test)] mod tests;` makes a file that is compiled for tests alone.
fn declared_for_tests(files: &BTreeMap<Module, syn::File>) -> Vec<Module> {
    let mut declared = Vec::new();
    for (module, file) in files {
        for item in &file.items {
            if let syn::Item::Mod(item) = item
                && item.attrs.iter().any(references::is_for_tests)
            {
                declared.push([module.as_slice(), &[item.ident.to_string()]].concat());
            }
        }
    }
    declared
}
