//! Iteration over the unfinished entries, the oldest first, in little memory.

use std::{io, iter, path::PathBuf, time::Duration, vec};

use super::{Journal, Rejected, lines::History, unreadable};
use crate::{
    error::PaymentError,
    journal::entry::{self, JournalState, Unfinished},
};

/// How many entries of a day are read and sorted at once.
const AT_ONCE: usize = 2048;

/// Iterator over the unfinished entries of a [`Journal`].
pub struct UnfinishedEntries {
    journal: Journal,
    rejected: Rejected,
    /// The folders that are not read yet, the oldest last.
    folders: Option<Vec<PathBuf>>,
    folder: PathBuf,
    names: Box<dyn Iterator<Item = io::Result<String>> + Send>,
    read: vec::IntoIter<Unfinished>,
    /// The error to return after the entries that were read.
    failure: Option<io::Error>,
    was_empty: bool,
}

impl UnfinishedEntries {
    pub(super) fn of(journal: Journal, rejected: Rejected) -> Self {
        let folder = PathBuf::new();
        let (names, read) = (Box::new(iter::empty()), Vec::new().into_iter());
        Self { journal, rejected, folders: None, folder, names, read, failure: None, was_empty: false }
    }

    fn next_one(&mut self) -> io::Result<Option<Unfinished>> {
        loop {
            if let Some(item) = self.read.next() {
                return Ok(Some(item));
            }
            if let Some(failure) = self.failure.take() {
                return Err(failure);
            }
            let mut names = Vec::new();
            for name in self.names.by_ref().take(AT_ONCE) {
                match name {
                    Ok(name) => names.push(name),
                    Err(failure) => self.failure = Some(failure),
                }
            }
            if names.is_empty() && self.failure.is_some() {
                continue;
            }
            if names.is_empty() {
                if !self.go_on()? {
                    return Ok(None);
                }
                continue;
            }
            self.was_empty = false;
            self.read = self.read_all(names)?.into_iter();
        }
    }

    /// Continues with the next folder, and removes the last one if it was empty.
    fn go_on(&mut self) -> io::Result<bool> {
        let shared = &self.journal.shared;
        if self.was_empty && !self.is_fresh() {
            // It fails if a payment has just begun in it, as intended.
            let _ = shared.disk().remove_folder(&self.folder);
        }
        if self.folders.is_none() {
            let mut folders = shared.folders(&shared.open)?;
            folders.reverse();
            self.folders = Some(folders);
            self.read = foreign(shared.disk().names(&shared.open)?)?.into_iter();
            return Ok(true);
        }
        let Some(folder) = self.folders.as_mut().and_then(Vec::pop) else { return Ok(false) };
        self.names = match shared.disk().names(&folder) {
            // Another process has just removed it.
            Err(problem) if problem.kind() == io::ErrorKind::NotFound => Box::new(iter::empty()),
            names => names?,
        };
        self.folder = folder;
        self.was_empty = true;
        Ok(true)
    }

    /// Whether the folder is today's or yesterday's: another process may be about to create a file in it.
    fn is_fresh(&self) -> bool {
        let now = self.journal.shared.disk().now();
        let yesterday = now.checked_sub(Duration::from_secs(24 * 60 * 60));
        yesterday.into_iter().chain([now]).any(|day| self.folder.ends_with(entry::of_day(day)))
    }

    fn unfinished(&self, name: String, bytes: &[u8]) -> Option<Unfinished> {
        match History::read(&name, bytes) {
            // It was rejected long enough ago, or a process died between recording that it is finished and moving it.
            Ok(history) if history.is_done_with(self.journal.now()) => {
                let _ = self.journal.shared.archive(&name, &self.folder.join(&name));
                None
            }
            Ok(history) if history.entry.state == JournalState::Rejected && self.rejected == Rejected::LeftOut => None,
            Ok(history) => Some(Unfinished::Payment { entry: Box::new(history.entry) }),
            Err(why) => Some(Unfinished::Unreadable { id: name, why }),
        }
    }

    fn read_all(&self, names: Vec<String>) -> io::Result<Vec<Unfinished>> {
        let mut read = Vec::with_capacity(names.len());
        for name in names {
            match self.journal.shared.disk().read(&self.folder.join(&name)) {
                // Its process is about to write the first line: nothing was sent.
                Ok(bytes) if bytes.is_empty() && self.is_fresh() => {}
                Ok(bytes) => read.extend(self.unfinished(name, &bytes)),
                // It was finished or released in the meantime.
                Err(problem) if problem.kind() == io::ErrorKind::NotFound => {}
                Err(problem) => {
                    read.push(Unfinished::Unreadable { id: name, why: format!("cannot be read: {problem}") })
                }
            }
        }
        read.sort_by_key(|item| match item {
            Unfinished::Payment { entry } => Some(entry.begun),
            Unfinished::Unreadable { .. } => None,
        });
        Ok(read)
    }
}

/// The foreign names among the folders: neither a day or month, nor a trial file of a process that is opening the journal.
fn foreign(names: impl Iterator<Item = io::Result<String>>) -> io::Result<Vec<Unfinished>> {
    let why = "is not a folder of a journal";
    let is_foreign = |name: &String| !entry::is_a_time(name) && !name.starts_with(entry::TRIAL);
    let foreign = names.filter(|name| name.as_ref().map_or(true, is_foreign));
    foreign.map(|name| Ok(Unfinished::Unreadable { id: name?, why: why.to_owned() })).collect()
}

impl Iterator for UnfinishedEntries {
    type Item = Result<Unfinished, PaymentError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_one().map_err(unreadable).transpose()
    }
}
