//! How late a gateway is asked about many open payments that are spread over three days.

use std::{path::Path, time::Duration};

use kassa_bench::{Figures, processor_time};
use kassa_server::SqliteStorage;
use tokio::time::sleep;

use crate::{
    fill::fill,
    gateway::{Lateness, StillOpen, now},
    runtime, server,
};

const MANY: i64 = 100_000;
/// Until then they are filled in, in milliseconds.
const FILLED_IN: i64 = 20_000;
const FOR: Duration = Duration::from_secs(60);
/// Of 99 of 100 questions, in milliseconds.
const BAR: f64 = 200.0;

pub fn measure(folder: &Path) {
    let (path, start) = (folder.join("kassa.db"), now() + FILLED_IN);
    let due = fill(&path, MANY, start).map(|open| (open.order_number, open.at)).collect();
    let left = u64::try_from(start - now()).expect("a machine that fills them in in time");
    let lateness = Lateness::of(due);
    let storage = SqliteStorage::open(&path).expect("the database");
    let busy = runtime().block_on(async {
        let server = server(storage, StillOpen(lateness.clone()));
        server.run();
        sleep(Duration::from_millis(left)).await;
        let before = processor_time();
        sleep(FOR).await;
        processor_time() - before
    });
    let late = lateness.sorted();
    let at = |thousandth: usize| late[(late.len() - 1) * thousandth / 1000] as f64;
    let ms = |figure: f64| format!("{figure:.0} ms");
    let mut figures = Figures::new(format!("{MANY} open payments, answers after 50 ms, for a minute"));
    figures.add("payments that were due", late.len().to_string());
    figures.add("half of them were asked about late by at most", ms(at(500)));
    figures.add_with_bar("99 of 100", at(990), BAR, ms);
    figures.add("all of them", ms(at(1000)));
    figures.add("of one core", format!("{:.1} %", 100.0 * busy.as_secs_f64() / FOR.as_secs_f64()));
    figures.print();
}
