//! Recorded answers, the database alone: what the gateway answered of a hundred payments is one commit.

use std::{fs, path::PathBuf, sync::Arc};

use futures_util::{StreamExt as _, stream};
use kassa::PaymentRef;
use kassa_bench::Figures;
use kassa_server::{
    Exchange, ExchangeKind, Method, Storage,
    storage::inputs::{PollResult, Report, StatusReport},
};

use crate::{
    fill::{Open, fill},
    gateway::now,
    parts::{a_second, mine, take_part},
    place::Place,
    runtime,
};

const MANY: i64 = 200_000;
const BATCH: usize = 100;
/// As many workers follow payments.
const WORKERS: usize = 4;
const BAR: f64 = 10_000.0;

/// So many for each measurement: of either kind one that is not counted, and one for each number of processes.
fn at_once(place: &Place) -> usize {
    place.many(MANY) as usize / (2 + 2 * place.processes().len())
}

/// In turns: so many that are still open, and so many that are charged.
pub fn measure(place: &Place) {
    let open = fill(place, place.many(MANY), now());
    let lines: Vec<String> = open.iter().map(|open| format!("{} {}", open.order_number, open.at)).collect();
    fs::write(numbers(place), lines.join("\n")).expect("room on the disk");
    let title = format!(
        "Recorded answers, {BATCH} a commit, {WORKERS} workers a process, {} are open, the database alone",
        open.len()
    );
    let mut figures = Figures::new(title);
    let write = |figure: f64| format!("{figure:.0} a second");
    let (mut first, at_once) = (0, at_once(place));
    let mut next = |processes| {
        first += at_once;
        a_second(place, "recording-apart", processes, first - at_once..first)
    };
    // The first ones, which find nothing in the caches, are not measured.
    next(1);
    next(1);
    for processes in place.processes() {
        figures.add(format!("that are still open, processes: {processes}"), write(next(*processes)));
        let what =
            format!("that are charged, with the checkout, its events and their delivery, processes: {processes}");
        figures.add_with_floor(what, next(*processes), BAR, write);
    }
    figures.print();
}

/// Where it stands what is open.
fn numbers(place: &Place) -> PathBuf {
    place.folder.join("open")
}

pub fn apart(place: &Place) {
    let (runtime, mine) = (runtime(), mine());
    let is_charged = mine.start / at_once(place) % 2 == 1;
    let text = fs::read_to_string(numbers(place)).expect("a file");
    let lines = text.lines().skip(mine.start).take(mine.len());
    let open: Vec<Open> = lines.map(|line| Open::of(line, ' ')).collect();
    let storage = runtime.block_on(place.storage());
    take_part(|| runtime.block_on(record(&storage, &open, if is_charged { Report::Charged } else { Report::Pending })));
}

async fn record(storage: &Arc<dyn Storage>, open: &[Open], report: fn(Box<PaymentRef>) -> Report) {
    let batches = open.chunks(BATCH).map(|batch| batch.iter().map(|open| answered(open, report)).collect());
    let recorded = batches.map(|batch: Vec<PollResult>| async {
        let many = batch.len();
        let recorded = storage.record_poll_results(batch).await.expect("room on the disk");
        let is_open = matches!(report(PaymentRef::mbank("0", 390).into()), Report::Pending(_));
        assert_eq!(recorded.changed.len(), if is_open { 0 } else { many }, "as many as were charged");
    });
    stream::iter(recorded).buffer_unordered(WORKERS).collect::<()>().await;
}

/// As the sandbox says it.
pub fn said() -> Exchange {
    let mut said = Exchange::new(ExchangeKind::Status, "pending");
    said.code = Some("200".into());
    said.response = Some(format!(r#"{{"code":"200","message":"{}"}}"#, "x".repeat(150)));
    said
}

fn answered(open: &Open, report: fn(Box<PaymentRef>) -> Report) -> PollResult {
    let reference = PaymentRef::mbank(&open.order_number, 390);
    PollResult {
        payment: format!("pay_{}", open.order_number).parse().expect("an identifier"),
        checkout: format!("co_{}", open.order_number).parse().expect("an identifier"),
        method: Method::Mbank,
        leased_until: open.at,
        reports: vec![StatusReport { claim: None, report: report(Box::new(reference)), exchange: said() }],
        random: 7,
    }
}
