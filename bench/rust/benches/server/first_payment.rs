//! A checkout's first payment, from the call to its answer, beside the least that has to be written.

use std::{
    fs::{File, OpenOptions},
    io::Write as _,
    time::Instant,
};

use kassa::FakeGateway;
use kassa_bench::Figures;
use kassa_server::{CheckoutId, PaymentState, Server};
use tokio_postgres::{Client, NoTls};

use crate::{order, place::Place, runtime, server};

const ROUNDS: usize = 51;
const TIMES: usize = 20;
/// What the server may take over two bare appends, in milliseconds.
const MORE: f64 = 0.5;

pub fn measure(place: &Place) {
    let (paid, pairs) = runtime().block_on(async {
        let mut bare = Bare::open(place).await;
        let server = server(place.storage().await, FakeGateway::new().expect("a gateway in memory").gateway());
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
            let mut bare_times = Vec::new();
            for _ in 0..TIMES {
                bare_times.push(bare.two().await);
            }
            if round > 0 {
                paid.extend(times);
                pairs.extend(bare_times);
            }
        }
        server.stop().await;
        (median(paid), median(pairs))
    });
    let ms = |figure: f64| format!("{figure:.2} ms");
    let mut figures = Figures::new("A checkout's first payment, one caller");
    let what = "written down, sent, and its answer written down";
    match place.url {
        Some(_) => {
            figures.add(what, ms(paid));
            figures.add("two bare inserts of 200 bytes, each committed", ms(pairs));
        }
        None => {
            figures.add_with_bar(what, paid, pairs + MORE, ms);
            figures.add("two bare appends of 200 bytes, each flushed", ms(pairs));
        }
    }
    figures.print();
}

/// The least that has to be written: twice 200 bytes, so that they are there after a power cut.
enum Bare {
    File(File),
    Table(Client),
}

impl Bare {
    async fn open(place: &Place) -> Self {
        let Some(url) = &place.url else {
            let file = OpenOptions::new().create(true).append(true).open(place.folder.join("bare"));
            return Self::File(file.expect("a file"));
        };
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("a database");
        tokio::spawn(connection);
        client.batch_execute("CREATE TABLE bare (text TEXT)").await.expect("a table");
        Self::Table(client)
    }

    /// Milliseconds for both.
    async fn two(&mut self) -> f64 {
        let started = Instant::now();
        for _ in 0..2 {
            match self {
                Self::File(file) => {
                    file.write_all(&[b'x'; 200]).expect("room on the disk");
                    file.sync_data().expect("a disk that flushes");
                }
                Self::Table(client) => {
                    let text = "x".repeat(200);
                    client.execute("INSERT INTO bare VALUES ($1)", &[&text]).await.expect("a row");
                }
            }
        }
        milliseconds(started)
    }
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

fn milliseconds(started: Instant) -> f64 {
    started.elapsed().as_secs_f64() * 1e3
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}
