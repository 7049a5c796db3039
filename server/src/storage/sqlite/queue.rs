//! Bounded queue (admission control) between callers and the threads of the database: where too much waits, callers are
//! refused at once, instead of answered when they have long given up. What was begun always goes on.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
    mpsc::{Receiver, Sender, channel},
};

use super::executor::{Asked, Job};
use crate::storage::error::StorageError;

/// Jobs that wait for a thread.
pub(super) struct Queue {
    /// Nothing once it is closed.
    jobs: Option<Sender<Job>>,
    waiting: Arc<AtomicUsize>,
    longest: usize,
}

/// The thread's end of it.
pub(super) struct Work {
    jobs: Receiver<Job>,
    waiting: Arc<AtomicUsize>,
}

/// One that refuses callers from so many on.
pub(super) fn queue(longest: usize) -> (Queue, Work) {
    let ((jobs, taken), waiting) = (channel(), Arc::<AtomicUsize>::default());
    (Queue { jobs: Some(jobs), waiting: waiting.clone(), longest }, Work { jobs: taken, waiting })
}

impl Queue {
    /// Takes a job, or says that too many wait. Where the thread is gone, the job is dropped, and whoever waits for its answer is told so.
    pub(super) fn hand_over(&self, job: Job) -> Result<(), StorageError> {
        let waiting = self.waiting.fetch_add(1, Ordering::AcqRel);
        if waiting >= self.longest && job.asked == Asked::ByCaller {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
            return Err(StorageError::Busy);
        }
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
        Ok(())
    }

    /// No more will come; what waits is done first.
    pub(super) fn close(&mut self) {
        self.jobs = None;
    }
}

impl Work {
    /// Waits for a job; nothing once no more will come.
    pub(super) fn next(&self) -> Option<Job> {
        let job = self.jobs.recv().ok()?;
        self.waiting.fetch_sub(1, Ordering::AcqRel);
        Some(job)
    }

    /// The jobs that wait already.
    pub(super) fn rest(&self) -> impl Iterator<Item = Job> {
        self.jobs.try_iter().inspect(|_| {
            self.waiting.fetch_sub(1, Ordering::AcqRel);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{super::executor::job, *};

    #[test]
    fn where_too_much_waits_callers_are_refused_and_what_was_begun_goes_on() {
        let (queue, work) = queue(2);
        let hand_over = |asked| queue.hand_over(job("test", asked, |_| Ok(())).0);
        assert_eq!([hand_over(Asked::ByCaller), hand_over(Asked::ByCaller)], [Ok(()), Ok(())]);
        assert_eq!(hand_over(Asked::ByCaller), Err(StorageError::Busy));
        assert_eq!(hand_over(Asked::ByServer), Ok(()));
        assert!(work.next().is_some());
        assert_eq!(hand_over(Asked::ByCaller), Err(StorageError::Busy), "two wait still");
        assert_eq!(work.rest().take(1).count(), 1);
        assert_eq!(hand_over(Asked::ByCaller), Ok(()), "one does");
    }
}
