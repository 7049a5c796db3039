//! Who runs transactions, and on which thread: a seam, so that a simulation runs them inline and stops before or after one.

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{storage::error::StorageError, surroundings::Boxed};

/// Runs transactions on the database.
pub trait Executor: Send + Sync + 'static {
    /// Runs a job that writes, in a transaction. What it answers is told after the commit. [`StorageError::Busy`] where it is
    /// not taken.
    fn write(&self, job: Job) -> Boxed<'static, Result<(), StorageError>>;

    /// Runs a job that only reads. [`StorageError::Busy`] where it is not taken.
    fn read(&self, job: Job) -> Boxed<'static, Result<(), StorageError>>;
}

type Answer = Box<dyn FnOnce(Result<(), StorageError>) + Send>;
type Work = Box<dyn FnOnce(Result<&Connection, StorageError>) -> Done + Send>;

/// Whose work it is, which says what happens where too much waits (admission control).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A caller asks for something new: it can be refused.
    ByCaller,
    /// The server goes on with what it began, of which there is only so much: it is always taken.
    ByServer,
}

/// One unit of work.
pub struct Job {
    /// The storage's method that it does.
    pub name: &'static str,
    /// Whose work it is.
    pub asked: Asked,
    work: Work,
}

impl Job {
    /// Does the work inside a transaction that the caller has begun.
    pub fn run(self, connection: &Connection) -> Done {
        (self.work)(Ok(connection))
    }

    /// Tells whoever asked why nothing of it is done.
    pub fn refuse(self, problem: StorageError) {
        (self.work)(Err(problem)).answer(Ok(()));
    }
}

/// Work that was done, and is not committed yet.
pub struct Done {
    /// False where it must be rolled back.
    pub is_ok: bool,
    answer: Answer,
}

impl Done {
    /// Tells whoever asked, after the commit or its failure.
    pub fn answer(self, committed: Result<(), StorageError>) {
        (self.answer)(committed);
    }
}

/// A job, and where its answer will be.
pub(super) fn job<T: Send + 'static>(
    name: &'static str,
    asked: Asked,
    work: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
) -> (Job, oneshot::Receiver<Result<T, StorageError>>) {
    let (tell, told) = oneshot::channel();
    let work = move |connection: Result<&Connection, StorageError>| {
        let result = connection.and_then(work);
        let is_ok = result.is_ok();
        let answer = move |committed: Result<(), StorageError>| {
            // Nobody may wait for it any more.
            let _ = tell.send(result.and_then(|value| committed.map(|()| value)));
        };
        Done { is_ok, answer: Box::new(answer) }
    };
    (Job { name, asked, work: Box::new(work) }, told)
}
