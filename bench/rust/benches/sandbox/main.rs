//! The sandbox under load, with its clients on the same processors: creates and queries a second with few and many
//! payments stored, beside general mock servers, and whole payments a second through the SDK. Its arguments are the sandbox's
//! program, and who runs beside it as JSON.

mod line;
mod mocks;
mod sdk;

use std::{
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::Instant,
};

use kassa_bench::{Figures, Sandbox};

use self::{line::Line, mocks::Peer};

/// Payments that are stored when figures are taken.
const LEVELS: [u64; 3] = [1, 100, 100_000];
const CLIENTS: u64 = 16;
const ROUNDS: usize = 5;
/// Of each kind, a round.
const CREATES: u64 = 400;
const QUERIES: u64 = 1_000;

const CREATE: &str = "/api/v1.1.0/mbank/pay";
const QUERY: &str = "/api/v1.1.0/get-status";

fn main() {
    const USAGE: &str = "usage: sandbox PROGRAM PEERS";
    let program = PathBuf::from(std::env::args().nth(1).expect(USAGE));
    let peers: Vec<Peer> = serde_json::from_str(&std::env::args().nth(2).expect(USAGE)).expect("peers as JSON");
    let folder = std::env::temp_dir().join(format!("kassa-bench-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("a folder for the databases");
    for (title, file) in [("in memory", None), ("on disk", Some(folder.join("load.db")))] {
        under_load(title, &program, file.as_deref()).print();
    }
    mocks::beside(&Sandbox::start(&program, None), &peers);
    for (title, file) in [("in memory", None), ("on disk", Some(folder.join("payments.db")))] {
        sdk::payments(title, &program, file.as_deref()).print();
    }
    std::fs::remove_dir_all(&folder).expect("the folder of the databases");
}

/// Creates and queries, straight over sockets, so that the clients cost little.
fn under_load(title: &str, program: &Path, file: Option<&Path>) -> Figures {
    let sandbox = Sandbox::start(program, file);
    let mut figures = Figures::new(format!("A second, {title}"));
    let mut stored = 0;
    for level in LEVELS {
        create(&sandbox, stored..level);
        stored = stored.max(level);
        let queries: Vec<Rate> = (0..ROUNDS).map(|_| rate(&sandbox, QUERIES, || query(&sandbox, stored))).collect();
        add(&mut figures, &format!("status queries, {level} stored"), queries);
        let creates = (0..ROUNDS).map(|_| {
            let rate = rate(&sandbox, CREATES, || create(&sandbox, stored..stored + CREATES));
            stored += CREATES;
            rate
        });
        let creates = creates.collect();
        add(&mut figures, &format!("creates, from {level} stored on"), creates);
    }
    figures
}

/// How many a second, and what each costs the sandbox.
struct Rate {
    a_second: f64,
    processor_us: f64,
}

fn rate(sandbox: &Sandbox, times: u64, work: impl FnOnce()) -> Rate {
    let (started, busy) = (Instant::now(), sandbox.processor_time());
    work();
    let took = started.elapsed();
    let busy = sandbox.processor_time() - busy;
    Rate { a_second: times as f64 / took.as_secs_f64(), processor_us: busy.as_secs_f64() * 1e6 / times as f64 }
}

fn add(figures: &mut Figures, what: &str, rates: Vec<Rate>) {
    let median = |of: fn(&Rate) -> f64| {
        let mut values: Vec<f64> = rates.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() / 2]
    };
    let (a_second, processor) = (median(|rate| rate.a_second), median(|rate| rate.processor_us));
    figures.add(what, format!("{a_second:.0}; {processor:.0} us of the sandbox's processor time each"));
}

fn create(sandbox: &Sandbox, numbers: std::ops::Range<u64>) {
    let next = AtomicU64::new(numbers.start);
    at_once(sandbox, |line| {
        loop {
            let number = next.fetch_add(1, Relaxed);
            if number >= numbers.end {
                return;
            }
            let body = format!(r#"{{"orderNumber":"B-{number}","phone":"996555000101","amount":100,"comment":"tea"}}"#);
            let response = line.post(CREATE, &body);
            assert!(response.contains("CREATED"), "{response}");
        }
    });
}

/// About payments from the whole range, each as likely as any other.
fn query(sandbox: &Sandbox, stored: u64) {
    let left = AtomicU64::new(QUERIES);
    at_once(sandbox, |line| {
        while let Ok(number) = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)) {
            let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) % stored;
            let response = line.post(QUERY, &format!(r#"{{"orderNumber":"B-{number}","provider":"MBank"}}"#));
            assert!(response.contains(&format!("\"B-{number}\"")), "{response}");
        }
    });
}

fn at_once(sandbox: &Sandbox, work: impl Fn(&mut Line) + Sync) {
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| work(&mut Line::to(&sandbox.url, sandbox.authorization)));
        }
    });
}
