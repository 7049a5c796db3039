//! The database's files, looked at before and after each commit. What is written to a file that was removed or replaced, nobody
//! finds after the next start: so nothing is read or written while one of them is not where it was opened.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::storage::error::StorageError;

/// What SQLite keeps beside the file for as long as it is open: the log with the newest commits, and the locks between processes.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Device and inode, by which the system tells files apart. One that is open keeps them, and nothing else gets them.
type Identity = (u64, u64);

/// The files that were opened; none where nothing is looked at.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: Vec<(PathBuf, Identity)>,
    is_trouble: AtomicBool,
    /// The trouble that was logged last.
    told: Mutex<Option<String>>,
}

impl Files {
    /// Those of a database that is open by now, so that all of them are there.
    pub(super) fn of(path: &Path) -> Result<Self, StorageError> {
        // Elsewhere a file that is open can be neither removed nor replaced.
        if !cfg!(unix) {
            return Ok(Self::default());
        }
        let unseen = |problem: io::Error| StorageError::failed(format!("{}: {problem}", path.display()));
        let mut known = vec![(path.to_owned(), identity(path).map_err(unseen)?)];
        // SQLite puts the others beside the file itself, where the path is a link to it.
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

    /// Before anything is read or written: whether all of them are where they were.
    pub(super) fn check(&self) -> Result<(), StorageError> {
        self.trouble().map_or(Ok(()), |detail| Err(StorageError::Unreachable { detail }))
    }

    /// After a commit. Where one is gone by now, what was written may be gone with it, or come back with it.
    pub(super) fn check_after_commit(&self) -> Result<(), StorageError> {
        self.trouble().map_or(Ok(()), |detail| Err(StorageError::failed(detail)))
    }

    fn trouble(&self) -> Option<String> {
        let found = self.look();
        if found.is_none() && !self.is_trouble.load(Ordering::Acquire) {
            return None;
        }
        // Looked at once more by one thread at a time, so that each change is told once.
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let found = self.look();
        if *told != found {
            match &found {
                Some(trouble) => tracing::error!(
                    target: "kassa_server",
                    trouble,
                    "the database's files are not in their places: nothing is read, written or sent"
                ),
                None => tracing::info!(target: "kassa_server", "the database's files are in their places again"),
            }
            self.is_trouble.store(found.is_some(), Ordering::Release);
            told.clone_from(&found);
        }
        found
    }

    fn look(&self) -> Option<String> {
        self.known.iter().find_map(|(path, known)| trouble_of(path, *known))
    }
}

fn trouble_of(path: &Path, known: Identity) -> Option<String> {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn the_same_file_alone_will_do() {
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
    fn a_link_leads_to_the_files() {
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
