//! The database's file: who may read it, and who may bring it up.

use std::path::Path;

use kassa_server::{DatabaseFile, SqliteStorage};

use super::failure::{Done, Failure};

/// Opens it for a server: made where it is missing, and brought up where it is an older server's.
pub(crate) fn open(path: &Path) -> Done<SqliteStorage> {
    make_private(path).map_err(|problem| of(path, &problem))?;
    SqliteStorage::open(path).map_err(|problem| of(path, &problem))
}

/// Opens it for a command beside a server. It does not bring it up: a server that runs would not know it any more.
pub(crate) fn open_beside(path: &Path) -> Done<SqliteStorage> {
    match SqliteStorage::look(path).map_err(|problem| of(path, &problem))? {
        DatabaseFile::Older { found } => {
            let sentence = "it is an older server's, and the next start of this one brings it up: start it first";
            Err(of(path, &format!("{sentence} (version {found})")))
        }
        _ => open(path),
    }
}

fn of(path: &Path, problem: &dyn std::fmt::Display) -> Failure {
    Failure::new(format!("{}: {problem}", path.display()))
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
