//! The database: opened, looked at; of a file, who may read it.

use std::{path::Path, sync::Arc};

use kassa_server::{DatabaseFile, PostgresStorage, SqliteStorage, Storage, StorageError, settings::DatabasePlace};

use super::{
    failure::{Done, Failure},
    output::note,
};

/// Opens it for a server: made where it is missing, and brought up where it is an older server's.
pub(crate) async fn open(place: &DatabasePlace) -> Done<Arc<dyn Storage>> {
    try_open(place).await.map_err(Failure::new)
}

/// The same, with the problem as a sentence.
pub(crate) async fn try_open(place: &DatabasePlace) -> Result<Arc<dyn Storage>, String> {
    let of = |problem: &dyn std::fmt::Display| format!("{place}: {problem}");
    Ok(match place {
        DatabasePlace::File(path) => {
            make_private(path).map_err(|problem| of(&problem))?;
            Arc::new(SqliteStorage::open(path).map_err(|problem| of(&problem))?)
        }
        DatabasePlace::Postgres(settings) => {
            Arc::new(PostgresStorage::open(settings).await.map_err(|problem| of(&problem))?)
        }
    })
}

/// What a command does where there is no database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IfMissing {
    Make,
    Refuse,
}

/// Opens it for a command beside a server. It does not bring it up: a server that runs might not know it any more.
pub(crate) async fn open_beside(place: &DatabasePlace, if_missing: IfMissing) -> Done<Arc<dyn Storage>> {
    match look(place).await.map_err(|problem| Failure::new(format!("{place}: {problem}")))? {
        DatabaseFile::Older { found } => {
            let sentence = "it is an older server's, and the next start of this one brings it up: start it first";
            Err(Failure::new(format!("{place}: {sentence} (version {found})")))
        }
        DatabaseFile::Missing if if_missing == IfMissing::Refuse => {
            let sentence = format!("there is no database {place}: name it by --database or in the settings file");
            Err(Failure::new(sentence))
        }
        DatabaseFile::Missing => {
            let storage = open(place).await?;
            note(format_args!("There was no database, so this one was made: {place}"));
            Ok(storage)
        }
        _ => open(place).await,
    }
}

/// What there is. It stays as it is.
pub(crate) async fn look(place: &DatabasePlace) -> Result<DatabaseFile, StorageError> {
    match place {
        DatabasePlace::File(path) => SqliteStorage::look(path),
        DatabasePlace::Postgres(settings) => PostgresStorage::look(settings).await,
    }
}

/// What is in it concerns its owner alone. SQLite gives the files beside it the same permissions.
#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::{fs::OpenOptions, io::ErrorKind, os::unix::fs::OpenOptionsExt};
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(problem) if problem.kind() != ErrorKind::AlreadyExists => Err(problem),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn make_private(_: &Path) -> std::io::Result<()> {
    Ok(())
}
