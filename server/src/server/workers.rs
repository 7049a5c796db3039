//! The background workers: polling of payments and delivery of events, in turns until the server stops.

use std::{future::pending, pin::pin, sync::Arc, time::Duration};

use futures_util::{
    FutureExt, StreamExt,
    future::{Either, select},
    stream::FuturesUnordered,
};
use tokio::sync::{Notify, futures::Notified};

use super::{Server, Shared};
use crate::{
    pace::queues::Slots,
    polling::{self, PollSummary},
    runtime::Boxed,
    storage::inputs::{ClaimDeliveries, ClaimPolls, DeliveryOutcome, PollResult},
    values::{Method, Millis, error::ServerError, millis},
    webhooks::{self, Deliveries},
};

/// The interval of sweeps.
const SWEEP_EVERY: Duration = Duration::from_secs(1);

impl Server {
    /// One turn of polling: a sweep, then a batch of queries. [`run`](Self::run) repeats this.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn poll_once(&self) -> Result<PollSummary, ServerError> {
        let shared = &self.shared;
        let changed = |checkout: &_| shared.changed(checkout);
        polling::poll_once(
            &*shared.storage,
            &shared.gateway,
            &*shared.runtime,
            &shared.metrics,
            shared.poll_claim(),
            shared.keep_for_ms(),
            &changed,
        )
        .await
    }

    /// One turn of delivering events. [`run`](Self::run) repeats this.
    ///
    /// # Errors
    /// [`ServerError::Unavailable`].
    pub async fn deliver_once(&self) -> Result<Deliveries, ServerError> {
        let shared = &self.shared;
        let Some(post) = &shared.post else { return Ok(Deliveries::default()) };
        let (secrets, wanted) = (&shared.settings.signing_secrets, shared.deliveries());
        webhooks::deliver(&*shared.storage, post, &shared.metrics, secrets, wanted).await
    }

    pub(super) async fn poll_all(self) {
        let most = self.shared.settings.max_concurrent_polls;
        let (shared, places) = (self.shared.clone(), Slots::new(most));
        let polls = PollWork { shared, sweep_at: Duration::ZERO, places, had_no_room: false };
        self.work(polls, most, &self.shared.poll_due).await;
    }

    pub(super) async fn deliver_all(self) {
        let places = self.shared.settings.deliveries_at_once;
        self.work(DeliveryWork { shared: self.shared.clone() }, places, &self.shared.delivery_due).await;
    }
}

/// Polls due payments, and sweeps at intervals.
struct PollWork {
    shared: Arc<Shared>,
    sweep_at: Duration,
    /// The polls in flight, by method.
    places: Slots,
    /// Whether a method had no free slot before the last responses.
    had_no_room: bool,
}

impl Work for PollWork {
    type Outcome = PollResult;

    fn claim(&mut self, _most: u32) -> Boxed<'_, Claimed<PollResult>> {
        Box::pin(async move {
            let shared = &self.shared;
            let now = shared.runtime.monotonic();
            if now >= self.sweep_at {
                let is_more =
                    polling::sweep(&*shared.storage, shared.keep_for_ms(), &|checkout| shared.changed(checkout))
                        .await?;
                self.sweep_at = if is_more { now } else { now.saturating_add(SWEEP_EVERY) };
            }
            let claim = ClaimPolls { places: self.places, ..shared.poll_claim() };
            let claimed = polling::claim(&*shared.storage, &shared.gateway, &*shared.runtime, claim).await?;
            self.places = claimed.places;
            Ok((claimed.queries, claimed.next_in_ms))
        })
    }

    fn record(&mut self, answers: Vec<PollResult>) -> Boxed<'_, Result<(), ServerError>> {
        self.had_no_room = Method::ALL.iter().any(|method| !self.places.has_room(*method));
        answers.iter().for_each(|answered| self.places.give_back(answered.method));
        let shared = &self.shared;
        Box::pin(async move {
            let notify = |checkout: &_| shared.changed(checkout);
            polling::record(&*shared.storage, &shared.metrics, answers, &notify).await
        })
    }

    fn has_more(&self) -> bool {
        self.had_no_room
    }
}

/// Delivers events to the shop.
struct DeliveryWork {
    shared: Arc<Shared>,
}

impl Work for DeliveryWork {
    type Outcome = DeliveryOutcome;

    fn claim(&mut self, most: u32) -> Boxed<'_, Claimed<DeliveryOutcome>> {
        let shared = &self.shared;
        Box::pin(async move {
            let Some(post) = &shared.post else { return Ok((Vec::new(), None)) };
            let claim = ClaimDeliveries { most, ..shared.deliveries() };
            webhooks::claim(&*shared.storage, post, &shared.settings.signing_secrets, claim).await
        })
    }

    fn record(&mut self, delivered: Vec<DeliveryOutcome>) -> Boxed<'_, Result<(), ServerError>> {
        let shared = &self.shared;
        Box::pin(async move { webhooks::record(&*shared.storage, &shared.metrics, delivered).await })
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

    fn poll_claim(&self) -> ClaimPolls {
        ClaimPolls {
            places: Slots::new(self.settings.max_concurrent_polls),
            lease_ms: millis(self.settings.poll_lease),
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

// Bounded concurrency: as many pieces of work as there are places, claimed again as places become free, so that a
// slow one blocks only its own place.

/// The longest pause: another process may have written something that is due at once.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// The shortest pause: work that becomes due during it shares a commit.
const SHORTEST_SLEEP: Duration = Duration::from_millis(10);
/// The most outcomes that share a commit.
const RECORDED: usize = 64;

/// The claimed pieces of work, and the time until more are due.
pub(super) type Claimed<T> = Result<(Vec<Boxed<'static, T>>, Option<Millis>), ServerError>;

/// Work that runs concurrently.
pub(super) trait Work: Send {
    /// The result of one piece of work.
    type Outcome: Send + 'static;

    /// Whether the last recorded outcomes may have made more work due at once, or given due work a place.
    fn has_more(&self) -> bool;

    /// Claims at most this many pieces.
    fn claim(&mut self, most: u32) -> Boxed<'_, Claimed<Self::Outcome>>;

    /// Records their outcomes.
    fn record(&mut self, outcomes: Vec<Self::Outcome>) -> Boxed<'_, Result<(), ServerError>>;
}

impl Server {
    /// Works until the server stops; then waits for work in progress.
    pub(super) async fn work<W: Work>(&self, work: W, most: u32, wake: &Notify) {
        let now = self.shared.runtime.monotonic();
        let under_way = FuturesUnordered::new();
        let mut places = WorkerSlots { work, most, under_way, claimed_at: now, claim_at: now, wake, server: self };
        loop {
            // Subscribed before the check, so that no stop is missed.
            let stop = self.shared.stop.notified();
            let is_stopping = self.is_stopping();
            if is_stopping && places.under_way.is_empty() {
                return;
            }
            if !is_stopping && places.free() > 0 && places.now() >= places.claim_at {
                places.claim().await;
                continue;
            }
            let outcomes = match is_stopping {
                true => Some(outcomes(&mut places.under_way).await),
                false => places.outcomes_before(stop).await,
            };
            if let Some(outcomes) = outcomes {
                places.record(outcomes).await;
            }
        }
    }
}

/// The places of one worker.
struct WorkerSlots<'a, W: Work> {
    work: W,
    /// The number of places.
    most: u32,
    under_way: FuturesUnordered<Boxed<'static, W::Outcome>>,
    /// The time of the last claim, by monotonic time.
    claimed_at: Duration,
    claim_at: Duration,
    wake: &'a Notify,
    server: &'a Server,
}

impl<W: Work> WorkerSlots<'_, W> {
    fn now(&self) -> Duration {
        self.server.shared.runtime.monotonic()
    }

    fn free(&self) -> u32 {
        self.most.saturating_sub(u32::try_from(self.under_way.len()).unwrap_or(u32::MAX))
    }

    async fn claim(&mut self) {
        let free = self.free();
        self.claimed_at = self.now();
        let pause = match self.work.claim(free).await {
            Ok((pieces, next_in_ms)) => {
                if pieces.len() >= free as usize {
                    // There may be more due work, and another worker may have places.
                    self.wake.notify_one();
                }
                self.under_way.extend(pieces);
                until_next(next_in_ms)
            }
            Err(problem) => pause_after_failure(&problem),
        };
        self.claim_at = self.now().saturating_add(pause);
    }

    /// Outcomes, if some arrive before it is time to claim or to stop. A worker without a free place is
    /// not woken: others may have one.
    async fn outcomes_before(&mut self, stop: Notified<'_>) -> Option<Vec<W::Outcome>> {
        let has_room = self.free() > 0;
        let pause = if has_room { self.claim_at.saturating_sub(self.now()) } else { LONGEST_SLEEP };
        let stop = pin!(stop);
        let over = select(stop, self.server.shared.runtime.sleep(pause));
        let wake = self.wake;
        let woken = pin!(async { if has_room { wake.notified().await } else { pending().await } });
        let woken_or_over = select(woken, over);
        match select(pin!(outcomes(&mut self.under_way)), woken_or_over).await {
            Either::Left((outcomes, _)) => return Some(outcomes),
            Either::Right((Either::Right(_), _)) => return None,
            Either::Right((Either::Left(_), _)) => {}
        }
        self.claim_soon();
        None
    }

    async fn record(&mut self, outcomes: Vec<W::Outcome>) {
        match self.work.record(outcomes).await {
            Ok(()) if self.work.has_more() => self.claim_soon(),
            Ok(()) => {}
            Err(problem) => {
                // Their leases end, and they are repeated.
                pause_after_failure(&problem);
            }
        }
    }

    fn claim_soon(&mut self) {
        self.claim_at = self.claim_at.min(self.claimed_at.saturating_add(SHORTEST_SLEEP));
    }
}

/// The finished outcomes, as soon as there is one. Cancel-safe: nothing is lost if this is dropped.
async fn outcomes<T>(under_way: &mut FuturesUnordered<Boxed<'static, T>>) -> Vec<T> {
    let Some(first) = under_way.next().await else { return pending().await };
    let mut outcomes = vec![first];
    while outcomes.len() < RECORDED {
        match under_way.next().now_or_never() {
            Some(Some(outcome)) => outcomes.push(outcome),
            _ => break,
        }
    }
    outcomes
}

fn until_next(next_in_ms: Option<Millis>) -> Duration {
    let next = next_in_ms.and_then(|wait| u64::try_from(wait).ok()).map(Duration::from_millis);
    next.unwrap_or(LONGEST_SLEEP).clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
}

fn pause_after_failure(problem: &ServerError) -> Duration {
    tracing::warn!(target: "kassa_server", %problem, "a worker failed and retries later");
    LONGEST_SLEEP
}
