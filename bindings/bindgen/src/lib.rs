//! The generator of the code through which other languages call the native library. A library as well as a program, because cargo takes no
//! program for a dev-dependency, and a source distribution has only what its crate depends on.

mod python;

use std::{env, path::Path, process};

/// The program: for Python it writes tables; for Kotlin and Swift it is UniFFI's own.
pub fn generate() {
    let arguments: Vec<String> = env::args().collect();
    let after = |flags: &[&str]| {
        let at = arguments.iter().position(|argument| flags.contains(&argument.as_str()))?;
        arguments.get(at + 1)
    };
    let is_python = after(&["--language", "-l"]).is_some_and(|language| language == "python");
    let (true, Some(folder)) = (is_python, after(&["--out-dir", "-o"])) else { return uniffi::uniffi_bindgen_main() };
    let library =
        arguments.iter().skip(2).find(|argument| Path::new(argument).is_file() && !argument.ends_with(".toml"));
    let Some(library) = library else {
        eprintln!("no library is given");
        process::exit(2);
    };
    if let Err(error) = python::generate(library, Path::new(folder)) {
        eprintln!("{error:?}");
        process::exit(1);
    }
}
