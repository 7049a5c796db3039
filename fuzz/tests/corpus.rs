//! The seeds, which were written by hand, and the inputs that the engine has found so far, each read again.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use kassa_fuzz::TARGETS;

/// No input may make anything panic, and each target has seeds.
#[test]
fn nothing_that_was_found_breaks_anything() {
    for target in TARGETS {
        let seeds = inputs("seeds", target.name).unwrap();
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        let found = inputs("corpus", target.name).unwrap_or_default();
        for path in seeds.into_iter().chain(found) {
            println!("{}", path.display()); // shown where it fails: the last one
            (target.run)(&fs::read(&path).unwrap());
        }
    }
}

fn inputs(folder: &str, target: &str) -> io::Result<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(target);
    fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect()
}
