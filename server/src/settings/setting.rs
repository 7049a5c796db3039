//! What a setting is: one row of the table.

/// A setting of the program: one row of the table that the file, the variables, the flags, `--help`, `check` and the
/// operators' page come from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// Its name. In the file what stands before the point is the table: `gateway.url` is `url` in `[gateway]`.
    pub name: &'static str,
    /// The environment variable.
    pub variable: &'static str,
    /// The flag, without its hyphens. A secret has none: every user of a machine reads the flags of all its programs.
    pub flag: Option<&'static str>,
    /// What it takes, with the unit.
    pub value: &'static str,
    /// What counts where it is not given.
    pub if_unset: IfUnset,
    /// What it does.
    pub meaning: &'static str,
    /// How much of it may be printed.
    pub shown: Shown,
}

/// What counts where a setting is not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfUnset {
    /// This value.
    Value(&'static str),
    /// Nothing; what that means, in words.
    Nothing(&'static str),
    /// The server does not start.
    Needed,
}

/// How much of a setting's value may be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All of it.
    Whole,
    /// Of an address its scheme, host and port: its path may be a secret of its owner's.
    Origin,
    /// Of a database its file, or its host and name: its address may hold a password.
    Place,
    /// Nothing: it is a secret.
    Hidden,
}

impl Setting {
    pub(super) const fn new(
        name: &'static str,
        variable: &'static str,
        flag: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, variable, flag: Some(flag), value, if_unset: IfUnset::Needed, meaning, shown: Shown::Whole }
    }

    pub(super) const fn secret(
        name: &'static str,
        variable: &'static str,
        value: &'static str,
        meaning: &'static str,
    ) -> Self {
        Self { name, variable, flag: None, value, if_unset: IfUnset::Needed, meaning, shown: Shown::Hidden }
    }

    pub(super) const fn or(self, default: &'static str) -> Self {
        Self { if_unset: IfUnset::Value(default), ..self }
    }

    pub(super) const fn or_nothing(self, meaning: &'static str) -> Self {
        Self { if_unset: IfUnset::Nothing(meaning), ..self }
    }

    pub(super) const fn shown_as_origin(self) -> Self {
        Self { shown: Shown::Origin, ..self }
    }

    pub(super) const fn shown_as_place(self) -> Self {
        Self { shown: Shown::Place, ..self }
    }

    /// Whether its value is a secret.
    pub fn is_secret(&self) -> bool {
        self.shown == Shown::Hidden
    }
}
