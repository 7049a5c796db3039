//! Where settings come from: flags, then environment variables, then a file.

use std::{collections::BTreeMap, env, ffi::OsString, path::PathBuf};

/// What was given to the program, unread.
pub struct Sources {
    /// The settings file, where there is one.
    pub file: Option<PathBuf>,
    /// The environment.
    pub variables: BTreeMap<OsString, OsString>,
    /// What flags say, by the names of settings.
    pub flags: BTreeMap<&'static str, OsString>,
}

impl Sources {
    /// The environment alone.
    pub fn of_environment() -> Self {
        Self { file: None, variables: env::vars_os().collect(), flags: BTreeMap::new() }
    }

    /// An empty variable is one that is not set.
    pub(super) fn variable(&self, name: &str) -> Option<&OsString> {
        self.variables.get(&OsString::from(name)).filter(|value| !value.is_empty())
    }
}
