//! A journal's steps on the file system, one by one, so that tests can stop before and after each.

use std::{
    fs::{self, OpenOptions, TryLockError},
    io::{self, Write},
    path::Path,
    time::SystemTime,
};

/// A lock, held until it is dropped.
pub(crate) type Guard = Box<dyn Send + Sync>;

/// A file system and a clock.
pub(crate) trait Disk: Send + Sync {
    fn now(&self) -> SystemTime;

    /// Creates a folder and its parents, durably.
    fn make_folders(&self, path: &Path) -> io::Result<()>;

    /// Creates a folder in an existing one. It is durable once the parent was flushed.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Creates an empty file, or fails if it exists (exclusive creation): of several callers, one succeeds.
    fn create(&self, path: &Path) -> io::Result<()>;

    /// Appends to an existing file.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Flushes the content of a file.
    fn sync_file(&self, path: &Path) -> io::Result<()>;

    /// Flushes the file list of a folder.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Locks a file, which it creates if needed, until the guard is dropped or its process ends (advisory lock). `None`
    /// if another owner has the lock.
    fn lock(&self, path: &Path) -> io::Result<Option<Guard>>;

    fn exists(&self, path: &Path) -> io::Result<bool>;

    /// The names in a folder, in no order.
    fn names(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<String>> + Send>>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove_file(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder that is empty.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
}

/// The machine's own file system and clock.
pub(crate) struct RealDisk;

impl Disk for RealDisk {
    fn now(&self) -> SystemTime {
        SystemTime::now()
    }

    fn make_folders(&self, path: &Path) -> io::Result<()> {
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        if let Some(parent) = parent.filter(|parent| !parent.is_dir()) {
            self.make_folders(parent)?;
        }
        self.make_folder(path)?;
        parent.map_or(Ok(()), |parent| self.sync_folder(parent))
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        match private_folder(path) {
            Err(problem) if problem.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            done => done,
        }
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        only_for_the_owner(&mut options);
        options.open(path).map(drop)
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        OpenOptions::new().append(true).open(path)?.write_all(bytes)
    }

    fn sync_file(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().append(true).open(path)?.sync_all()
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        fs::File::open(path)?.sync_all()
    }

    /// A folder cannot be flushed there; its file system keeps a log of names itself.
    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Guard>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        only_for_the_owner(&mut options);
        let file = options.open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(Locked::new(file)))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(problem)) => Err(problem),
        }
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match fs::exists(path) {
            // A foreign file has the name of a folder.
            Err(problem) if problem.kind() == io::ErrorKind::NotADirectory => Ok(false),
            found => found,
        }
    }

    fn names(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<String>> + Send>> {
        // A name that is not valid text belongs to a foreign file, and is shown lossily.
        let names = fs::read_dir(path)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        Ok(Box::new(names))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }
}

/// A forked child has the file, too, and with it the lock, so closing is not enough. The child does not unlock its parent's file.
struct Locked {
    file: fs::File,
    process: u32,
}

impl Locked {
    fn new(file: fs::File) -> Self {
        Self { file, process: std::process::id() }
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // If that fails, the lock ends with the last process that has the file open.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(unix)]
fn private_folder(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;

    fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn private_folder(path: &Path) -> io::Result<()> {
    fs::create_dir(path)
}

#[cfg(unix)]
fn only_for_the_owner(options: &mut OpenOptions) {
    use std::os::unix::fs::OpenOptionsExt;

    options.mode(0o600);
}

#[cfg(not(unix))]
fn only_for_the_owner(_options: &mut OpenOptions) {}
