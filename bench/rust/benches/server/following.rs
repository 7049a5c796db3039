//! How late a gateway is queried about many open payments that are spread over three days.

use std::time::Duration;

use kassa_bench::{Figures, processor_time};
use kassa_server::Server;
use tokio::time::sleep;

use crate::{
    fill::fill,
    gateway::{Lateness, StillOpen, now},
    place::Place,
    runtime, server,
};

const MANY: i64 = 100_000;
/// Until then they are filled in, in milliseconds.
const FILLED_IN: i64 = 60_000;
const FOR: Duration = Duration::from_secs(60);
/// Of 99 of 100 questions, in milliseconds.
const BAR: f64 = 200.0;

pub fn measure(place: &Place) {
    let (many, start) = (place.many(MANY), now() + FILLED_IN);
    let due = fill(place, many, start).into_iter().map(|open| (open.order_number, open.at)).collect();
    let left = u64::try_from(start - now()).expect("a machine that fills them in in time");
    let lateness = Lateness::of(due);
    // Each server has 128 questions under way at most: a million open payments are near what one asks.
    let servers = if place.url.is_some() { 2 } else { 1 };
    let busy = runtime().block_on(async {
        let mut running = Vec::new();
        for _ in 0..servers {
            running.push(server(place.storage().await, StillOpen(lateness.clone())));
        }
        running.iter().for_each(Server::run);
        sleep(Duration::from_millis(left)).await;
        let before = processor_time();
        sleep(FOR).await;
        processor_time() - before
    });
    let late = lateness.sorted();
    let at = |thousandth: usize| late[(late.len() - 1) * thousandth / 1000] as f64;
    let ms = |figure: f64| format!("{figure:.0} ms");
    let mut figures =
        Figures::new(format!("{many} open payments, answers after 50 ms, for a minute, servers: {servers}"));
    figures.add("payments that were due", late.len().to_string());
    figures.add("half of them were queried late by at most", ms(at(500)));
    figures.add_with_bar("99 of 100", at(990), BAR, ms);
    figures.add("all of them", ms(at(1000)));
    figures.add("of one core", format!("{:.1} %", 100.0 * busy.as_secs_f64() / FOR.as_secs_f64()));
    figures.print();
}
