//! Settlements, the database alone: what the gateway answered of a hundred payments is one commit.

use std::{path::Path, time::Instant};

use futures_util::{StreamExt as _, stream};
use kassa::PaymentRef;
use kassa_bench::Figures;
use kassa_server::{
    Asked, Exchange, SqliteStorage, Storage,
    storage::inputs::{Answered, Report, Reported},
};

use crate::{
    fill::{Open, fill},
    gateway::now,
    runtime,
};

const MANY: i64 = 100_000;
const BATCH: usize = 100;
/// As many workers follow payments.
const WORKERS: usize = 4;
const BAR: f64 = 10_000.0;

pub fn measure(folder: &Path) {
    let path = folder.join("kassa.db");
    let open: Vec<Open> = fill(&path, MANY, now()).collect();
    let (still_open, charged) = open.split_at(open.len() / 2);
    let storage = SqliteStorage::open(&path).expect("the database");
    let (still_open, charged) = runtime().block_on(async {
        let still_open = a_second(&storage, still_open, Report::Open).await;
        (still_open, a_second(&storage, charged, Report::Charged).await)
    });
    let a_second = |figure: f64| format!("{figure:.0} a second");
    let mut figures = Figures::new(format!("Settlements, {BATCH} a commit, {WORKERS} workers, the database alone"));
    figures.add("that are still open", a_second(still_open));
    figures.add_with_floor(
        "that are charged, with the checkout, its events and their delivery",
        charged,
        BAR,
        a_second,
    );
    figures.print();
}

async fn a_second(storage: &SqliteStorage, open: &[Open], report: fn(Box<PaymentRef>) -> Report) -> f64 {
    let started = Instant::now();
    let batches = open.chunks(BATCH).map(|batch| batch.iter().map(|open| answered(open, report)).collect());
    let settled = batches.map(|batch: Vec<Answered>| async {
        let settled = storage.settle_questions(batch).await.expect("room on the disk");
        assert!(settled.changed.is_empty() || settled.changed.len() == BATCH);
    });
    stream::iter(settled).buffer_unordered(WORKERS).collect::<()>().await;
    open.len() as f64 / started.elapsed().as_secs_f64()
}

/// As the sandbox says it.
fn said() -> Exchange {
    let mut said = Exchange::new(Asked::Status, "open");
    said.code = Some("200".into());
    said.reply = Some(format!(r#"{{"code":"200","message":"{}"}}"#, "x".repeat(150)));
    said
}

fn answered(open: &Open, report: fn(Box<PaymentRef>) -> Report) -> Answered {
    let reference = PaymentRef::mbank(&open.order_number, 390);
    Answered {
        payment: format!("pay_{}", open.order_number).parse().expect("an identifier"),
        leased_until: open.at,
        reports: vec![Reported { claim: None, report: report(Box::new(reference)), exchange: said() }],
        random: 7,
    }
}
