//! A disk in memory that distinguishes flushed data from data that was only written, and stops at any step.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, SystemTime},
};

use super::super::disk::{Disk, Guard};

/// What is lost in a crash.
#[derive(Clone, Copy, Debug)]
pub enum Crash {
    /// Nothing that was written: the system still has it.
    Process,
    /// All that was not flushed.
    Power,
}

#[derive(Clone, Default)]
pub struct MemoryDisk {
    shared: Arc<Mutex<State>>,
    ahead: Duration,
}

#[derive(Default)]
struct State {
    /// What a program sees: folders, and files with their content.
    seen: Files,
    /// What is left when the power goes: names by their folders' flushes, and contents by their files'.
    durable_names: BTreeSet<PathBuf>,
    durable_contents: BTreeMap<PathBuf, Vec<u8>>,
    steps: usize,
    stop: Option<Stop>,
    failed: bool,
    passed: Duration,
    is_locked: bool,
    /// What another process does between two steps, once.
    between: Option<(usize, Box<dyn FnOnce() + Send>)>,
}

type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

#[derive(Clone, Copy)]
struct Stop {
    at: usize,
    /// Whether that step itself is still done, and only its success not told.
    is_done: bool,
    /// Whether all steps after it fail, too.
    for_good: bool,
}

impl MemoryDisk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.lock().unwrap()
    }

    pub fn crash_at(&self, step: usize, is_done: bool) {
        self.arm(Some(Stop { at: step, is_done, for_good: true }));
    }

    /// One step fails, as it does on a full disk.
    pub fn fail_at(&self, step: usize) {
        self.arm(Some(Stop { at: step, is_done: false, for_good: false }));
    }

    /// Just before that step, another process does this.
    pub fn before_step(&self, step: usize, work: impl FnOnce() + Send + 'static) {
        self.arm(None);
        self.state().between = Some((step, Box::new(work)));
    }

    /// Whether it was not come to.
    pub fn is_still_waiting(&self) -> bool {
        self.state().between.is_some()
    }

    fn arm(&self, stop: Option<Stop>) {
        let mut state = self.state();
        (state.stop, state.steps, state.failed) = (stop, 0, false);
    }

    pub fn has_failed(&self) -> bool {
        self.state().failed
    }

    pub fn restart(&self, crash: Crash) {
        self.arm(None);
        let mut state = self.state();
        match crash {
            Crash::Process => {
                state.durable_names = state.seen.keys().cloned().collect();
                state.durable_contents =
                    state.seen.iter().filter_map(|(path, content)| Some((path.clone(), content.clone()?))).collect();
            }
            Crash::Power => state.lose_what_was_not_flushed(),
        }
    }

    pub fn pass(&self, time: Duration) {
        self.state().passed += time;
    }

    /// The same disk, seen from a machine with another clock.
    pub fn with_a_clock_ahead_by(&self, ahead: Duration) -> Self {
        Self { ahead, ..self.clone() }
    }

    pub fn lose_everything(&self) {
        self.state().seen.clear();
    }

    /// Takes a file away, as a network disk does for a while; `put` brings it back.
    pub fn take_away(&self, name: &str) -> (PathBuf, Vec<u8>) {
        let mut state = self.state();
        let path = state.seen.keys().find(|path| path.ends_with(name)).unwrap().clone();
        let content = state.seen.remove(&path).unwrap().unwrap();
        (path, content)
    }

    pub fn put(&self, path: &Path, bytes: &[u8]) {
        self.state().seen.insert(path.to_owned(), Some(bytes.to_vec()));
    }

    fn let_others_work(&self) {
        let mut state = self.state();
        let step = state.steps;
        if let Some((_, work)) = state.between.take_if(|(at, _)| *at == step) {
            drop(state);
            work();
        }
    }

    /// A step that changes something, counted.
    fn step<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        self.let_others_work();
        let mut state = self.state();
        let number = state.steps;
        state.steps += 1;
        let stopped = || io::Error::new(io::ErrorKind::StorageFull, "stopped here");
        match state.stop {
            Some(stop) if number == stop.at => {
                state.failed = true;
                if stop.is_done {
                    work(&mut state)?;
                }
                Err(stopped())
            }
            Some(stop) if number > stop.at && stop.for_good => Err(stopped()),
            _ => work(&mut state),
        }
    }
}

impl State {
    fn lose_what_was_not_flushed(&mut self) {
        let names = self.durable_names.clone();
        let has_a_place = |path: &PathBuf| {
            path.ancestors().skip(1).all(|folder| folder.as_os_str().is_empty() || names.contains(folder))
        };
        let was_file = |path: &PathBuf| self.durable_contents.contains_key(path) || path.components().count() > 3;
        let durable = names.iter().filter(|path| has_a_place(path)).map(|path| {
            let content = was_file(path).then(|| self.durable_contents.get(path).cloned().unwrap_or_default());
            (path.clone(), content)
        });
        self.seen = durable.collect();
        self.durable_names = self.seen.keys().cloned().collect();
    }
}

struct Unlock(MemoryDisk);

impl Drop for Unlock {
    fn drop(&mut self) {
        self.0.state().is_locked = false;
    }
}

fn not_found() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Disk for MemoryDisk {
    fn now(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000) + self.ahead + self.state().passed
    }

    fn make_folders(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            for folder in path.ancestors().filter(|folder| !folder.as_os_str().is_empty()) {
                state.seen.entry(folder.to_owned()).or_insert(None);
                state.durable_names.insert(folder.to_owned());
            }
            Ok(())
        })
    }

    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            if !path.parent().is_some_and(|folder| state.seen.contains_key(folder)) {
                return Err(not_found());
            }
            state.seen.entry(path.to_owned()).or_insert(None);
            Ok(())
        })
    }

    fn create(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            if !path.parent().is_some_and(|folder| state.seen.contains_key(folder)) {
                return Err(not_found());
            }
            if state.seen.contains_key(path) {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            state.seen.insert(path.to_owned(), Some(Vec::new()));
            Ok(())
        })
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step(|state| match state.seen.get_mut(path) {
            Some(Some(content)) => {
                content.extend_from_slice(bytes);
                Ok(())
            }
            _ => Err(not_found()),
        })
    }

    /// The content; the name is the folder's.
    fn sync_file(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            let content = state.seen.get(path).cloned().flatten().ok_or_else(not_found)?;
            state.durable_contents.insert(path.to_owned(), content);
            Ok(())
        })
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            let is_in = |file: &&PathBuf| file.parent() == Some(path);
            state.durable_names.retain(|file| !is_in(&file) || state.seen.contains_key(file));
            let names: Vec<_> = state.seen.keys().filter(is_in).cloned().collect();
            state.durable_names.extend(names);
            Ok(())
        })
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.state().seen.get(path).cloned().flatten().ok_or_else(not_found)
    }

    fn lock(&self, _path: &Path) -> io::Result<Option<Guard>> {
        let is_free = !std::mem::replace(&mut self.state().is_locked, true);
        let unlock = Unlock(self.clone());
        if is_free {
            return Ok(Some(Box::new(unlock)));
        }
        // It is not this one's to unlock.
        std::mem::forget(unlock);
        Ok(None)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        Ok(self.state().seen.contains_key(path))
    }

    fn names(&self, path: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<String>> + Send>> {
        let state = self.state();
        if !matches!(state.seen.get(path), Some(None)) {
            return Err(not_found());
        }
        let inside = state.seen.keys().filter(|file| file.parent() == Some(path)).filter_map(|file| file.file_name());
        let names: Vec<_> = inside.map(|name| Ok(name.to_string_lossy().into_owned())).collect();
        Ok(Box::new(names.into_iter()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|state| {
            let content = state.seen.remove(from).ok_or_else(not_found)?;
            state.seen.insert(to.to_owned(), content);
            // A file keeps what was flushed of it under any name; the old name is there until its folder is flushed.
            if let Some(durable) = state.durable_contents.get(from).cloned() {
                state.durable_contents.insert(to.to_owned(), durable);
            }
            Ok(())
        })
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step(|state| state.seen.remove(path).map(drop).ok_or_else(not_found))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step(|state| {
            if state.seen.keys().any(|file| file.parent() == Some(path)) {
                return Err(io::ErrorKind::DirectoryNotEmpty.into());
            }
            state.seen.remove(path);
            Ok(())
        })
    }
}
