//! A status query over a warm connection: Kassa beside bare reqwest and bare hyper, which send the same request and
//! read status and exact amount from the response. Its argument is the address of the server.

mod peers;

use std::{future::Future, pin::Pin, sync::Arc, time::Instant};

use kassa_bench::{Comparison, Counting, counts, in_turn};
use tokio::runtime::{Builder, Runtime};

use self::peers::{BareHyper, BareReqwest, BareSocket, Kassa};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const ROUNDS: usize = 51;
const TIMES: u32 = 200;
const AT_ONCE: usize = 100;
/// As many as Kassa's own.
const WORKERS: usize = 2;

type Asked = Pin<Box<dyn Future<Output = ()> + Send>>;
/// One query.
type Ask = Arc<dyn Fn() -> Asked + Send + Sync>;

fn main() {
    let url = std::env::args().nth(1).expect("usage: query URL");
    let runtime = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build().expect("a runtime");
    let peers = all(&url);
    // Connections are made, and buffers have their size.
    for (_, ask) in &peers {
        from_a_task(&runtime, ask);
    }
    let facts: Vec<_> = peers.iter().map(|(name, ask)| (*name, allocations(&runtime, ask))).collect();
    for (title, how, bar) in [
        ("One by one, from a task", from_a_task as fn(&Runtime, &Ask) -> f64, 1.05),
        ("One by one, from `main`", from_main, 1.3),
        ("100 at once", at_once, 1.2),
    ] {
        let subjects = peers.iter().map(|(name, ask)| {
            let measure: Box<dyn FnMut() -> f64> = Box::new(|| how(&runtime, ask));
            (*name, measure)
        });
        let samples = in_turn(ROUNDS, subjects.collect());
        let bars = vec![("bare reqwest", bar)];
        let facts = if title.ends_with("task") { facts.clone() } else { Vec::new() };
        Comparison { title: title.to_owned(), unit: "us each", samples, bars, facts }.print();
    }
}

fn all(url: &str) -> Vec<(&'static str, Ask)> {
    let kassa = Arc::new(Kassa::new(url));
    let reqwest = Arc::new(BareReqwest::new(url));
    let hyper = BareHyper::new(url);
    let socket = BareSocket::new(url);
    vec![
        ("Kassa", ask(move || Arc::clone(&kassa).ask())),
        ("bare reqwest", ask(move || Arc::clone(&reqwest).ask())),
        ("bare hyper", ask(move || hyper.clone().ask())),
        ("a bare socket", ask(move || socket.clone().ask())),
    ]
}

fn ask<F: Future<Output = ()> + Send + 'static>(make: impl Fn() -> F + Send + Sync + 'static) -> Ask {
    Arc::new(move || Box::pin(make()))
}

async fn one_by_one(ask: &Ask) -> f64 {
    let started = Instant::now();
    for _ in 0..TIMES {
        ask().await;
    }
    started.elapsed().as_secs_f64() * 1e6 / f64::from(TIMES)
}

/// As a web server calls: on the runtime's own threads.
fn from_a_task(runtime: &Runtime, ask: &Ask) -> f64 {
    let ask = Arc::clone(ask);
    runtime.block_on(runtime.spawn(async move { one_by_one(&ask).await })).expect("no query fails")
}

/// As a short program calls: from `main`, which is none of the runtime's threads.
fn from_main(runtime: &Runtime, ask: &Ask) -> f64 {
    runtime.block_on(one_by_one(ask))
}

fn at_once(runtime: &Runtime, ask: &Ask) -> f64 {
    let ask = Arc::clone(ask);
    let all = async move {
        let started = Instant::now();
        let asked: Vec<_> = (0..AT_ONCE).map(|_| tokio::spawn(ask())).collect();
        for one in asked {
            one.await.expect("no query fails");
        }
        started.elapsed().as_secs_f64() * 1e6 / AT_ONCE as f64
    };
    runtime.block_on(runtime.spawn(all)).expect("no query fails")
}

/// On all threads, Kassa's own among them.
fn allocations(runtime: &Runtime, ask: &Ask) -> String {
    let before = counts();
    from_a_task(runtime, ask);
    let after = counts();
    let each = |before: u64, after: u64| (after - before) as f64 / f64::from(TIMES);
    format!(
        "{:.0} allocations, {:.0} bytes",
        each(before.allocations, after.allocations),
        each(before.allocated, after.allocated)
    )
}
