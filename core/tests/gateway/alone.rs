//! Process isolation: a test that measures or changes what belongs to a whole process runs in a child.

use std::{env, process::Command};

/// Runs one ignored test of this program, alone in a process that has these environment variables, too.
pub fn run(test: &str, variables: &[(&str, &str)]) {
    let child = Command::new(env::current_exe().unwrap())
        .args(["--ignored", "--exact", test])
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&child.stdout);
    let is_passed = child.status.success() && printed.contains("1 passed");
    assert!(is_passed, "{printed}{}", String::from_utf8_lossy(&child.stderr));
}
