//! A checkout's first payment, from the call to its answer, beside two bare appends that are flushed.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    path::Path,
    time::Instant,
};

use kassa::FakeGateway;
use kassa_bench::Figures;
use kassa_server::{CheckoutId, PaymentState, Server, SqliteStorage};

use crate::{order, runtime, server};

const ROUNDS: usize = 51;
const TIMES: usize = 20;
/// What the server may take over two bare appends, in milliseconds.
const MORE: f64 = 0.5;

pub fn measure(folder: &Path) {
    let storage = SqliteStorage::open(&folder.join("kassa.db")).expect("a new database");
    let mut bare = OpenOptions::new().create(true).append(true).open(folder.join("bare")).expect("a file");
    let runtime = runtime();
    let (paid, pairs) = runtime.block_on(async {
        let server = server(storage, FakeGateway::new().expect("a gateway in memory").gateway());
        server.run();
        let (mut paid, mut pairs) = (Vec::new(), Vec::new());
        for round in 0..=ROUNDS {
            let mut checkouts = Vec::new();
            for time in 0..TIMES {
                let opened = server.open_checkout(order(format!("{round}-{time}"))).await;
                checkouts.push(opened.expect("a checkout").checkout.id);
            }
            // On a thread of the runtime, as requests are.
            let work = pay_all(server.clone(), checkouts);
            let times = tokio::spawn(work).await.expect("no panic");
            let pair = std::iter::repeat_with(|| two_appends(&mut bare)).take(TIMES);
            if round > 0 {
                paid.extend(times);
                pairs.extend(pair);
            } else {
                pair.for_each(drop);
            }
        }
        server.stop().await;
        (median(paid), median(pairs))
    });
    let ms = |figure: f64| format!("{figure:.2} ms");
    let mut figures = Figures::new("A checkout's first payment, one caller");
    figures.add_with_bar("written down, sent, and its answer written down", paid, pairs + MORE, ms);
    figures.add("two bare appends of 200 bytes, each flushed", ms(pairs));
    figures.print();
}

async fn pay_all(server: Server, checkouts: Vec<CheckoutId>) -> Vec<f64> {
    let mut times = Vec::new();
    for id in checkouts {
        let started = Instant::now();
        let payment = server.pay_by_mbank(&id, "996700000001", Some("first")).await.expect("a payment");
        times.push(milliseconds(started));
        assert_eq!(payment.state, PaymentState::Awaiting);
    }
    times
}

fn two_appends(file: &mut File) -> f64 {
    let started = Instant::now();
    for _ in 0..2 {
        file.write_all(&[b'x'; 200]).expect("room on the disk");
        file.sync_data().expect("a disk that flushes");
    }
    milliseconds(started)
}

fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
