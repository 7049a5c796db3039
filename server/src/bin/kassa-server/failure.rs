//! Why a command could not do what it was asked, in words for a terminal.

use std::fmt;

use kassa_server::settings::SettingProblem;

/// What ends a command. It is printed as it is.
#[derive(Debug)]
pub(crate) struct Failure(String);

/// What a command comes to.
pub(crate) type Done<T> = Result<T, Failure>;

impl Failure {
    /// One sentence.
    pub(crate) fn new(sentence: impl fmt::Display) -> Self {
        Self(format!("kassa-server: {sentence}"))
    }

    /// Everything that is wrong with the settings, a line each.
    pub(crate) fn settings(problems: &[SettingProblem]) -> Self {
        let lines = problems.iter().map(|problem| format!("\n  {problem}"));
        Self(format!("kassa-server: the settings cannot be used:{}", lines.collect::<String>()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
