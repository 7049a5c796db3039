//! Work side by side (bounded concurrency): as many pieces as there are places, claimed again as places become free, so that
//! one that is slow holds up nothing but its own place.

use std::{future::pending, pin::pin, time::Duration};

use futures_util::{
    FutureExt, StreamExt,
    future::{Either, select},
    stream::FuturesUnordered,
};
use tokio::sync::{Notify, futures::Notified};

use super::Server;
use crate::{
    surroundings::Boxed,
    values::{Millis, error::ServerError},
};

/// How long is waited at most: another process may have written something that is due at once.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How long is waited at least: what becomes due meanwhile shares a commit.
const SHORTEST_SLEEP: Duration = Duration::from_millis(10);
/// How many outcomes share a commit at most.
const RECORDED: usize = 64;

/// Pieces on their ways to their outcomes, and the time until more are due.
pub(super) type Claimed<T> = Result<(Vec<Boxed<'static, T>>, Option<Millis>), ServerError>;

/// What is done side by side.
pub(super) trait Work: Send {
    /// What a piece comes to.
    type Outcome: Send + 'static;

    /// Whether what was recorded last may have made more due at once, or given a place to what is due.
    fn has_more(&self) -> bool;

    /// Takes so many pieces at most.
    fn claim(&mut self, most: u32) -> Boxed<'_, Claimed<Self::Outcome>>;

    /// Notes what they came to.
    fn record(&mut self, outcomes: Vec<Self::Outcome>) -> Boxed<'_, Result<(), ServerError>>;
}

impl Server {
    /// Does it until the server stops; then what is under way is waited for.
    pub(super) async fn work<W: Work>(&self, work: W, most: u32, wake: &Notify) {
        let now = self.shared.surroundings.monotonic();
        let under_way = FuturesUnordered::new();
        let mut places = Places { work, most, under_way, claimed_at: now, claim_at: now, wake, server: self };
        loop {
            // Before it is looked at, so that no stop falls between.
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

/// One worker's.
struct Places<'a, W: Work> {
    work: W,
    /// How many there are.
    most: u32,
    under_way: FuturesUnordered<Boxed<'static, W::Outcome>>,
    /// By monotonic time.
    claimed_at: Duration,
    claim_at: Duration,
    wake: &'a Notify,
    server: &'a Server,
}

impl<W: Work> Places<'_, W> {
    fn now(&self) -> Duration {
        self.server.shared.surroundings.monotonic()
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
                    // There may be more, and another worker may have places.
                    self.wake.notify_one();
                }
                self.under_way.extend(pieces);
                until_next(next_in_ms)
            }
            Err(problem) => troubled(&problem),
        };
        self.claim_at = self.now().saturating_add(pause);
    }

    /// Outcomes, where some come before it is time to claim, or to stop. Who has no free place is not woken: others may.
    async fn outcomes_before(&mut self, stop: Notified<'_>) -> Option<Vec<W::Outcome>> {
        let has_room = self.free() > 0;
        let pause = if has_room { self.claim_at.saturating_sub(self.now()) } else { LONGEST_SLEEP };
        let stop = pin!(stop);
        let over = select(stop, self.server.shared.surroundings.sleep(pause));
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
                // Their leases end, and they are done again.
                troubled(&problem);
            }
        }
    }

    fn claim_soon(&mut self) {
        self.claim_at = self.claim_at.min(self.claimed_at.saturating_add(SHORTEST_SLEEP));
    }
}

/// Those that are there, as soon as one is. Nothing is lost where this is given up meanwhile.
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

fn troubled(problem: &ServerError) -> Duration {
    tracing::warn!(target: "kassa_server", %problem, "a worker could not go on");
    LONGEST_SLEEP
}
