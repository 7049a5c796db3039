//! Generates the foreign side from the native library, by the workspace's `uniffi.toml` unless told otherwise.

use std::{
    env,
    path::Path,
    process::{Command, ExitCode},
};

/// Builders of packages (maturin) call this program without naming a configuration.
fn main() -> ExitCode {
    let lacks_config = env::args().any(|arg| arg == "generate") && !env::args().any(|arg| arg.starts_with("--config"));
    let Some(config) = nearest_config().filter(|_| lacks_config) else {
        uniffi::uniffi_bindgen_main();
        return ExitCode::SUCCESS;
    };
    // The generator reads its own command line, so it is given another one.
    let program = env::current_exe().expect("a program knows where it is");
    let status = Command::new(program).args(env::args_os().skip(1)).arg("--config").arg(config).status();
    if status.expect("a program can start itself").success() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// At the top of the repository; in a source package, at its top.
fn nearest_config() -> Option<std::path::PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .map(|folder| folder.join("uniffi.toml"))
        .find(|file| file.exists())
}
