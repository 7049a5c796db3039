//! The seeds, which were written by hand, and the inputs that the engine has found so far, each read again.

use std::{
    fs,
    path::{Path, PathBuf},
};

use kassa_fuzz::{TARGETS, Target, corpus, target};

/// No input may make anything panic, and each target has seeds.
#[test]
fn nothing_that_was_found_breaks_anything() {
    for target in &TARGETS {
        let seeds = entries(&folder("seeds").join(target.name));
        assert!(!seeds.is_empty(), "{} has no seeds", target.name);
        for path in seeds {
            run(target, &path.display().to_string(), &fs::read(&path).unwrap());
        }
        for (index, bytes) in corpus::packed(&folder("corpus"), target.name).unwrap().iter().enumerate() {
            run(target, &format!("corpus/{}.base64:{}", target.name, index + 1), bytes);
        }
    }
}

fn run(target: &Target, place: &str, bytes: &[u8]) {
    println!("{place}"); // shown where it fails: the last one
    (target.run)(bytes);
}

/// Inputs under a name that is no target's would be read by nobody.
#[test]
fn all_inputs_belong_to_a_target() {
    for path in entries(&folder("seeds")).iter().chain(&entries(&folder("corpus"))) {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(target(name.trim_end_matches(".base64")).is_some(), "{name} is no target");
    }
}

/// Any bytes come back from a pack, no bytes among them; what is not base64 is named by its line.
#[test]
fn pack_has_an_input_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let packed = || corpus::packed(folder.path(), "response");
    assert!(packed().unwrap().is_empty());
    fs::write(folder.path().join("response.base64"), "\nAAr/\ne30=\n").unwrap();
    assert_eq!(packed().unwrap(), [b"".to_vec(), b"\x00\n\xff".to_vec(), b"{}".to_vec()]);
    fs::write(folder.path().join("response.base64"), "e30=\n<<<<<<<\n").unwrap();
    assert!(packed().unwrap_err().to_string().starts_with("line 2: "));
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}
