//! The threads around the database: one that writes, and commits queued jobs in groups (group commit), and a few that read.

use std::{
    future::ready,
    iter,
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use rusqlite::Connection;

use super::{
    connection::{DatabaseClock, Files, open_reader, open_writer},
    executor::{Done, Executor, Job, Jobs, Queue, queue},
};
use crate::{runtime::Boxed, storage::StorageError};

/// The most jobs that share a commit.
const GROUP: usize = 256;
const READERS: usize = 3;
/// The number of queued jobs from which callers are refused: late answers cause retries, which make it worse.
const LONGEST_QUEUE: usize = 2048;
const LONGEST_READ_QUEUE: usize = 16_384;

/// One writer and a few readers on a file.
pub(super) struct Threads {
    writes: Queue,
    reads: Queue,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn open(path: &Path, clock: &DatabaseClock) -> Result<Self, StorageError> {
        let writer = open_writer(path, clock.clone())?;
        let files = Arc::new(Files::of(path)?);
        let readers = (0..READERS).map(|_| open_reader(path, clock.clone())).collect::<Result<Vec<_>, _>>()?;
        let (writes, written) = queue(LONGEST_QUEUE);
        let (reads, read) = queue(LONGEST_READ_QUEUE);
        let read = Arc::new(Mutex::new(read));
        let mut threads = vec![{
            let files = files.clone();
            start("kassa-write", move || write_all(&writer, &files, &written))?
        }];
        for reader in readers {
            let (files, read) = (files.clone(), read.clone());
            threads.push(start("kassa-read", move || read_all(&reader, &files, &read))?);
        }
        Ok(Self { writes, reads, threads })
    }
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StorageError> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(work);
    thread.map_err(|problem| StorageError::failed(format!("a thread could not be started: {problem}")))
}

impl Executor for Threads {
    fn write(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        Box::pin(ready(self.writes.hand_over(job)))
    }

    fn read(&self, job: Job) -> Boxed<'static, Result<(), StorageError>> {
        Box::pin(ready(self.reads.hand_over(job)))
    }
}

/// Finishes the queued jobs first.
impl Drop for Threads {
    fn drop(&mut self) {
        self.writes.close();
        self.reads.close();
        for thread in self.threads.drain(..) {
            // A job that panicked has confirmed no write.
            let _ = thread.join();
        }
    }
}

fn write_all(connection: &Connection, files: &Files, jobs: &Jobs) {
    while let Some(first) = jobs.next() {
        let group = iter::once(first).chain(jobs.rest()).take(GROUP);
        write_group(connection, files, group);
    }
}

/// All queued jobs share one commit; a failed job is rolled back alone. **Nobody is answered before the commit has returned, and
/// the database file is confirmed to be in its place.**
pub(super) fn write_group(connection: &Connection, files: &Files, jobs: impl Iterator<Item = Job>) {
    if let Err(problem) = files.check() {
        jobs.for_each(|job| job.refuse(problem.clone()));
        return;
    }
    let mut jobs = jobs.peekable();
    let Some(first) = jobs.next() else { return };
    match jobs.peek() {
        None => write_one(connection, files, first),
        Some(_) => write_many(connection, files, iter::once(first).chain(jobs)),
    }
}

/// A single job needs no savepoint.
fn write_one(connection: &Connection, files: &Files, job: Job) {
    if let Err(problem) = connection.execute_batch("BEGIN IMMEDIATE") {
        job.refuse(problem.into());
        return;
    }
    let done = catch_unwind(AssertUnwindSafe(|| job.run(connection))).ok();
    let ended = match &done {
        Some(done) if done.is_ok => commit(connection, files),
        _ => connection.execute_batch("ROLLBACK").map_err(StorageError::from),
    };
    if ended.is_err() {
        // It may have been rolled back already.
        let _ = connection.execute_batch("ROLLBACK");
    }
    if let Some(done) = done {
        done.answer(ended);
    }
}

fn write_many(connection: &Connection, files: &Files, jobs: impl Iterator<Item = Job>) {
    let mut group = connection.execute_batch("BEGIN IMMEDIATE").map_err(StorageError::from);
    let mut done = Vec::new();
    for job in jobs {
        if let Err(problem) = &group {
            // A group that cannot be committed takes no more jobs.
            job.refuse(problem.clone());
            continue;
        }
        match run_alone(connection, job) {
            Ok(one) => done.extend(one),
            Err(problem) => group = Err(problem),
        }
    }
    let committed = group.and_then(|()| commit(connection, files));
    if committed.is_err() {
        // It may have been rolled back already.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for done in done {
        done.answer(committed.clone());
    }
}

/// A commit to a file that was removed in the meantime counts as uncertain: the file may come back.
fn commit(connection: &Connection, files: &Files) -> Result<(), StorageError> {
    connection.execute_batch("COMMIT")?;
    files.check_after_commit()
}

/// Runs one job in a savepoint. A job that panics is rolled back without an answer.
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

fn read_all(connection: &Connection, files: &Files, jobs: &Mutex<Jobs>) {
    loop {
        let next = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
        let Some(job) = next else { return };
        match files.check() {
            Ok(()) => read_one(connection, job),
            Err(problem) => job.refuse(problem),
        }
    }
}

/// Runs one read transaction, on one snapshot.
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
    use super::{
        super::executor::{JobSource, job},
        *,
    };
    use crate::values::error::ServerError;

    /// A job is not confirmed before its commit, which can still reject it.
    #[test]
    fn sqlite_job_is_answered_after_commit() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
             CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);",
        )
        .unwrap();
        let files = Files::default();
        let insert = |sql: &'static str| job("insert", JobSource::ByCaller, move |db| Ok(db.execute(sql, [])?));
        // Only the commit finds that the parent is missing.
        let group = [insert("INSERT INTO parents VALUES (1)"), insert("INSERT INTO children VALUES (2)")];
        let (jobs, answers): (Vec<_>, Vec<_>) = group.into_iter().unzip();
        write_group(&db, &files, jobs.into_iter());
        for mut answer in answers {
            assert!(answer.try_recv().unwrap().is_err());
        }
        let (good, mut answer) = insert("INSERT INTO parents VALUES (1)");
        write_group(&db, &files, iter::once(good));
        assert_eq!(answer.try_recv().unwrap(), Ok(1), "and the next group is not harmed");
        let (late, mut answer) = insert("INSERT INTO children VALUES (3)");
        write_group(&db, &files, iter::once(late));
        assert!(answer.try_recv().unwrap().is_err(), "nor is one alone told that it is done");
    }

    /// A rejection is no failure of the group: its own job alone is rolled back. What it says may follow from another job of the group,
    /// so it holds only after the commit.
    #[test]
    fn rejected_job_is_rolled_back_alone() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch(
            "PRAGMA foreign_keys = ON; CREATE TABLE parents (id INTEGER PRIMARY KEY);
             CREATE TABLE children (id INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED);",
        )
        .unwrap();
        let files = Files::default();
        let rejection = || StorageError::from(ServerError::KeyReused);
        let insert = |sql: &'static str| job("insert", JobSource::ByCaller, move |db| Ok(db.execute(sql, [])?));
        let rejected = || {
            job::<usize>("reject", JobSource::ByCaller, move |db| {
                db.execute("INSERT INTO parents VALUES (7)", [])?;
                Err(rejection())
            })
        };
        for (other, is_committed) in
            [("INSERT INTO parents VALUES (1)", true), ("INSERT INTO children VALUES (2)", false)]
        {
            let ((good, mut good_answer), (bad, mut bad_answer)) = (insert(other), rejected());
            write_group(&db, &files, [bad, good].into_iter());
            assert_eq!(good_answer.try_recv().unwrap().is_ok(), is_committed);
            assert_eq!(bad_answer.try_recv().unwrap() == Err(rejection()), is_committed);
        }
        let (alone, mut answer) = rejected();
        write_group(&db, &files, iter::once(alone));
        assert_eq!(answer.try_recv().unwrap(), Err(rejection()));
        assert_eq!(db.query_row("SELECT group_concat(id) FROM parents", [], |row| row.get(0)), Ok("1".to_owned()));
    }

    /// It shares its transaction with nobody, and leaves as little behind as in a group.
    #[test]
    fn single_failed_sqlite_job_is_rolled_back() {
        let db = Connection::open_in_memory().unwrap();
        db.execute_batch("CREATE TABLE notes (id INTEGER)").unwrap();
        let files = Files::default();
        let note = |db: &Connection| db.execute("INSERT INTO notes VALUES (1)", []);
        let fails = |then: fn() -> Result<(), StorageError>| {
            job("note", JobSource::ByCaller, move |db| {
                note(db)?;
                then()
            })
        };
        let (refused, mut answer) = fails(|| Err(StorageError::failed("refused")));
        write_group(&db, &files, iter::once(refused));
        assert_eq!(answer.try_recv().unwrap(), Err(StorageError::failed("refused")));
        let (panics, mut answer) = fails(|| panic!("on purpose"));
        write_group(&db, &files, iter::once(panics));
        assert!(answer.try_recv().is_err(), "whoever waits hears that its end is not known");
        assert_eq!(db.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get(0)), Ok(0));
        let (good, mut answer) = job("note", JobSource::ByCaller, move |db| Ok(note(db)?));
        write_group(&db, &files, iter::once(good));
        assert_eq!(answer.try_recv().unwrap(), Ok(1));
    }

    /// What a file without a name took would be sent, and forgotten with the next start.
    #[test]
    fn sqlite_write_fails_while_file_is_moved() {
        let folder = tempfile::tempdir().unwrap();
        let (path, aside) = (folder.path().join("kassa.db"), folder.path().join("aside.db"));
        let db = open_writer(&path, super::super::connection::real_clock()).unwrap();
        db.execute_batch("CREATE TABLE notes (id INTEGER)").unwrap();
        let files = Files::of(&path).unwrap();
        let note = |db: &Connection| db.execute("INSERT INTO notes VALUES (1)", []);
        for more in [0, 1] {
            let (from, to) = (path.clone(), aside.clone());
            // It goes after the look before the commit.
            let (moves, mut moved) = job("move", JobSource::ByCaller, move |db| {
                std::fs::rename(&from, &to).unwrap();
                Ok(note(db)?)
            });
            let others = iter::repeat_with(|| job("note", JobSource::ByCaller, move |db| Ok(note(db)?)).0).take(more);
            write_group(&db, &files, iter::once(moves).chain(others));
            let unknown = moved.try_recv().unwrap().unwrap_err();
            assert!(!unknown.wrote_nothing(), "it comes back with the file: {unknown}");

            let (refused, mut answer) = job("note", JobSource::ByCaller, move |db| Ok(note(db)?));
            write_group(&db, &files, iter::once(refused));
            assert!(answer.try_recv().unwrap().unwrap_err().wrote_nothing());
            std::fs::rename(&aside, &path).unwrap();
        }
        let (good, mut answer) = job("note", JobSource::ByCaller, move |db| Ok(note(db)?));
        write_group(&db, &files, iter::once(good));
        assert_eq!(answer.try_recv().unwrap(), Ok(1));
        assert_eq!(db.query_row("SELECT COUNT(*) FROM notes", [], |row| row.get(0)), Ok(4));
    }
}
