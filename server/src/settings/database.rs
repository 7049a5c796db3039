//! The settings of the database: its place, and how to connect to PostgreSQL.

use super::{
    database_place::{self, DatabasePlace},
    problem::{SettingProblem, Source},
    sources::{self, Sources},
    table::{DATABASE, DATABASE_CA, DATABASE_CONNECTIONS, DATABASE_PASSWORD, DATABASE_PASSWORD_FILE},
    values::{Parsed, Values},
};
use crate::{storage::postgres::settings::PostgresSettings, values::Hidden};

const IN_CLEAR: &str =
    "database contains sslmode=disable: the password and all payment data are sent unencrypted to another machine";
const FOR_POSTGRES: &str = "applies only to PostgreSQL: database names a file, so it has no effect";

impl DatabasePlace {
    /// Reads only the place of the database, for commands that need nothing else.
    ///
    /// # Errors
    /// The problem of the setting, or of the settings file as a whole.
    pub fn read(sources: &Sources) -> Result<Self, Vec<SettingProblem>> {
        let mut values = Values::collect(sources);
        match read(&mut values) {
            Ok(place) if values.problems.is_empty() => Ok(place),
            _ => Err(values.problems),
        }
    }
}

pub(super) fn read(values: &mut Values) -> Parsed<DatabasePlace> {
    let place = values.read(&DATABASE, database_place::parse);
    let password = values.secret(&DATABASE_PASSWORD, &DATABASE_PASSWORD_FILE, password);
    let connections = values.read(&DATABASE_CONNECTIONS, sources::count(1..=500));
    let ca = values.optional(&DATABASE_CA, sources::path);
    match place? {
        DatabasePlace::File(path) => {
            for setting in [&DATABASE_PASSWORD, &DATABASE_PASSWORD_FILE, &DATABASE_CA, &DATABASE_CONNECTIONS] {
                if values.is_given(setting) {
                    values.warnings.push(format!("{} {FOR_POSTGRES}", setting.name));
                }
            }
            Ok(DatabasePlace::File(path))
        }
        DatabasePlace::Postgres(settings) => {
            let settings = with_password(values, *settings, password?)?.with_connections(connections?);
            let (settings, named) = match ca? {
                Some(path) => (settings.with_ca_file(&path), &DATABASE_CA),
                None => (settings, &DATABASE),
            };
            if let Err(problem) = settings.tls() {
                return Err(values.wrong(named, format!("cannot be used: {problem}")));
            }
            if settings.is_in_clear() {
                values.warnings.push(IN_CLEAR.to_owned());
            }
            Ok(DatabasePlace::Postgres(Box::new(settings)))
        }
    }
}

fn password(text: &str) -> Result<Hidden, String> {
    if text.is_empty() || text.chars().any(char::is_control) {
        return Err("must be a password, without control characters".to_owned());
    }
    Ok(Hidden::new(text))
}

/// The password is given in one place, and in none that every user can read.
fn with_password(
    values: &mut Values,
    settings: PostgresSettings,
    password: Option<Hidden>,
) -> Parsed<PostgresSettings> {
    if !settings.has_password() {
        return Ok(password.iter().fold(settings, |settings, password| settings.with_password(password.expose())));
    }
    if password.is_some() {
        let rule = "must not contain a password if database_password or database_password_file is set";
        return Err(values.wrong(&DATABASE, rule));
    }
    match values.given(&DATABASE).map(|given| given.source) {
        Some(Source::Flag(_)) => {
            let rule = "must not contain a password, because every user of this machine can read a program's flags: use \
                database_password or database_password_file";
            Err(values.wrong(&DATABASE, rule))
        }
        Some(Source::File { path, .. }) => {
            values.warn_of_readers(&path);
            Ok(settings)
        }
        _ => Ok(settings),
    }
}
