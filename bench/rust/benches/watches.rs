//! Many pending watches in one process, over a gateway in memory: what one holds, what a poll costs, and how late polls
//! come. Each number of watches has a process of its own.

use std::{
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use kassa::{_internals::gateway_in_memory, Gateway, PaymentRef, PollPolicy};
use kassa_bench::{Counting, Figures, counts, processor_time, resident_memory};
use tokio::{
    runtime::Builder,
    time::{MissedTickBehavior, interval, sleep},
};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const NUMBERS: [usize; 3] = [1_000, 10_000, 100_000];
const INTERVAL: Duration = Duration::from_secs(10);
const REPLY: &str = concat!(
    r#"{"code":"200","message":"PAYMENT_PENDING","data":{"orderNumber":"W-0","amount":100.10,"#,
    r#""status":"PENDING","currency":"KGS"}}"#
);

/// Bytes over the idle process.
const MEMORY_BAR: f64 = 2048.0;
/// Milliseconds, for 99 of 100 polls.
const LATENESS_BAR: f64 = 50.0;

fn main() {
    match std::env::args().nth(1).and_then(|argument| argument.parse().ok()) {
        Some(number) => measure(number).print(),
        None => {
            for number in NUMBERS {
                let program = std::env::current_exe().expect("a program");
                let status = Command::new(program).arg(number.to_string()).status().expect("a process");
                assert!(status.success());
            }
        }
    }
}

fn measure(number: usize) -> Figures {
    let polls = Arc::new(Polls::of(number));
    let seen = Arc::clone(&polls);
    let gateway = gateway_in_memory(REPLY, move |body| seen.note(body)).expect("a gateway");
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async {
        // Threads run, and buffers have their size.
        gateway.provider_status("warm-up", kassa::Provider::MBank).await.expect("a report");
        let (idle_held, idle_resident) = (counts().held, resident_memory());
        start(&gateway, number).await;
        // A whole interval after the last one started, and all of them have been asked about.
        let before = (processor_time(), polls.count(), Instant::now());
        polls.forget_lateness();
        sleep(INTERVAL).await;
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
        figures.add("processor time of a poll", format!("{:.1} us", busy.as_secs_f64() * 1e6 / asked));
        figures.add("of one core", format!("{:.1} %", 100.0 * busy.as_secs_f64() / after.2.as_secs_f64()));
        let lateness = |share| polls.lateness(share) as f64;
        figures.add("half of the polls are late by at most", milliseconds(lateness(0.5)));
        figures.add_with_bar("99 of 100", lateness(0.99), LATENESS_BAR, milliseconds);
        figures.add("all of them", milliseconds(lateness(1.0)));
        figures
    })
}

/// Starts the watches, spread over one interval, each on a task of its caller's.
async fn start(gateway: &Gateway, number: usize) {
    let mut beats = interval(Duration::from_millis(1));
    beats.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let in_all = INTERVAL.as_millis() as usize;
    let mut started = 0;
    for beat in 1..=in_all {
        beats.tick().await;
        while started < number * beat / in_all {
            let policy = PollPolicy::default().with_interval(INTERVAL);
            let watch = gateway.watch(PaymentRef::mbank(format!("W-{started}"), 100), policy).expect("a watch");
            tokio::spawn(async move { watch.outcome().await });
            started += 1;
        }
    }
}

/// When each payment was asked about last, and how late the polls were. A poll is due one interval after the one
/// before.
struct Polls {
    beginning: Instant,
    count: AtomicU64,
    /// In nanoseconds from the beginning; 0 where it was not asked about yet.
    last: Vec<AtomicU64>,
    /// How many polls were late by so many whole milliseconds.
    late: Vec<AtomicU64>,
}

impl Polls {
    fn of(number: usize) -> Self {
        let zeros = |number| (0..number).map(|_| AtomicU64::new(0)).collect();
        Self { beginning: Instant::now(), count: AtomicU64::new(0), last: zeros(number), late: zeros(10_000) }
    }

    fn note(&self, body: &[u8]) {
        let text = std::str::from_utf8(body).unwrap_or_default();
        let number = text.split("\"W-").nth(1).and_then(|rest| rest.split('"').next()?.parse::<usize>().ok());
        let Some(last) = number.and_then(|number| self.last.get(number)) else { return };
        let now = self.beginning.elapsed();
        self.count.fetch_add(1, Relaxed);
        let before = last.swap(now.as_nanos() as u64, Relaxed);
        if before > 0 {
            let late = now.saturating_sub(Duration::from_nanos(before) + INTERVAL).as_millis() as usize;
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
