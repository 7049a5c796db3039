//! What `check` finds.

/// How something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Ok,
    Warning,
    Wrong,
}

impl State {
    /// How its line begins.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Wrong => "wrong",
        }
    }
}

/// How something is, and what to do.
pub(crate) type Finding = (State, String);
