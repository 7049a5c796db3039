//! What goes on in the background, and how it stops.

use std::{sync::atomic::Ordering, time::Duration};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

use super::{Counted, Server};
use crate::{
    delivery::{self, Deliveries},
    following::{self, Followed},
    storage::inputs::ClaimQuestions,
    values::{Millis, error::ServerError, millis},
};

/// How long a worker sleeps at most: another process may have written something that is due at once.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How long stopping waits for what is under way. What does not end is asked about after the next start.
const PATIENCE: Duration = Duration::from_secs(5);

impl Server {
    /// Does what must be done in the background, until [`stop`](Self::stop). Any number of processes may do it on one
    /// database.
    pub fn run(&self) {
        for _ in 0..self.shared.settings.followers {
            self.spawn_worker(Self::follow_all);
        }
        if self.shared.post.is_some() {
            self.spawn_worker(Self::deliver_all);
        }
    }

    /// Stops: nothing new is begun, and what is under way is waited for, 5 s at most. Nothing is lost: what was not settled
    /// is asked about after the next start.
    pub async fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.stop.notify_waiters();
        // What waits to be sent is not sent any more.
        self.shared.sender.permits.close();
        self.shared.watchers.tell_all();
        let all_ended = Box::pin(async {
            loop {
                let ended = self.shared.task_ended.notified();
                if self.shared.tasks.load(Ordering::Acquire) == 0 {
                    return;
                }
                ended.await;
            }
        });
        let patience = self.shared.surroundings.sleep(PATIENCE);
        match select(all_ended, patience).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }

    /// One turn of following: what time does, then a batch of questions. [`run`](Self::run) does this all the time.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn follow_once(&self) -> Result<Followed, ServerError> {
        let shared = &self.shared;
        let claim = ClaimQuestions {
            most: shared.settings.questions_at_once,
            lease_ms: millis(shared.settings.question_lease),
            per_second: shared.settings.questions_per_second,
        };
        let changed = |checkout: &_| shared.changed(checkout);
        let (storage, gateway, metrics) = (&*shared.storage, &*shared.gateway, &*shared.metrics);
        following::follow(storage, gateway, &*shared.surroundings, metrics, claim, &changed).await
    }

    /// One turn of delivering events. [`run`](Self::run) does this all the time.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn deliver_once(&self) -> Result<Deliveries, ServerError> {
        let shared = &self.shared;
        let Some(post) = &shared.post else { return Ok(Deliveries::default()) };
        let (most, lease) = (shared.settings.deliveries_at_once, shared.settings.delivery_lease);
        let secrets = &shared.settings.signing_secrets;
        delivery::deliver(&*shared.storage, &**post, &shared.metrics, secrets, most, millis(lease)).await
    }

    fn spawn_worker<F: Future<Output = ()> + Send + 'static>(&self, work: impl FnOnce(Self) -> F) {
        let counted = Counted::new(self.shared.clone());
        let work = work(self.clone());
        self.shared.surroundings.spawn(Box::pin(async move {
            work.await;
            drop(counted);
        }));
    }

    async fn follow_all(self) {
        while !self.is_stopping() {
            let pause = match self.follow_once().await {
                Ok(followed) if followed.asked > 0 => continue,
                Ok(followed) => until_next(followed.next_in_ms),
                Err(problem) => troubled(&problem),
            };
            self.pause(&self.shared.follow, pause).await;
        }
    }

    async fn deliver_all(self) {
        while !self.is_stopping() {
            let pause = match self.deliver_once().await {
                Ok(delivered) if delivered.tried > 0 => continue,
                Ok(delivered) => until_next(delivered.next_in_ms),
                Err(problem) => troubled(&problem),
            };
            self.pause(&self.shared.deliver, pause).await;
        }
    }

    async fn pause(&self, wake: &Notify, time: Duration) {
        let stop = self.shared.stop.notified();
        if self.is_stopping() {
            return;
        }
        let pause = self.shared.surroundings.sleep(time);
        let woken = Box::pin(select(Box::pin(wake.notified()), Box::pin(stop)));
        match select(woken, pause).await {
            Either::Left(_) | Either::Right(_) => {}
        }
    }
}

fn until_next(next_in_ms: Option<Millis>) -> Duration {
    let next = next_in_ms.and_then(|wait| u64::try_from(wait).ok()).map(Duration::from_millis);
    // Never without a breath: what is due at once and could not be taken would be tried all the time.
    next.unwrap_or(LONGEST_SLEEP).clamp(Duration::from_millis(5), LONGEST_SLEEP)
}

fn troubled(problem: &ServerError) -> Duration {
    tracing::warn!(target: "kassa_server", %problem, "a worker could not go on");
    LONGEST_SLEEP
}
