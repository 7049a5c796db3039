//! Finished entries: moves between the folders `open` and `done`, and pruning.

use std::{
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Shared,
    lines::{History, Line, Step},
};
use crate::journal::entry::{self, JournalState};

/// How many times longer than entries the owner files of numbers are retained: a number may be claimed again for another order much
/// later.
const OWNER_RETENTION_FACTOR: u32 = 10;

impl Shared {
    /// Finishes an entry and moves it to the finished ones. False if there is no such entry.
    pub(super) fn finish(&self, name: &str) -> io::Result<bool> {
        let found = self.retry_if_moved(|| {
            let Some(path) = self.find(name)? else { return Ok(None) };
            if !path.starts_with(&self.done) {
                self.append(&path, &Line::of(Step::Finished, self.disk.now()))?;
            }
            Ok(Some(path))
        })?;
        let Some(path) = found else { return Ok(false) };
        if path.starts_with(&self.done) {
            return Ok(true);
        }
        match self.archive_finished(name, &path) {
            // A process that lists the unfinished entries has just moved it.
            Err(problem) if problem.kind() == ErrorKind::NotFound => match self.find(name)? {
                Some(path) => self.disk.sync_file(&path)?,
                None => return Err(problem),
            },
            done => done?,
        }
        Ok(true)
    }

    fn archive_finished(&self, name: &str, path: &Path) -> io::Result<()> {
        self.disk.sync_file(path)?;
        // A rejected payment is still polled.
        match History::read(name, &self.disk.read(path)?) {
            Ok(history) if !history.is_done_with(self.disk.now()) => Ok(()),
            _ => self.archive(name, path),
        }
    }

    /// Moves an entry to the finished ones, durably.
    pub(super) fn archive(&self, name: &str, path: &Path) -> io::Result<()> {
        let folder = self.folder_of_now(&self.done)?;
        self.move_to(name, path, &folder)?;
        // A charge may have been recorded just before the move. It is not delivered yet.
        let path = folder.join(name);
        let history = History::read(name, &self.disk.read(&path)?);
        if history.is_ok_and(|history| history.entry.state == JournalState::Charged && !history.entry.is_finished) {
            self.bring_back(name, &path)?;
        }
        Ok(())
    }

    /// The folder of this month.
    pub(super) fn folder_of_now(&self, place: &Path) -> io::Result<PathBuf> {
        // A clock that was set back must not put an entry into a folder that is pruned at once.
        let month = entry::of_month(self.disk.now());
        let newest = self.folders(place)?.pop();
        let folder = newest.into_iter().fold(place.join(month), Ord::max);
        self.disk.make_folder(&folder)?;
        self.disk.sync_folder(place)?;
        Ok(folder)
    }

    /// Moves an entry back to the unfinished ones, durably.
    pub(super) fn bring_back(&self, name: &str, path: &Path) -> io::Result<PathBuf> {
        let folder = self.open.join(entry::of_day(self.disk.now()));
        self.disk.make_folder(&folder)?;
        self.flush_name_of(&folder)?;
        self.move_to(name, path, &folder)?;
        Ok(folder.join(name))
    }

    fn move_to(&self, name: &str, path: &Path, folder: &Path) -> io::Result<()> {
        let target = folder.join(name);
        let is_there = self.disk.exists(&target)?;
        if is_there && self.disk.exists(path)? {
            return Err(io::Error::new(ErrorKind::AlreadyExists, format!("there are two entries called {name}")));
        }
        match self.disk.rename(path, &target) {
            // Another process has just done it.
            Err(problem) if problem.kind() == ErrorKind::NotFound && self.disk.exists(&target)? => return Ok(()),
            done => done?,
        }
        self.disk.sync_folder(folder)?;
        path.parent().map_or(Ok(()), |folder| self.disk.sync_folder(folder))
    }

    /// Removes entries that were finished longer ago, and owner files that are ten times as old.
    pub(super) fn prune(&self, older_than: Duration) -> io::Result<()> {
        self.prune_in(&self.done, older_than)?;
        self.prune_in(&self.paid, older_than.saturating_mul(OWNER_RETENTION_FACTOR))
    }

    /// Removes the folders of months that ended before. A clock that runs ahead counts no further than the newest folder.
    fn prune_in(&self, place: &Path, older_than: Duration) -> io::Result<()> {
        let Some(then) = self.disk.now().checked_sub(older_than) else { return Ok(()) };
        let done = self.folders(place)?;
        let newest = [done.last().cloned(), self.folders(&self.open)?.pop()];
        let newest = newest.iter().flatten().filter_map(|folder| entry::end_of(folder)).max();
        let then = match newest.and_then(|newest| newest.checked_sub(older_than)) {
            Some(by_folders) => then.min(by_folders),
            None => return Ok(()),
        };
        let first_retained = place.join(entry::of_month(then));
        for folder in done.into_iter().filter(|folder| *folder < first_retained) {
            for name in self.disk.names(&folder)? {
                gone(self.disk.remove_file(&folder.join(name?)))?;
            }
            gone(self.disk.remove_folder(&folder))?;
        }
        Ok(())
    }
}

/// Another process may have removed it just before.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    match removed {
        Err(problem) if problem.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}
