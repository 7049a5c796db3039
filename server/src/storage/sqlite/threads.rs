//! The threads around the database: one that writes, and commits what waits in groups (group commit), and a few that read.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use super::{
    connection::{DatabaseClock, open_reader, open_writer},
    executor::{Done, Executor, Job},
};
use crate::{storage::error::StorageError, surroundings::Boxed};

/// How many jobs share a commit at most.
const GROUP: usize = 256;
const READERS: usize = 3;

/// One writer and a few readers on a file.
pub(super) struct Threads {
    writes: Option<Sender<Job>>,
    reads: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn open(path: &Path, clock: &DatabaseClock) -> Result<Self, StorageError> {
        let writer = open_writer(path, clock.clone())?;
        let readers = (0..READERS).map(|_| open_reader(path, clock.clone())).collect::<Result<Vec<_>, _>>()?;
        let (writes, written) = channel();
        let (reads, read) = channel();
        let read = Arc::new(Mutex::new(read));
        let mut threads = vec![start("kassa-write", move || write_all(&writer, &written))?];
        for reader in readers {
            let read = read.clone();
            threads.push(start("kassa-read", move || read_all(&reader, &read))?);
        }
        Ok(Self { writes: Some(writes), reads: Some(reads), threads })
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StorageError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|problem| StorageError::failed(format!("a thread could not be started: {problem}")))
}

impl Executor for Threads {
    fn write(&self, job: Job) -> Boxed<'static, ()> {
        hand_over(self.writes.as_ref(), job)
    }

    fn read(&self, job: Job) -> Boxed<'static, ()> {
        hand_over(self.reads.as_ref(), job)
    }
}

/// Where the thread is gone, the job is dropped, and whoever waits for its answer is told so.
fn hand_over(to: Option<&Sender<Job>>, job: Job) -> Boxed<'static, ()> {
    if let Some(to) = to {
        let _ = to.send(job);
    }
    Box::pin(std::future::ready(()))
}

/// What was handed over is finished first.
impl Drop for Threads {
    fn drop(&mut self) {
        (self.writes, self.reads) = (None, None);
        for thread in self.threads.drain(..) {
            // One that panicked has told nobody that it wrote.
            let _ = thread.join();
        }
    }
}

fn write_all(connection: &Connection, jobs: &Receiver<Job>) {
    while let Ok(first) = jobs.recv() {
        let group = std::iter::once(first).chain(jobs.try_iter()).take(GROUP);
        write_group(connection, group);
    }
}

/// All jobs that wait share one commit; each is rolled back alone where it fails. **Nobody is answered before the commit
/// has returned.**
pub(super) fn write_group(connection: &Connection, jobs: impl Iterator<Item = Job>) {
    let mut group = connection.execute_batch("BEGIN IMMEDIATE").map_err(StorageError::from);
    let mut done = Vec::new();
    for job in jobs {
        // Jobs of a group that cannot be committed are dropped, which is told to whoever waits.
        if group.is_ok() {
            match run_alone(connection, job) {
                Ok(one) => done.extend(one),
                Err(problem) => group = Err(problem),
            }
        }
    }
    let end = if group.is_ok() { connection.execute_batch("COMMIT").map_err(StorageError::from) } else { Ok(()) };
    let committed = group.and(end);
    if committed.is_err() {
        // It may have been rolled back already.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for done in done {
        done.answer(committed.clone());
    }
}

/// One job in a savepoint. One that panics tells nobody anything, and is rolled back.
fn run_alone(connection: &Connection, job: Job) -> Result<Option<Done>, StorageError> {
    connection.execute_batch("SAVEPOINT job")?;
    let done = catch_unwind(AssertUnwindSafe(|| job.run(connection))).ok();
    let end = match &done {
        Some(done) if done.is_ok => "RELEASE job",
        _ => "ROLLBACK TO job; RELEASE job",
    };
    connection.execute_batch(end)?;
    Ok(done)
}

fn read_all(connection: &Connection, jobs: &Mutex<Receiver<Job>>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = next else { return };
        read_one(connection, job);
    }
}

/// One read transaction: all that is read is of one moment.
pub(super) fn read_one(connection: &Connection, job: Job) {
    let begun = connection.execute_batch("BEGIN DEFERRED").map_err(StorageError::from);
    let done = catch_unwind(AssertUnwindSafe(|| job.run(connection))).ok();
    let _ = connection.execute_batch("COMMIT");
    if let Some(done) = done {
        done.answer(begun);
    }
}

#[cfg(test)]
mod tests {
    use super::{super::executor::job, *};

    /// What a commit refuses was told to nobody as done.
    #[test]
    fn nobody_is_answered_before_the_commit() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
             CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);",
        )
        .unwrap();
        let insert = |sql: &'static str| job("insert", move |db| Ok(db.execute(sql, [])?));
        // Only the commit finds that the parent is missing.
        let group = [insert("INSERT INTO parents VALUES (1)"), insert("INSERT INTO children VALUES (2)")];
        let (jobs, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        write_group(&db, jobs.into_iter());
        for mut answer in answers {
            assert!(answer.try_recv().unwrap().is_err());
        }
        let (good, mut answer) = insert("INSERT INTO parents VALUES (1)");
        write_group(&db, std::iter::once(good));
        assert_eq!(answer.try_recv().unwrap(), Ok(1), "and the next group is not harmed");
    }
}
