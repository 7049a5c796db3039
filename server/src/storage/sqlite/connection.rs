//! Connections to the file: their settings, the database's clock, and migrations.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior, config::DbConfig, functions::FunctionFlags};

use crate::{
    storage::StorageError,
    values::{Millis, millis},
};

/// Migration N brings a database from version N to N + 1. A released migration is never edited.
const MIGRATIONS: [&str; 1] = [include_str!("migration_1.sql")];

/// The version that this server writes.
pub const VERSION: i64 = MIGRATIONS.len() as i64;

pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
const BUSY_PAUSE: Duration = Duration::from_millis(10);
/// The size of the page cache.
const CACHE_KIB: i64 = 32 * 1024;
/// The length of the write-ahead log at which it is written back: 64 MB.
const LOG_PAGES: i64 = 16_000;
/// Room for every statement that is used.
const CACHED_STATEMENTS: usize = 128;

/// The database's clock, in milliseconds since the beginning of 1970.
pub type DatabaseClock = Arc<dyn Fn() -> Millis + Send + Sync>;

/// The machine's clock.
pub fn real_clock() -> DatabaseClock {
    Arc::new(|| std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, millis))
}

/// A connection that writes. Missing migrations are run; a newer file is refused, and not changed.
///
/// # Errors
/// [`StorageError::Newer`], or [`StorageError::Failed`] if the file cannot be used.
pub fn open_writer(path: &Path, clock: DatabaseClock) -> Result<Connection, StorageError> {
    writer(Connection::open(path)?, clock)
}

/// A database in memory, for tests.
///
/// # Errors
/// [`StorageError::Failed`] if there is no memory.
pub fn open_in_memory(clock: DatabaseClock) -> Result<Connection, StorageError> {
    writer(Connection::open_in_memory()?, clock)
}

fn writer(mut connection: Connection, clock: DatabaseClock) -> Result<Connection, StorageError> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // Checked before anything is set.
    refuse_newer(&connection)?;
    refuse_foreign(&connection)?;
    write_ahead(&connection)?;
    // A payment that was sent must not be forgotten by a power cut.
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // A phone that is wiped must not stay in a page as free space.
    connection.pragma_update(None, "secure_delete", "FAST")?;
    // A group of 256 payments changes thousands of pages: they fit the cache, and the log is written back after many groups
    // instead of after each.
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "wal_autocheckpoint", LOG_PAGES)?;
    // Savepoint data stays in memory: otherwise pages of the database would be written to files elsewhere.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    prepare(&connection, clock)?;
    migrate(&mut connection)?;
    Ok(connection)
}

/// Turns the write-ahead log on. While another process does the same with a new file, SQLite does not wait by itself.
fn write_ahead(connection: &Connection) -> rusqlite::Result<()> {
    let until = Instant::now() + BUSY_TIMEOUT;
    loop {
        match connection.pragma_update(None, "journal_mode", "WAL") {
            Err(problem) if is_busy(&problem) && Instant::now() < until => thread::sleep(BUSY_PAUSE),
            done => return done,
        }
    }
}

fn is_busy(problem: &rusqlite::Error) -> bool {
    matches!(problem.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// A connection that only reads.
///
/// # Errors
/// [`StorageError::Failed`] if the file cannot be used.
pub fn open_reader(path: &Path, clock: DatabaseClock) -> Result<Connection, StorageError> {
    let connection = Connection::open(path)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.pragma_update(None, "query_only", true)?;
    prepare(&connection, clock)?;
    Ok(connection)
}

fn prepare(connection: &Connection, clock: DatabaseClock) -> Result<(), StorageError> {
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    // Query planner stability: otherwise a statement is recompiled for each new bound value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.create_scalar_function("now_ms", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(clock()))?;
    Ok(())
}

/// The time, by the database's clock.
pub(super) fn now(db: &Connection) -> Result<Millis, StorageError> {
    Ok(db.prepare_cached("SELECT now_ms()")?.query_row([], |row| row.get(0))?)
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn refuse_newer(connection: &Connection) -> Result<(), StorageError> {
    match version(connection)? {
        found if found > VERSION => Err(StorageError::Newer { found, supported: VERSION }),
        _ => Ok(()),
    }
}

/// Another program's tables are left alone.
fn refuse_foreign(connection: &Connection) -> Result<(), StorageError> {
    if is_foreign(connection)? { Err(StorageError::failed("it is another program's")) } else { Ok(()) }
}

/// Whether there are tables, but none of a server.
pub(super) fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    // One statement, because another process may be creating them.
    let sql = "SELECT (SELECT user_version FROM pragma_user_version) = 0 AND EXISTS (SELECT 1 FROM sqlite_master)";
    connection.query_row(sql, [], |row| row.get(0))
}

/// Runs the missing migrations, all or none. Two servers that start at once wait for each other.
fn migrate(connection: &mut Connection) -> Result<(), StorageError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    refuse_newer(&transaction)?;
    let done = usize::try_from(version(&transaction)?).unwrap_or_default();
    for migration in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", VERSION)?;
    Ok(transaction.commit()?)
}

// The database's files, checked before and after each commit. Writes to a removed or replaced file are lost after the next start:
// so nothing is read or written while one of them is not where it was opened.

/// The files that SQLite adds to an open database: the log with the newest commits, and the locks between processes.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Device and inode, which identify a file. An open file keeps them, and no other file gets them.
type Identity = (u64, u64);

/// The opened files; empty if they are not checked.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: Vec<(PathBuf, Identity)>,
    has_problem: AtomicBool,
    /// The last logged problem.
    logged: Mutex<Option<String>>,
}

impl Files {
    /// The files of an open database, when all of them exist.
    pub(super) fn of(path: &Path) -> Result<Self, StorageError> {
        // On other systems an open file can be neither removed nor replaced.
        if !cfg!(unix) {
            return Ok(Self::default());
        }
        let unseen = |problem: io::Error| StorageError::failed(format!("{}: {problem}", path.display()));
        let mut known = vec![(path.to_owned(), identity(path).map_err(unseen)?)];
        // SQLite puts the others beside the file itself, if the path is a link to it.
        let real = fs::canonicalize(path).map_err(unseen)?;
        for end in BESIDE {
            let mut name = real.clone().into_os_string();
            name.push(end);
            let file = PathBuf::from(name);
            if let Ok(identity) = identity(&file) {
                known.push((file, identity));
            }
        }
        Ok(Self { known, ..Self::default() })
    }

    /// Checks, before a read or write, that all files are in their places.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        self.file_problem().map_or(Ok(()), |detail| Err(StorageError::Unreachable { detail }))
    }

    /// Checks after a commit. If a file is gone, the commit may be lost with it, or come back with it.
    pub(super) fn check_after_commit(&self) -> Result<(), StorageError> {
        self.file_problem().map_or(Ok(()), |detail| Err(StorageError::failed(detail)))
    }

    fn file_problem(&self) -> Option<String> {
        let found = self.look();
        if found.is_none() && !self.has_problem.load(Ordering::Acquire) {
            return None;
        }
        // One thread at a time checks again, so that each change is logged once.
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.look();
        if *logged != found {
            match &found {
                Some(problem) => tracing::error!(
                    target: "kassa_server",
                    problem,
                    "the database's files are not in their places: nothing is read, written or sent"
                ),
                None => tracing::info!(target: "kassa_server", "the database's files are in their places again"),
            }
            self.has_problem.store(found.is_some(), Ordering::Release);
            logged.clone_from(&found);
        }
        found
    }

    fn look(&self) -> Option<String> {
        self.known.iter().find_map(|(path, known)| problem_of(path, *known))
    }
}

fn problem_of(path: &Path, known: Identity) -> Option<String> {
    let path_shown = path.display();
    match identity(path) {
        Ok(found) if found == known => None,
        Ok(_) => Some(format!(
            "the database file was replaced: {path_shown} is another one. Put the same file back, or start the server again"
        )),
        Err(problem) if problem.kind() == io::ErrorKind::NotFound => Some(format!(
            "the database file was removed or moved: {path_shown}. Put the same file back; another one needs a new start"
        )),
        Err(problem) => Some(format!("the database file cannot be looked at: {path_shown}: {problem}")),
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Identity> {
    use std::os::unix::fs::MetadataExt;
    let found = fs::metadata(path)?;
    Ok((found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> io::Result<Identity> {
    Ok((0, 0))
}

// The state of a file, read without changing it.

/// The state of the file at the database's path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseFile {
    /// It does not exist: it will be created.
    Missing,
    /// A database of this server's version.
    Current,
    /// An older server's database. It is migrated when it is opened.
    Older {
        /// Its version.
        found: i64,
    },
    /// Tables of some other program.
    Foreign,
}

/// Opens a file only for reading.
pub(super) fn open_to_look(path: &Path) -> Result<Connection, StorageError> {
    let connection = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(connection)
}

/// Reads the state of a file, without changing it.
pub(super) fn look(path: &Path) -> Result<DatabaseFile, StorageError> {
    if !path.exists() {
        return Ok(DatabaseFile::Missing);
    }
    let connection = open_to_look(path)?;
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    /// So few that none of them waits too long for a disk that is slow.
    const OPENERS: usize = 3;

    /// SQLite itself does not wait there.
    #[test]
    fn sqlite_file_can_be_created_concurrently() {
        for _ in 0..10 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("kassa.db");
            let start = Barrier::new(OPENERS);
            let open = || {
                start.wait();
                open_writer(&path, real_clock()).map(drop)
            };
            thread::scope(|scope| {
                let begun: Vec<_> = (0..OPENERS).map(|_| scope.spawn(open)).collect();
                for one in begun {
                    assert_eq!(one.join().unwrap(), Ok(()));
                }
            });
        }
    }
}

#[cfg(all(test, unix))]
mod files_tests {
    use super::*;

    #[test]
    fn sqlite_check_rejects_replaced_file() {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        for name in ["kassa.db", "kassa.db-wal"] {
            fs::write(in_folder(name), name).unwrap();
        }
        let files = Files::of(&in_folder("kassa.db")).unwrap();
        assert_eq!(files.check(), Ok(()));
        for name in ["kassa.db", "kassa.db-wal"] {
            fs::rename(in_folder(name), in_folder("aside")).unwrap();
            let moved = files.check().unwrap_err();
            assert!(moved.wrote_nothing() && moved.to_string().contains("was removed or moved"), "{moved}");
            assert!(!files.check_after_commit().unwrap_err().wrote_nothing(), "it may have been written");
            fs::copy(in_folder("aside"), in_folder(name)).unwrap();
            let replaced = files.check().unwrap_err();
            assert!(replaced.to_string().contains("was replaced"), "{replaced}");
            fs::rename(in_folder("aside"), in_folder(name)).unwrap();
            assert_eq!((files.check(), files.check_after_commit()), (Ok(()), Ok(())));
        }
    }

    #[test]
    fn sqlite_symlink_resolves_to_database_files() {
        let folder = tempfile::tempdir().unwrap();
        let in_folder = |name: &str| folder.path().join(name);
        for name in ["kassa.db", "kassa.db-wal"] {
            fs::write(in_folder(name), name).unwrap();
        }
        std::os::unix::fs::symlink(in_folder("kassa.db"), in_folder("link.db")).unwrap();
        let files = Files::of(&in_folder("link.db")).unwrap();
        assert_eq!(files.check(), Ok(()));
        fs::remove_file(in_folder("kassa.db-wal")).unwrap();
        assert!(files.check().is_err());
    }
}
