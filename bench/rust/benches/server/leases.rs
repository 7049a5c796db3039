//! Leases of what is due, a hundred a claim, at a million open payments, by several processes at once.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use futures_util::future::join_all;
use kassa_bench::Figures;
use kassa_server::{
    Storage,
    storage::{
        inputs::{ClaimPolls, Slots},
        outputs::DuePoll,
    },
};

use crate::{
    fill::fill_overdue,
    parts::{a_second, mine, take_part},
    place::Place,
    runtime,
};

pub const BATCH: u32 = 100;
/// As many workers follow payments in each process.
pub const WORKERS: usize = 4;
const MANY: usize = 100_000;
const BAR: f64 = 10_000.0;
const LEASE_MS: i64 = 60_000;

/// Leased as if nothing limited how often the gateway may be asked.
pub const CLAIM: ClaimPolls = ClaimPolls { places: places(BATCH), lease_ms: LEASE_MS, per_second: 1_000_000 };

/// For so many of one method: the other methods' own places stay free.
const fn places(most: u32) -> Slots {
    Slots::new(most * 16 / 13 + 1)
}

pub fn measure(place: &Place) {
    let open = fill_overdue(place);
    let mut figures = Figures::new(format!("Leases, {BATCH} a claim, {WORKERS} workers a process, {open} are due"));
    // The first ones, which find nothing in the caches, are not measured.
    a_second(place, "leases-apart", 1, 0..MANY);
    for (turn, processes) in (1..).zip(place.processes()) {
        let first = turn * MANY;
        let a_second = a_second(place, "leases-apart", *processes, first..first + MANY);
        figures
            .add_with_floor(format!("processes: {processes}"), a_second, BAR, |figure| format!("{figure:.0} a second"));
    }
    figures.print();
}

pub fn apart(place: &Place) {
    let runtime = runtime();
    let storage = runtime.block_on(place.storage());
    // The first use of the connections is not measured.
    runtime.block_on(lease(&storage, WORKERS * BATCH as usize));
    take_part(|| runtime.block_on(lease(&storage, mine().len())));
}

/// Leases so many.
pub async fn lease(storage: &Arc<dyn Storage>, many: usize) {
    claim_all(storage, many, |_| std::future::ready(())).await;
}

/// Leases so many, and does something with each claim's.
pub async fn claim_all<F>(storage: &Arc<dyn Storage>, many: usize, then: impl Fn(Vec<DuePoll>) -> F + Copy)
where
    F: Future<Output = ()>,
{
    let left = AtomicUsize::new(many);
    let worker = || async {
        // Each takes part of what is left before it claims, so that all together claim as many as are wanted.
        while left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(BATCH as usize)).is_ok() {
            let mut wanted = BATCH as usize;
            while wanted > 0 {
                let most = u32::try_from(wanted).expect("a batch");
                let claimed =
                    storage.claim_polls(ClaimPolls { places: places(most), ..CLAIM }).await.expect("a database");
                wanted = wanted.saturating_sub(claimed.questions.len());
                then(claimed.questions).await;
            }
        }
    };
    join_all((0..WORKERS).map(|_| worker())).await;
}
