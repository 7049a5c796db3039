//! Polling and sweeping as several transactions each: claims polls, returns unused ones, sweeps, and records the gateway's state.

use std::sync::atomic::Ordering;

use super::{
    PostgresStorage,
    connections::{Kind, Work},
    horizon::{Horizon, Scan},
    polls::{self, Lease, PartSwept},
    rate_limit::{self, PollDemand},
};
use crate::{
    pace::{
        queues::{METHODS, QUEUES, Queue},
        rate_limit::{GatewayFeedback, PollLimit},
    },
    storage::{
        StorageError, aggregate,
        inputs::{ClaimPolls, Sweep},
        outputs::{ClaimedPolls, SweepOutcome},
    },
    values::Method,
};

impl PostgresStorage {
    /// Counts due polls, takes them out of the bucket, then leases them: three transactions, so that a server that stops
    /// in one of them blocks no others.
    pub(super) async fn claim(&self, claim: ClaimPolls) -> Result<ClaimedPolls, StorageError> {
        let horizon = &self.horizons.polls;
        let scan = horizon.scan();
        let claimed = self.claim_by(scan, claim).await;
        if claimed.is_err() {
            horizon.ended(scan);
        }
        claimed
    }

    async fn claim_by(&self, scan: Scan<QUEUES>, claim: ClaimPolls) -> Result<ClaimedPolls, StorageError> {
        let ClaimPolls { places, lease_ms, per_second } = claim;
        let input = (scan, places.free());
        let due = self.run("due", Kind::Read, input, |db, (scan, most)| Box::pin(polls::due(db, scan, *most))).await?;
        let horizon = &self.horizons.polls;
        // A method without a free place is not polled.
        let mut wanted = due.count;
        for queue in Queue::all().filter(|queue| !places.has_room(queue.method)) {
            wanted[queue.index()] = 0;
        }
        if wanted == [0; QUEUES] {
            horizon.came_to(scan, &due.found([0; QUEUES], places));
            let unused = PollLimit::full(per_second, due.now);
            return Ok(ClaimedPolls { questions: Vec::new(), next_in_ms: unused.next_in(&due.next, places, due.now) });
        }
        let wanted = PollDemand { due: wanted, places, per_second };
        let granted =
            self.run("take_polls", Kind::GoOn, wanted, |db, wanted| Box::pin(rate_limit::take(db, wanted))).await?;
        for (method, is_unheard) in Method::ALL.into_iter().zip(self.is_unheard.iter()) {
            is_unheard.store(granted.limit.of(method).is_unheard(granted.now), Ordering::Relaxed);
        }
        if granted.polls == [0; QUEUES] {
            horizon.came_to(scan, &due.found([0; QUEUES], places));
            let next_in_ms = granted.limit.next_in(&due.next, places, granted.now);
            return Ok(ClaimedPolls { questions: Vec::new(), next_in_ms });
        }
        let lease = Lease { scan, now: due.now, most: granted.polls, lease_ms };
        let leased = self.run("lease", Kind::GoOn, lease, |db, lease| Box::pin(polls::lease(db, lease))).await?;
        let mut found = due.found(granted.polls, places);
        for queue in Queue::all().map(Queue::index).filter(|queue| granted.polls[*queue] > 0) {
            (found.last[queue], found.is_full[queue]) = (leased.found.last[queue], leased.found.is_full[queue]);
        }
        horizon.came_to(scan, &found);
        let unused = aggregate::polls::unused(&granted.polls, &leased.polls);
        if unused != [0; METHODS] {
            let input = (unused, granted.limit);
            let corrected = self
                .run("correct_limit", Kind::GoOn, input, |db, (unused, granted)| {
                    Box::pin(rate_limit::correct(db, unused, granted))
                })
                .await;
            log_failure(corrected);
        }
        let mut left = places;
        leased.polls.iter().for_each(|poll| left.take(poll.method));
        let next_in_ms = granted.limit.corrected(&unused, &granted.limit).next_in(&leased.next, left, granted.now);
        Ok(ClaimedPolls { questions: leased.polls, next_in_ms })
    }

    /// Three transactions as well, each of which locks the aggregates of many checkouts, in their order.
    pub(super) async fn sweep_all(&self, sweep: Sweep) -> Result<SweepOutcome, StorageError> {
        let mut swept = SweepOutcome::default();
        let parts: [(&'static str, &Horizon<1>, Sweeping); 2] = [
            ("sweep_sending", &self.horizons.sending, |db, (scan, most)| {
                Box::pin(polls::sweep_sending(db, scan, *most))
            }),
            ("sweep_checkouts", &self.horizons.expiring, |db, (scan, most)| {
                Box::pin(polls::sweep_checkouts(db, scan, *most))
            }),
        ];
        for (name, horizon, work) in parts {
            let scan = horizon.scan();
            match self.run(name, Kind::GoOn, (scan, sweep.most), work).await {
                Ok(Some((changed, found))) => {
                    horizon.came_to(scan, &found);
                    swept.is_more |= found.is_full[0];
                    swept.changed.extend(changed);
                }
                Ok(None) => horizon.ended(scan),
                Err(problem) => {
                    horizon.ended(scan);
                    return Err(problem);
                }
            }
        }
        swept.is_more |=
            self.run("sweep_kept", Kind::GoOn, sweep, |db, sweep| Box::pin(polls::sweep_kept(db, *sweep))).await?;
        Ok(swept)
    }

    /// Adjusts the rate after recording; if that is lost, the next response repeats it. A success matters only if the rate waits
    /// for the gateway, which each claim finds out.
    pub(super) async fn record_feedback<T>(&self, (recorded, mut heard): (T, Vec<(Method, GatewayFeedback)>)) -> T {
        let waits = |method: Method| self.is_unheard[method as usize].load(Ordering::Relaxed);
        heard.retain(|(method, heard)| !heard.overloads.is_empty() || (heard.is_well && waits(*method)));
        if !heard.is_empty() {
            log_failure(
                self.run("record_feedback", Kind::GoOn, heard, |db, heard| Box::pin(rate_limit::note(db, heard))).await,
            );
        }
        recorded
    }
}

/// A part of a sweep.
type Sweeping = Work<(Scan<1>, u32), PartSwept>;

/// Logs a failure that changes nothing for the caller.
fn log_failure(result: Result<(), StorageError>) {
    if let Err(problem) = result {
        tracing::warn!(target: "kassa_server", %problem, "the poll rate was not recorded");
    }
}
