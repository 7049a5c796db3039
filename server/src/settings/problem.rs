//! Problems of settings: the setting, its source and the rule. It never contains a value, which may
//! be a secret in the wrong place.

use std::{fmt, path::PathBuf};

use super::table::Setting;
use crate::values::error::ServerError;

/// The sentence of a violation, without the library's name for the field.
pub(super) fn rule(problem: &ServerError) -> String {
    match problem {
        ServerError::Invalid { violations } => {
            let rules = violations.iter().map(|one| one.text.strip_prefix(&one.field).unwrap_or(&one.text).trim());
            rules.collect::<Vec<_>>().join(", and ")
        }
        other => format!("cannot be used: {other}"),
    }
}

/// The source of a setting's value, from the weakest to the strongest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// The table's default.
    Default,
    /// A line of the settings file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// The setting's environment variable.
    Variable(&'static str),
    /// The setting's flag.
    Flag(&'static str),
}

impl Source {
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Default => 0,
            Self::File { .. } => 1,
            Self::Variable(_) => 2,
            Self::Flag(_) => 3,
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Variable(name) => f.write_str(name),
            Self::Flag(name) => write!(f, "--{name}"),
        }
    }
}

/// One problem of the settings. All problems are reported at once.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} {rule}")]
pub struct SettingProblem {
    /// The setting and its source, or only the source.
    what: String,
    /// The rule that it must satisfy.
    rule: String,
}

impl SettingProblem {
    /// A value that cannot be used. The rule says what it must be.
    pub(super) fn of(setting: &Setting, source: &Source, rule: impl Into<String>) -> Self {
        Self { what: format!("{} ({source})", setting.name), rule: rule.into() }
    }

    /// A missing setting, with all ways to set it.
    pub(super) fn missing(setting: &Setting, why: &str) -> Self {
        let flag = setting.flag.map(|flag| format!(" or --{flag}")).unwrap_or_default();
        let rule = format!("must be set{why}: in the settings file, or by {}{flag}", setting.variable);
        Self { what: format!("{} (not set)", setting.name), rule }
    }

    /// A problem at a place that does not belong to a setting.
    pub(super) fn at(place: impl fmt::Display, rule: impl Into<String>) -> Self {
        Self { what: place.to_string(), rule: rule.into() }
    }
}
