//! Whether the file takes writes.

use rusqlite::Connection;

use super::connection::version;
use crate::storage::error::StorageError;

/// Writes a page that changes nothing. SQLite leaves out an update of a row that is the same afterwards, and this it writes.
pub(super) fn check(db: &Connection) -> Result<(), StorageError> {
    // What was read in this transaction: a newer server may have brought the file up.
    Ok(db.pragma_update(None, "user_version", version(db)?)?)
}

#[cfg(test)]
mod tests {
    use super::{
        super::connection::{VERSION, open_writer, real_clock},
        *,
    };

    #[test]
    fn it_is_written_to_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        let db = open_writer(&folder.path().join("kassa.db"), real_clock()).unwrap();
        let length = || std::fs::metadata(folder.path().join("kassa.db-wal")).unwrap().len();
        let before = length();
        for _ in 0..2 {
            db.execute_batch("BEGIN IMMEDIATE").unwrap();
            check(&db).unwrap();
            db.execute_batch("COMMIT").unwrap();
        }
        assert!(length() >= before + 2 * 4096, "{before} and {}", length());
        assert_eq!(version(&db), Ok(VERSION));
    }
}
