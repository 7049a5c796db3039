//! Many pending watches in one process, over real connections: what one holds, what a poll costs, and how late polls come.
//! Each number of watches has a process of its own. Its argument is the address of a server that says that every payment is
//! pending.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use kassa::{Credentials, Gateway, GatewayConfig, PaymentRef, PollPolicy, StatusWatch};
use kassa_bench::{Counting, Figures, counts, processor_time, resident_memory};
use tokio::{
    runtime::Builder,
    time::{MissedTickBehavior, interval, sleep},
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many watches, and how many seconds after a poll the next one is due.
const NUMBERS: [(usize, u64); 4] = [(1_000, 10), (10_000, 10), (100_000, 10), (1_000_000, 100)];

/// Bytes over the idle process.
const MEMORY_BAR: f64 = 1024.0;
/// Microseconds of processor time, for a poll.
const PROCESSOR_BAR: f64 = 60.0;
/// Milliseconds, for 99 of 100 polls.
const LATENESS_BAR: f64 = 50.0;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.as_slice() {
        [url] => {
            for (number, seconds) in NUMBERS {
                let program = std::env::current_exe().expect("a program");
                let arguments = [url.clone(), number.to_string(), seconds.to_string()];
                assert!(Command::new(program).args(arguments).status().expect("a process").success());
            }
        }
        [url, number, seconds] => {
            let number = number.parse().expect("a number");
            measure(url, number, Duration::from_secs(seconds.parse().expect("seconds"))).print();
        }
        _ => panic!("usage: watches URL [NUMBER SECONDS]"),
    }
}

fn measure(url: &str, number: usize, interval: Duration) -> Figures {
    let polls = Arc::new(Polls::default());
    let gateway =
        Gateway::new(GatewayConfig::new(url, Credentials::basic("kassa", "sandbox-password"))).expect("a gateway");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // Threads run, and buffers have their size.
        gateway.provider_status("warm-up", kassa::Provider::MBank).await.expect("a report");
        let (idle_held, idle_resident) = (counts().held, resident_memory());
        start(&gateway, number, interval, &polls).await;
        // A whole interval after the last one started, and all of them have been asked about.
        let before = (processor_time(), polls.count(), Instant::now());
        polls.forget_lateness();
        sleep(interval).await;
        let after = (processor_time(), polls.count(), before.2.elapsed());
        let (held, resident) = (counts().held - idle_held, resident_memory() - idle_resident);

        let asked = (after.1 - before.1) as f64;
        let busy = after.0 - before.0;
        let each = |bytes: u64| bytes as f64 / number as f64;
        let bytes = |bytes: f64| format!("{bytes:.0} bytes");
        let milliseconds = |milliseconds: f64| format!("{milliseconds:.0} ms");
        let mut figures = Figures::new(format!("{number} watches"));
        figures.add_with_bar("memory of each, as the allocator counts", each(held), MEMORY_BAR, bytes);
        figures.add_with_bar("memory of each, as the system counts", each(resident), MEMORY_BAR, bytes);
        figures.add("polls a second", format!("{:.0}", asked / after.2.as_secs_f64()));
        let microseconds = |microseconds: f64| format!("{microseconds:.1} us");
        let poll = busy.as_secs_f64() * 1e6 / asked;
        figures.add_with_bar("processor time of a poll", poll, PROCESSOR_BAR, microseconds);
        figures.add("of one core", format!("{:.1} %", 100.0 * busy.as_secs_f64() / after.2.as_secs_f64()));
        let lateness = |share| polls.lateness(share) as f64;
        figures.add("half of the polls are late by at most", milliseconds(lateness(0.5)));
        figures.add_with_bar("99 of 100", lateness(0.99), LATENESS_BAR, milliseconds);
        figures.add("all of them", milliseconds(lateness(1.0)));
        figures
    })
}

/// Starts the watches, spread over one interval, each on a task of its caller's.
async fn start(gateway: &Gateway, number: usize, every: Duration, polls: &Arc<Polls>) {
    let mut beats = interval(Duration::from_millis(1));
    beats.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let in_all = every.as_millis() as usize;
    let mut started = 0;
    for beat in 1..=in_all {
        beats.tick().await;
        while started < number * beat / in_all {
            let policy = PollPolicy::default().with_interval(every);
            let watch = gateway.watch(PaymentRef::mbank(format!("W-{started}"), 100), policy).expect("a watch");
            tokio::spawn(follow(watch, every, Arc::clone(polls)));
            started += 1;
        }
    }
}

/// Takes one report after the other.
async fn follow(watch: StatusWatch, every: Duration, polls: Arc<Polls>) {
    let mut last: Option<Instant> = None;
    while let Ok(Some(report)) = watch.next().await {
        drop(report);
        let now = Instant::now();
        polls.note(last.map(|last| now.saturating_duration_since(last + every)));
        last = Some(now);
    }
}

/// How many polls there were, and how late they were. A poll is due one interval after the one before.
struct Polls {
    count: AtomicU64,
    /// How many polls were late by so many whole milliseconds.
    late: Vec<AtomicU64>,
}

impl Default for Polls {
    fn default() -> Self {
        Self { count: AtomicU64::new(0), late: (0..10_000).map(|_| AtomicU64::new(0)).collect() }
    }
}

impl Polls {
    fn note(&self, late: Option<Duration>) {
        self.count.fetch_add(1, Relaxed);
        if let Some(late) = late {
            let late = late.as_millis() as usize;
            self.late[late.min(self.late.len() - 1)].fetch_add(1, Relaxed);
        }
    }

    fn count(&self) -> u64 {
        self.count.load(Relaxed)
    }

    fn forget_lateness(&self) {
        self.late.iter().for_each(|polls| polls.store(0, Relaxed));
    }

    /// So many whole milliseconds, rounded up, are enough for this share of the polls.
    fn lateness(&self, share: f64) -> usize {
        let all: u64 = self.late.iter().map(|polls| polls.load(Relaxed)).sum();
        let wanted = (all as f64 * share).ceil() as u64;
        let mut seen = 0;
        1 + self
            .late
            .iter()
            .take_while(|polls| {
                seen += polls.load(Relaxed);
                seen < wanted
            })
            .count()
    }
}
