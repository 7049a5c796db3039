//! The executor of transactions, and its bounded queue. It is a seam: a simulation runs transactions inline, and
//! can stop before or after each.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc::{Receiver, Sender, channel},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::{runtime::Boxed, storage::StorageError};

/// Runs transactions on the database.
pub trait Executor: Send + Sync + 'static {
    /// Runs a job that writes, in a transaction, and passes on its answer after the commit.
    /// [`StorageError::Busy`] if it is refused.
    fn write(&self, job: Job) -> Boxed<'static, Result<(), StorageError>>;

    /// Runs a job that only reads. [`StorageError::Busy`] if it is refused.
    fn read(&self, job: Job) -> Boxed<'static, Result<(), StorageError>>;
}

type Answer = Box<dyn FnOnce(Result<(), StorageError>) + Send>;
type Work = Box<dyn FnOnce(Result<&Connection, StorageError>) -> Done + Send>;

/// The source of a job, which decides whether it is refused when the queue is full (admission control).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobSource {
    /// A new request of a caller: it can be refused.
    ByCaller,
    /// Work that the server began, which is bounded: it is always accepted.
    ByServer,
}

/// One unit of work.
pub struct Job {
    /// The storage's method that it runs.
    pub name: &'static str,
    /// The source of the work.
    pub source: JobSource,
    work: Work,
}

impl Job {
    /// Does the work inside a transaction that the caller has begun.
    pub fn run(self, connection: &Connection) -> Done {
        (self.work)(Ok(connection))
    }

    /// Answers the caller with the reason why nothing was done.
    pub fn refuse(self, problem: StorageError) {
        (self.work)(Err(problem)).answer(Ok(()));
    }
}

/// Finished work that is not committed yet.
pub struct Done {
    /// False if it must be rolled back: it failed, or was rejected.
    pub is_ok: bool,
    answer: Answer,
}

impl Done {
    /// Answers the caller, after the commit or its failure.
    pub fn answer(self, committed: Result<(), StorageError>) {
        (self.answer)(committed);
    }
}

/// A job, and the receiver of its answer.
pub(super) fn job<T: Send + 'static>(
    name: &'static str,
    source: JobSource,
    work: impl FnOnce(&Connection) -> Result<T, StorageError> + Send + 'static,
) -> (Job, oneshot::Receiver<Result<T, StorageError>>) {
    let (sender, answer) = oneshot::channel();
    let work = move |connection: Result<&Connection, StorageError>| {
        let result = connection.and_then(work);
        let is_ok = result.is_ok();
        let answer = move |committed: Result<(), StorageError>| {
            let result = match (result, committed) {
                (Err(failed), _) if failed.is_failure() => Err(failed),
                // A rejection also depends on the commit: it may follow from another job's write in the group.
                (_, Err(not_committed)) => Err(not_committed),
                (result, Ok(())) => result,
            };
            // The caller may have given up.
            let _ = sender.send(result);
        };
        Done { is_ok, answer: Box::new(answer) }
    };
    (Job { name, source, work: Box::new(work) }, answer)
}

// Bounded queue (admission control) between callers and the threads of the database: if too many jobs wait, callers are refused
// at once, instead of answered after they gave up. Work that was begun always continues.

/// Jobs that wait for a thread.
pub(super) struct Queue {
    /// `None` once it is closed.
    jobs: Option<Sender<Job>>,
    waiting: Arc<AtomicUsize>,
    longest: usize,
}

/// The thread's end of the queue.
pub(super) struct Jobs {
    jobs: Receiver<Job>,
    waiting: Arc<AtomicUsize>,
}

/// A queue that refuses callers beyond this length.
pub(super) fn queue(longest: usize) -> (Queue, Jobs) {
    let ((jobs, taken), waiting) = (channel(), Arc::<AtomicUsize>::default());
    (Queue { jobs: Some(jobs), waiting: waiting.clone(), longest }, Jobs { jobs: taken, waiting })
}

impl Queue {
    /// Queues a job, or reports that too many wait. If the thread is gone, the job is dropped, and its caller gets an error.
    pub(super) fn hand_over(&self, job: Job) -> Result<(), StorageError> {
        let waiting = self.waiting.fetch_add(1, Ordering::AcqRel);
        if waiting >= self.longest && job.source == JobSource::ByCaller {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(StorageError::Busy);
        }
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
        Ok(())
    }

    /// Closes the queue; the queued jobs are done first.
    pub(super) fn close(&mut self) {
        self.jobs = None;
    }
}

impl Jobs {
    /// Waits for a job; `None` after the queue is closed and empty.
    pub(super) fn next(&self) -> Option<Job> {
        let job = self.jobs.recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        Some(job)
    }

    /// The jobs that are already queued.
    pub(super) fn rest(&self) -> impl Iterator<Item = Job> {
        self.jobs.try_iter().inspect(|_| {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        })
    }
}

#[cfg(test)]
mod queue_tests {
    use super::{super::executor::job, *};

    #[test]
    fn full_queue_rejects_callers_only() {
        let (queue, work) = queue(2);
        let hand_over = |source| queue.hand_over(job("test", source, |_| Ok(())).0);
        assert_eq!([hand_over(JobSource::ByCaller), hand_over(JobSource::ByCaller)], [Ok(()), Ok(())]);
        assert_eq!(hand_over(JobSource::ByCaller), Err(StorageError::Busy));
        assert_eq!(hand_over(JobSource::ByServer), Ok(()));
        assert!(work.next().is_some());
        assert_eq!(hand_over(JobSource::ByCaller), Err(StorageError::Busy), "two wait still");
        assert_eq!(work.rest().take(1).count(), 1);
        assert_eq!(hand_over(JobSource::ByCaller), Ok(()), "one does");
    }
}
