//! What a file is, told without changing it.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::connection::{BUSY_TIMEOUT, VERSION, is_foreign};
use crate::storage::error::StorageError;

/// What stands in the place of a database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseFile {
    /// Nothing yet: it will be made.
    Missing,
    /// A database of this server's version.
    Current,
    /// One of an older server's. It is brought up when it is opened.
    Older {
        /// Its version.
        found: i64,
    },
    /// Tables of some other program.
    Foreign,
}

/// Looks at a file, and leaves it as it is.
pub(super) fn look(path: &Path) -> Result<DatabaseFile, StorageError> {
    if !path.exists() {
        return Ok(DatabaseFile::Missing);
    }
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    if is_foreign(&connection)? {
        return Ok(DatabaseFile::Foreign);
    }
    match connection.pragma_query_value(None, "user_version", |row| row.get(0))? {
        VERSION => Ok(DatabaseFile::Current),
        found if found > VERSION => Err(StorageError::Newer { found, supported: VERSION }),
        0 => Ok(DatabaseFile::Missing),
        found => Ok(DatabaseFile::Older { found }),
    }
}
