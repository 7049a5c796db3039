//! Random schedules with real processes (crash testing with fault injection), on a file, and as a fleet on PostgreSQL. A seed
//! decides who does what, which faults strike and who dies; the timing is left to the machine. One seed again:
//! `KASSA_SEED=17 cargo test -p kassa-server --test processes schedules::sqlite`, or `schedules::fleet`; another
//! number of them: `KASSA_PROCESS_SCHEDULES=2000`, `KASSA_FLEET_SCHEDULES=1000`; another first seed than 0:
//! `KASSA_FIRST_SEED=1000000`.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use kassa_sandbox::FaultName;

use crate::{
    fleet::APART,
    gateway_side::FAULTS,
    play::{Coverage, play_in_a_fleet, play_on_a_file},
    secrets,
};

/// So many seeds, and how each is played.
struct Schedules {
    name: &'static str,
    /// How many are played unless the environment says otherwise.
    count: u64,
    /// How many are enough to meet everything.
    enough: u64,
    variable: &'static str,
    /// How many are played at once: most of the time they wait.
    at_once: usize,
    play: fn(u64) -> Result<Coverage, String>,
}

/// What some schedules met.
struct Met {
    coverage: Coverage,
    /// Enough were played to meet everything.
    is_everything: bool,
}

/// What happens in most schedules, so that few of them meet it, whatever the first seed is.
const OFTEN: [&str; 6] = ["checkout.paid", "payment.accepted", "payment.charged", "kill -9", "SIGTERM", "SIGSTOP"];

/// The same on a file, where more are played than in a fleet.
const OFTEN_ON_A_FILE: [&str; 5] =
    ["checkout.expired", "payment.unknown", "payment.confirming", "payment.not_confirmed", "payment.rejected"];

/// The same in a fleet.
const OFTEN_IN_A_FLEET: [&str; 5] =
    ["pg_terminate_backend", "the primary restarts", "partition", "partition past the lease", "SIGSTOP past the lease"];

/// What happens in each.
const KINDS: [&str; 17] = [
    "checkout.paid",
    "checkout.expired",
    "checkout.cancelled",
    "checkout.overpaid",
    "payment.accepted",
    "payment.not_made",
    "payment.unknown",
    "payment.confirming",
    "payment.not_confirmed",
    "payment.charged",
    "payment.rejected",
    "payment.charged card",
    "payment.charged megapay",
    "payment.unknown card",
    "kill -9",
    "SIGTERM",
    "SIGSTOP",
];

/// What happens to one besides, where the machine can make network namespaces.
const IN_A_NAMESPACE: &str = "partition in a network namespace";

/// What happens to a fleet alone.
const DISRUPTIONS: [&str; 8] = [
    "pg_terminate_backend",
    "a commit got lost",
    "a commit's answer got lost",
    "the line breaks",
    "the primary restarts",
    "partition",
    "partition past the lease",
    "SIGSTOP past the lease",
];

#[test]
fn sqlite_schedules_with_kills_lose_nothing() {
    let schedules = Schedules {
        name: "sqlite",
        count: 50,
        enough: 200,
        variable: "KASSA_PROCESS_SCHEDULES",
        at_once: 20,
        play: play_on_a_file,
    };
    if let Some(met) = schedules.play() {
        met.check(OFTEN.into_iter().chain(OFTEN_ON_A_FILE));
        let struck = FAULTS.iter().filter(|fault| met.has(fault.as_str())).count();
        assert!(struck > FAULTS.len() / 2, "only {struck} faults struck: {:#?}", met.coverage);
        if met.is_everything {
            // These need a payment at just their moment.
            let rare = [FaultName::StuckPending, FaultName::OtpTwice, FaultName::CallbackOutOfOrder];
            let faults = FAULTS.iter().filter(|fault| !rare.contains(fault)).map(|fault| fault.as_str());
            met.check(KINDS.into_iter().chain(faults));
        }
    }
}

#[test]
fn fleet_schedules_lose_nothing() {
    let schedules = Schedules {
        name: "fleet",
        count: 13,
        enough: 50,
        variable: "KASSA_FLEET_SCHEDULES",
        at_once: 10,
        play: play_in_a_fleet,
    };
    if let Some(met) = schedules.play() {
        met.check(OFTEN.into_iter().chain(OFTEN_IN_A_FLEET));
        if met.is_everything {
            let kinds = KINDS.into_iter().filter(|kind| *kind != "checkout.overpaid");
            met.check(kinds.chain(DISRUPTIONS).chain(APART.is_some().then_some(IN_A_NAMESPACE)));
        }
    }
    assert_eq!(secrets::found_on_disk(), Vec::<String>::new());
}

impl Schedules {
    /// What was met; nothing where too few were played to meet anything for sure.
    fn play(&self) -> Option<Met> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        if let Some(seed) = number("KASSA_SEED") {
            let met = (self.play)(seed).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            println!("{met:#?}");
            return None;
        }
        let count = number(self.variable).unwrap_or(self.count);
        let first_seed: u64 = number("KASSA_FIRST_SEED").unwrap_or(0);
        let (next, met) = (AtomicU64::new(first_seed), Mutex::new(Coverage::new()));
        thread::scope(|scope| {
            for _ in 0..self.at_once {
                scope.spawn(|| self.play_some(&next, first_seed + count, &met));
            }
        });
        let coverage = met.into_inner().expect("no schedule failed");
        println!("{coverage:#?}");
        (count >= self.count).then_some(Met { coverage, is_everything: count >= self.enough })
    }

    fn play_some(&self, next: &AtomicU64, end: u64, met: &Mutex<Coverage>) {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= end {
                return;
            }
            match (self.play)(seed) {
                Ok(covered) => {
                    let mut met = met.lock().expect("nothing panics in there");
                    covered.into_iter().for_each(|(what, count)| *met.entry(what).or_default() += count);
                }
                Err(broken) => {
                    // The others play on to their end; no more begin.
                    next.store(end, Ordering::Relaxed);
                    let again = format!("cargo test -p kassa-server --test processes schedules::{}", self.name);
                    panic!("{broken}\nagain: KASSA_SEED={seed} {again}")
                }
            }
        }
    }
}

impl Met {
    /// A check that meets nothing shows nothing.
    fn check<'a>(&self, wanted: impl Iterator<Item = &'a str>) {
        for what in wanted {
            assert!(self.has(what), "{what} never happened: {:#?}", self.coverage);
        }
    }

    fn has(&self, what: &str) -> bool {
        self.coverage.get(what).is_some_and(|count| *count > 0)
    }
}
