//! A start over a million open payments.

use std::time::{Duration, Instant};

use kassa_bench::{Figures, resident_memory};
use tokio::time::sleep;

use crate::{
    fill::fill,
    gateway::{Lateness, StillOpen, now},
    place::Place,
    runtime, server,
};

const MANY: i64 = 1_000_000;
/// How long the server was away, in milliseconds.
const AWAY: i64 = 60_000;
const FOR: Duration = Duration::from_secs(10);
/// In milliseconds, and in MB.
const LEASE_BAR: f64 = 1_000.0;
const MEMORY_BAR: f64 = 100.0;

pub fn measure(place: &Place) {
    drop(fill(place, MANY, now() - AWAY));
    // Filling leaves memory behind.
    assert!(place.process("start-apart").status().expect("a process").success());
}

pub fn apart(place: &Place) {
    let on_disk = place.size();
    let lateness = Lateness::of(Default::default());
    let (idle, started) = (resident_memory(), Instant::now());
    let (first, at_first, later) = runtime().block_on(async {
        let server = server(place.storage().await, StillOpen(lateness.clone()));
        server.run();
        lateness.asked.notified().await;
        let (first, at_first) = (started.elapsed(), resident_memory());
        sleep(FOR).await;
        (first, at_first, resident_memory())
    });
    let mb = |bytes: u64| bytes as f64 / 1e6;
    let write_mb = |figure: f64| format!("{figure:.1} MB");
    let mut figures = Figures::new(format!("A start with {MANY} open payments"));
    let ms = |figure: f64| format!("{figure:.0} ms");
    figures.add_with_bar("to the first question of the gateway", first.as_secs_f64() * 1e3, LEASE_BAR, ms);
    figures.add("memory by then", write_mb(mb(at_first)));
    figures.add_with_bar("memory 10 s later", mb(later), MEMORY_BAR, write_mb);
    let each = later.saturating_sub(idle) as f64 / MANY as f64;
    figures.add("memory over the idle process, for each", format!("{each:.1} bytes"));
    figures.add("on the disk, without events, for each", format!("{} bytes", on_disk / MANY as u64));
    figures.print();
}
