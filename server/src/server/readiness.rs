//! Whether the database accepts writes: tried at most once a second, for any number of callers.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::{Either, select};
use tokio::sync::watch;

use crate::{
    runtime::{Boxed, Runtime},
    storage::StorageError,
};

/// The time for which an outcome is reused.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// The deadline of a write; a disk that hangs longer counts as not writable. Prometheus waits for 10 s.
const DEADLINE: Duration = Duration::from_secs(8);

/// The last attempt, which may be in progress.
#[derive(Default)]
pub(super) struct Probe(Mutex<Option<watch::Receiver<Option<Outcome>>>>);

#[derive(Clone)]
struct Outcome {
    /// Its end, by monotonic time.
    at: Duration,
    found: Result<(), StorageError>,
}

impl Probe {
    /// The outcome of the last attempt, or of a new one. Concurrent callers share it (single flight). An attempt runs in its own
    /// task: a caller that goes away neither ends it nor causes another one.
    pub(super) async fn outcome(
        &self,
        runtime: &Arc<dyn Runtime>,
        write: impl FnOnce() -> Boxed<'static, Result<(), StorageError>>,
    ) -> Result<(), StorageError> {
        let mut receiver = self.last_or_new(runtime, write);
        let outcome = receiver.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        outcome.map_or_else(|| Err(StorageError::failed("the write was interrupted")), |outcome| outcome.found)
    }

    fn last_or_new(
        &self,
        runtime: &Arc<dyn Runtime>,
        write: impl FnOnce() -> Boxed<'static, Result<(), StorageError>>,
    ) -> watch::Receiver<Option<Outcome>> {
        // The locked value is whole after every step, even after a panic.
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut was_well = true;
        if let Some(receiver) = &*last {
            let outcome = receiver.borrow().clone();
            let is_good = match &outcome {
                Some(outcome) => runtime.monotonic().saturating_sub(outcome.at) < GOOD_FOR,
                // A receiver whose task was dropped gets no outcome.
                None => receiver.has_changed().is_ok(),
            };
            if is_good {
                return receiver.clone();
            }
            was_well = outcome.is_none_or(|outcome| outcome.found.is_ok());
        }
        let (sender, receiver) = watch::channel(None);
        *last = Some(receiver.clone());
        let (here, write) = (runtime.clone(), write());
        runtime.spawn(Box::pin(async move {
            let found = match select(write, here.sleep(DEADLINE)).await {
                Either::Left((found, _)) => found,
                Either::Right(_) => Err(StorageError::failed(format!("no write was done within {DEADLINE:?}"))),
            };
            tell_of_change(was_well, &found);
            sender.send_replace(Some(Outcome { at: here.monotonic(), found }));
        }));
        receiver
    }
}

fn tell_of_change(was_well: bool, found: &Result<(), StorageError>) {
    match found {
        Err(problem) if was_well => {
            tracing::error!(target: "kassa_server", %problem, "the database takes no writes: the server is not ready");
        }
        Ok(()) if !was_well => tracing::info!(target: "kassa_server", "the database takes writes again"),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        pin::pin,
        sync::atomic::{AtomicU64, Ordering},
    };

    use futures_util::FutureExt;
    use pollster::block_on;

    use super::*;
    use crate::values::error::ServerError;

    /// A clock that the test moves, by which every deadline is over, and tasks that it runs.
    #[derive(Default)]
    struct Moved {
        now: AtomicU64,
        tasks: Mutex<Vec<Boxed<'static, ()>>>,
    }

    impl Runtime for Moved {
        fn monotonic(&self) -> Duration {
            Duration::from_millis(self.now.load(Ordering::SeqCst))
        }

        fn sleep(&self, _: Duration) -> Boxed<'static, ()> {
            Box::pin(ready(()))
        }

        fn spawn(&self, task: Boxed<'static, ()>) {
            self.tasks.lock().unwrap().push(task);
        }

        fn fill(&self, _: &mut [u8]) -> Result<(), ServerError> {
            Ok(())
        }
    }

    #[derive(Default)]
    struct World {
        probe: Probe,
        clock: Arc<Moved>,
        tries: AtomicU64,
    }

    impl World {
        async fn asking(&self, write: Boxed<'static, Result<(), StorageError>>) -> Result<(), StorageError> {
            let runtime: Arc<dyn Runtime> = self.clock.clone();
            let write = || {
                self.tries.fetch_add(1, Ordering::SeqCst);
                write
            };
            self.probe.outcome(&runtime, write).await
        }

        fn ask(&self, write: Boxed<'static, Result<(), StorageError>>) -> Result<(), StorageError> {
            let mut asking = pin!(self.asking(write));
            if let Some(outcome) = asking.as_mut().now_or_never() {
                return outcome;
            }
            self.run_tasks();
            block_on(asking)
        }

        fn run_tasks(&self) {
            let tasks = std::mem::take(&mut *self.clock.tasks.lock().unwrap());
            tasks.into_iter().for_each(block_on);
        }

        fn pass_a_second(&self) {
            self.clock.now.fetch_add(1000, Ordering::SeqCst);
        }
    }

    fn well() -> Boxed<'static, Result<(), StorageError>> {
        Box::pin(ready(Ok(())))
    }

    fn full() -> Boxed<'static, Result<(), StorageError>> {
        Box::pin(ready(Err(StorageError::failed("the disk is full"))))
    }

    #[test]
    fn readiness_write_check_runs_once_a_second() {
        let world = World::default();
        assert_eq!((world.ask(well()), world.ask(full())), (Ok(()), Ok(())), "the second is answered by the first");
        world.pass_a_second();
        assert!(world.ask(full()).is_err() && world.ask(well()).is_err());
        world.pass_a_second();
        assert_eq!((world.ask(well()), world.tries.load(Ordering::SeqCst)), (Ok(()), 3));
    }

    #[test]
    fn readiness_check_survives_cancelled_callers() {
        let world = World::default();
        for _ in 0..10 {
            assert!(world.asking(full()).now_or_never().is_none());
        }
        world.run_tasks();
        assert!(world.ask(well()).is_err(), "its outcome is known");
        assert_eq!(world.tries.load(Ordering::SeqCst), 1);
        // A task that was dropped is none.
        world.pass_a_second();
        assert!(world.asking(full()).now_or_never().is_none());
        world.clock.tasks.lock().unwrap().clear();
        assert_eq!(world.ask(well()), Ok(()));
    }

    #[test]
    fn readiness_check_without_disk_response_fails() {
        assert!(World::default().ask(Box::pin(pending())).is_err());
    }
}
