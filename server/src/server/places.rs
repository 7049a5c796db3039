//! Work side by side (bounded concurrency): as many pieces as there are places, claimed again as places become free, so that
//! one that is slow holds up nothing but its own place.

use std::{future::pending, pin::pin, time::Duration};

use futures_util::{
    FutureExt, StreamExt,
    future::{Either, select},
    stream::FuturesUnordered,
};
use tokio::sync::Notify;

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
const SETTLED: usize = 64;

/// Pieces on their ways to their outcomes, and the time until more are due.
pub(super) type Claimed<T> = Result<(Vec<Boxed<'static, T>>, Option<Millis>), ServerError>;

/// What is done side by side.
pub(super) trait Work: Send {
    /// What a piece comes to.
    type Outcome: Send + 'static;

    /// Takes so many pieces at most.
    fn claim(&mut self, most: u32) -> Boxed<'_, Claimed<Self::Outcome>>;

    /// Notes what they came to.
    fn settle(&mut self, outcomes: Vec<Self::Outcome>) -> Boxed<'_, Result<(), ServerError>>;
}

impl Server {
    /// Does it until the server stops; then what is under way is waited for.
    pub(super) async fn work<W: Work>(&self, mut work: W, places: u32, wake: &Notify) {
        let mut under_way = FuturesUnordered::new();
        let now = || self.shared.surroundings.monotonic();
        let (mut claimed_at, mut claim_at) = (now(), now());
        loop {
            let free = places.saturating_sub(u32::try_from(under_way.len()).unwrap_or(u32::MAX));
            if !self.is_stopping() && free > 0 && now() >= claim_at {
                claimed_at = now();
                let pause = match work.claim(free).await {
                    Ok((pieces, next_in_ms)) => {
                        if pieces.len() >= free as usize {
                            // There may be more: another worker may have places.
                            wake.notify_one();
                        }
                        under_way.extend(pieces);
                        until_next(next_in_ms)
                    }
                    Err(problem) => troubled(&problem),
                };
                claim_at = now().saturating_add(pause);
                continue;
            }
            if self.is_stopping() && under_way.is_empty() {
                return;
            }
            let pause = claim_at.saturating_sub(now());
            let pause = pin!(self.pause((free > 0).then_some((wake, pause))));
            let outcomes = match select(pin!(outcomes(&mut under_way)), pause).await {
                Either::Left((outcomes, _)) => outcomes,
                Either::Right((is_woken, _)) => {
                    if is_woken {
                        claim_at = claim_at.min(claimed_at.saturating_add(SHORTEST_SLEEP));
                    }
                    continue;
                }
            };
            if let Err(problem) = work.settle(outcomes).await {
                // Their leases end, and they are done again.
                troubled(&problem);
            }
        }
    }

    /// Until it is woken, which it says, or the time is over; without a time for ever. When the server stops, once.
    async fn pause(&self, until: Option<(&Notify, Duration)>) -> bool {
        let stop = pin!(self.shared.stop.notified());
        if self.is_stopping() {
            return pending().await;
        }
        let Some((wake, time)) = until else {
            stop.await;
            return false;
        };
        let rest = select(stop, self.shared.surroundings.sleep(time));
        matches!(select(pin!(wake.notified()), rest).await, Either::Left(_))
    }
}

/// Those that are there, as soon as one is. Nothing is lost where this is given up meanwhile.
async fn outcomes<T>(under_way: &mut FuturesUnordered<Boxed<'static, T>>) -> Vec<T> {
    let Some(first) = under_way.next().await else { return pending().await };
    let mut outcomes = vec![first];
    while outcomes.len() < SETTLED {
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
