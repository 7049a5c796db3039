//! The value of the setting `database`: a file, or a PostgreSQL database.

use std::{fmt, path::PathBuf};

use super::{problem::rule, sources};
use crate::storage::postgres::settings::PostgresSettings;

/// The place of the database. It prints without user, password and options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatabasePlace {
    /// A SQLite file, for the servers of one machine.
    File(PathBuf),
    /// A PostgreSQL database, for any number of servers.
    Postgres(Box<PostgresSettings>),
}

impl fmt::Display for DatabasePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres(settings) => f.write_str(&settings.place()),
        }
    }
}

/// Reads the setting's value.
pub(super) fn parse(text: &str) -> Result<DatabasePlace, String> {
    if ["postgres://", "postgresql://"].iter().any(|scheme| text.starts_with(scheme)) {
        let settings = PostgresSettings::parse(text).map_err(|problem| rule(&problem))?;
        return Ok(DatabasePlace::Postgres(Box::new(settings)));
    }
    if text.contains("://") {
        return Err("must name a SQLite file, or begin with postgres://".to_owned());
    }
    sources::path(text).map(DatabasePlace::File)
}

/// The printable part of the value. A value that cannot be parsed may hold a password anywhere.
pub(super) fn shown(text: &str) -> String {
    parse(text).map_or_else(|_| "(an address)".to_owned(), |place| place.to_string())
}
