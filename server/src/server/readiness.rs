//! Whether the database takes writes: tried at most once a second, whoever asks, and however many do.

use std::time::Duration;

use futures_util::future::{Either, select};
use tokio::sync::Mutex;

use crate::{
    storage::{Stored, error::StorageError},
    surroundings::Surroundings,
};

/// How long an outcome is good.
const GOOD_FOR: Duration = Duration::from_secs(1);
/// From when on a disk that says nothing takes no writes. Prometheus waits for 10 s.
const DEADLINE: Duration = Duration::from_secs(8);

/// The last try.
#[derive(Default)]
pub(super) struct Probe {
    last: Mutex<Option<Outcome>>,
}

struct Outcome {
    /// By monotonic time.
    at: Duration,
    found: Result<(), StorageError>,
}

impl Probe {
    /// The outcome of the last try, or of a new one. Who comes meanwhile gets the same one (single flight).
    pub(super) async fn outcome<'a>(
        &self,
        surroundings: &dyn Surroundings,
        write: impl FnOnce() -> Stored<'a, ()> + Send,
    ) -> Result<(), StorageError> {
        let mut last = self.last.lock().await;
        let is_good = |outcome: &&Outcome| surroundings.monotonic().saturating_sub(outcome.at) < GOOD_FOR;
        if let Some(outcome) = last.as_ref().filter(is_good) {
            return outcome.found.clone();
        }
        let found = match select(write(), surroundings.sleep(DEADLINE)).await {
            Either::Left((found, _)) => found,
            Either::Right(_) => Err(StorageError::failed(format!("no write was done within {DEADLINE:?}"))),
        };
        let was_well = last.as_ref().is_none_or(|outcome| outcome.found.is_ok());
        match &found {
            Err(problem) if was_well => {
                tracing::error!(target: "kassa_server", %problem, "the database takes no writes: the server is not ready");
            }
            Ok(()) if !was_well => tracing::info!(target: "kassa_server", "the database takes writes again"),
            _ => {}
        }
        *last = Some(Outcome { at: surroundings.monotonic(), found: found.clone() });
        found
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        sync::atomic::{AtomicU64, Ordering},
    };

    use pollster::block_on;

    use super::*;
    use crate::{surroundings::Boxed, values::error::ServerError};

    /// A clock that the test moves, by which every deadline is over.
    #[derive(Default)]
    struct Moved(AtomicU64);

    impl Surroundings for Moved {
        fn monotonic(&self) -> Duration {
            Duration::from_millis(self.0.load(Ordering::SeqCst))
        }

        fn sleep(&self, _: Duration) -> Boxed<'static, ()> {
            Box::pin(ready(()))
        }

        fn spawn(&self, _: Boxed<'static, ()>) {}

        fn fill(&self, _: &mut [u8]) -> Result<(), ServerError> {
            Ok(())
        }
    }

    #[test]
    fn it_is_tried_once_a_second_and_what_failed_is_tried_again() {
        let (probe, clock, tries) = (Probe::default(), Moved::default(), AtomicU64::new(0));
        let full = || Err(StorageError::failed("the disk is full"));
        let ask = |found: Result<(), StorageError>| {
            block_on(probe.outcome(&clock, || {
                tries.fetch_add(1, Ordering::SeqCst);
                Box::pin(ready(found))
            }))
        };
        assert_eq!((ask(Ok(())), ask(full())), (Ok(()), Ok(())), "the second is answered by the first");
        clock.0.fetch_add(1000, Ordering::SeqCst);
        assert_eq!((ask(full()), ask(Ok(()))), (full(), full()));
        clock.0.fetch_add(1000, Ordering::SeqCst);
        assert_eq!((ask(Ok(())), tries.load(Ordering::SeqCst)), (Ok(()), 3));
    }

    #[test]
    fn a_disk_that_says_nothing_takes_no_writes() {
        let (probe, clock) = (Probe::default(), Moved::default());
        assert!(block_on(probe.outcome(&clock, || Box::pin(pending::<Result<(), StorageError>>()))).is_err());
    }
}
