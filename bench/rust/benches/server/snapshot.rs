//! Leases while somebody holds a snapshot: nothing that a lease leaves behind can be cleaned up meanwhile.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use kassa_bench::Figures;
use kassa_server::Storage;
use kassa_test_postgres::Snapshot;
use tokio::time::interval;

use crate::{
    fill::fill_overdue,
    leases::{BATCH, lease},
    place::Place,
    runtime,
};

const FOR: Duration = Duration::from_secs(60);
const LAST: Duration = Duration::from_secs(10);
/// 10,000 a second are wanted.
const A_TICK: usize = 2_000;
const TICK: Duration = Duration::from_millis(200);
/// Of the rate without one, in percent.
const BAR: f64 = 80.0;

pub fn measure(place: &Place) {
    let url = place.url.as_deref().expect("a database");
    let open = fill_overdue(place);
    let (before, held) = runtime().block_on(async {
        let storage = place.storage().await;
        let before = leases(&storage).await;
        let snapshot = Snapshot::hold(url);
        let held = leases(&storage).await;
        drop(snapshot);
        (before, held)
    });
    let a_second = |figure: f64| format!("{figure:.0} a second");
    let mut figures = Figures::new(format!(
        "A snapshot held open for a minute, {open} are due, 10000 leases a second are wanted, {BATCH} a claim"
    ));
    figures.add("leases, before", a_second(before.all));
    figures.add("leases, meanwhile", a_second(held.all));
    figures.add("leases in the last ten seconds of it", a_second(held.last));
    figures
        .add_with_floor("kept over the minute", 100.0 * held.all / before.all, BAR, |figure| format!("{figure:.0} %"));
    figures.print();
}

/// How many a second.
struct Rate {
    all: f64,
    last: f64,
}

/// As many as are wanted, or as many as can be.
async fn leases(storage: &Arc<dyn Storage>) -> Rate {
    let mut ticks = interval(TICK);
    let (started, mut all, mut last) = (Instant::now(), 0, 0);
    while started.elapsed() < FOR {
        ticks.tick().await;
        lease(storage, A_TICK).await;
        all += A_TICK;
        last += if started.elapsed() > FOR - LAST { A_TICK } else { 0 };
    }
    Rate { all: all as f64 / started.elapsed().as_secs_f64(), last: last as f64 / LAST.as_secs_f64() }
}
