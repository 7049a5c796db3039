//! What goes on in the background, and how it stops.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use futures_util::future::{Either, select};

use super::{
    Counted, Server, Shared,
    places::{Claimed, Work},
};
use crate::{
    delivery::{self, Deliveries},
    following::{self, Followed},
    pace::queues::Places,
    storage::inputs::{Answered, ClaimDeliveries, ClaimQuestions, Delivered},
    surroundings::Boxed,
    values::{Millis, error::ServerError, method::Method, millis},
};

/// How often a worker looks for what time does.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How long stopping waits for what is under way. What does not end is asked about after the next start.
const PATIENCE: Duration = Duration::from_secs(5);

impl Server {
    /// Does what must be done in the background, until [`stop`](Self::stop). Any number of processes may do it on one
    /// database.
    pub fn run(&self) {
        for _ in 0..self.shared.settings.poll_workers {
            self.spawn_worker(Self::follow_all);
        }
        if self.shared.post.is_some() {
            self.spawn_worker(Self::deliver_all);
        }
        self.spawn_worker(Self::tell_neighbours);
        self.spawn_worker(Self::hear_neighbours);
    }

    /// Stops: nothing new is begun, and what is under way is waited for, 5 s at most. Nothing is lost: what was not recorded
    /// is asked about after the next start.
    pub async fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Release);
        self.shared.stop.notify_waiters();
        // What waits to be sent is not sent any more.
        self.shared.sender.places.close();
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
        let changed = |checkout: &_| shared.changed(checkout);
        following::follow(
            &*shared.storage,
            &shared.gateway,
            &*shared.surroundings,
            &shared.metrics,
            shared.questions(),
            shared.keep_for_ms(),
            &changed,
        )
        .await
    }

    /// One turn of delivering events. [`run`](Self::run) does this all the time.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn deliver_once(&self) -> Result<Deliveries, ServerError> {
        let shared = &self.shared;
        let Some(post) = &shared.post else { return Ok(Deliveries::default()) };
        let (secrets, wanted) = (&shared.settings.signing_secrets, shared.deliveries());
        delivery::deliver(&*shared.storage, post, &shared.metrics, secrets, wanted).await
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
        let most = self.shared.settings.max_concurrent_polls;
        let (shared, places) = (self.shared.clone(), Places::new(most));
        let questions = Questions { shared, sweep_at: Duration::ZERO, places, had_no_room: false };
        self.work(questions, most, &self.shared.follow).await;
    }

    async fn deliver_all(self) {
        let places = self.shared.settings.deliveries_at_once;
        self.work(Events { shared: self.shared.clone() }, places, &self.shared.deliver).await;
    }
}

/// Asks the gateway about what is due, and sweeps now and then.
struct Questions {
    shared: Arc<Shared>,
    sweep_at: Duration,
    /// What is under way, by method.
    places: Places,
    /// Before the last answers came a method had no place left.
    had_no_room: bool,
}

impl Work for Questions {
    type Outcome = Answered;

    fn claim(&mut self, _most: u32) -> Boxed<'_, Claimed<Answered>> {
        Box::pin(async move {
            let shared = &self.shared;
            let now = shared.surroundings.monotonic();
            if now >= self.sweep_at {
                let is_more =
                    following::sweep(&*shared.storage, shared.keep_for_ms(), &|checkout| shared.changed(checkout))
                        .await?;
                self.sweep_at = if is_more { now } else { now.saturating_add(SWEEP_EVERY) };
            }
            let claim = ClaimQuestions { places: self.places, ..shared.questions() };
            let claimed = following::claim(&*shared.storage, &shared.gateway, &*shared.surroundings, claim).await?;
            self.places = claimed.places;
            Ok((claimed.asking, claimed.next_in_ms))
        })
    }

    fn record(&mut self, answers: Vec<Answered>) -> Boxed<'_, Result<(), ServerError>> {
        self.had_no_room = Method::ALL.iter().any(|method| !self.places.has_room(*method));
        answers.iter().for_each(|answered| self.places.give_back(answered.method));
        let shared = &self.shared;
        Box::pin(async move {
            let tell = |checkout: &_| shared.changed(checkout);
            following::record(&*shared.storage, &shared.metrics, answers, &tell).await
        })
    }

    fn has_more(&self) -> bool {
        self.had_no_room
    }
}

/// Delivers events to the shop.
struct Events {
    shared: Arc<Shared>,
}

impl Work for Events {
    type Outcome = Delivered;

    fn claim(&mut self, most: u32) -> Boxed<'_, Claimed<Delivered>> {
        let shared = &self.shared;
        Box::pin(async move {
            let Some(post) = &shared.post else { return Ok((Vec::new(), None)) };
            let claim = ClaimDeliveries { most, ..shared.deliveries() };
            delivery::claim(&*shared.storage, post, &shared.settings.signing_secrets, claim).await
        })
    }

    fn record(&mut self, delivered: Vec<Delivered>) -> Boxed<'_, Result<(), ServerError>> {
        let shared = &self.shared;
        Box::pin(async move { delivery::record(&*shared.storage, &shared.metrics, delivered).await })
    }

    /// The next events of their streams.
    fn has_more(&self) -> bool {
        true
    }
}

impl Shared {
    fn keep_for_ms(&self) -> Millis {
        millis(self.settings.keep_for)
    }

    fn questions(&self) -> ClaimQuestions {
        ClaimQuestions {
            places: Places::new(self.settings.max_concurrent_polls),
            lease_ms: millis(self.settings.question_lease),
            per_second: self.settings.poll_rate,
        }
    }

    fn deliveries(&self) -> ClaimDeliveries {
        ClaimDeliveries {
            most: self.settings.deliveries_at_once,
            lease_ms: millis(self.settings.delivery_lease),
            kinds: self.settings.event_kinds.clone(),
        }
    }
}
