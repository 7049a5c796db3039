//! Random schedules with real processes (crash testing with fault injection), on a file, and as a fleet on PostgreSQL. A seed
//! decides who does what, which faults strike and who dies; the timing is left to the machine. One seed again:
//! `KASSA_SEED=17 cargo test -p kassa-server --test processes schedules::on_a_file`, or `schedules::in_a_fleet`; another
//! number of them: `KASSA_PROCESS_SCHEDULES=2000`, `KASSA_FLEET_SCHEDULES=1000`.

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
    variable: &'static str,
    /// How many are played at once: most of the time they wait.
    at_once: usize,
    play: fn(u64) -> Result<Coverage, String>,
}

/// What happens in each.
const KINDS: [&str; 16] = [
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
    "payment.unknown card",
    "kill -9",
    "SIGTERM",
    "SIGSTOP",
];

/// What happens to one besides, where the machine can make network namespaces.
const IN_A_NAMESPACE: &str = "partition in a network namespace";

/// What happens to a fleet alone.
const TROUBLES: [&str; 8] = [
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
fn on_a_file_nothing_is_lost_whoever_is_killed() {
    let schedules = Schedules {
        name: "on_a_file",
        count: 200,
        variable: "KASSA_PROCESS_SCHEDULES",
        at_once: 20,
        play: play_on_a_file,
    };
    if let Some(met) = schedules.play() {
        // These need a payment at just their moment.
        let rare = [FaultName::StuckPending, FaultName::OtpTwice, FaultName::CallbackOutOfOrder];
        let faults: Vec<_> = FAULTS.iter().filter(|fault| !rare.contains(fault)).map(FaultName::to_string).collect();
        check(&met, KINDS.into_iter().chain(faults.iter().map(String::as_str)));
    }
}

#[test]
fn in_a_fleet_nothing_is_lost_whoever_is_killed_parted_or_not_answered() {
    let schedules = Schedules {
        name: "in_a_fleet",
        count: 50,
        variable: "KASSA_FLEET_SCHEDULES",
        at_once: 10,
        play: play_in_a_fleet,
    };
    if let Some(met) = schedules.play() {
        let kinds = KINDS.into_iter().filter(|kind| *kind != "checkout.overpaid");
        check(&met, kinds.chain(TROUBLES).chain(APART.is_some().then_some(IN_A_NAMESPACE)));
    }
    assert_eq!(secrets::found_on_disk(), Vec::<String>::new());
}

impl Schedules {
    /// What was met, where enough were played to meet everything.
    fn play(&self) -> Option<Coverage> {
        let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
        if let Some(seed) = number("KASSA_SEED") {
            let met = (self.play)(seed).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
            println!("{met:#?}");
            return None;
        }
        let count = number(self.variable).unwrap_or(self.count);
        let (next, met) = (AtomicU64::new(0), Mutex::new(Coverage::new()));
        thread::scope(|scope| {
            for _ in 0..self.at_once {
                scope.spawn(|| self.play_some(&next, count, &met));
            }
        });
        (count >= self.count).then(|| met.into_inner().expect("no schedule failed"))
    }

    fn play_some(&self, next: &AtomicU64, count: u64, met: &Mutex<Coverage>) {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= count {
                return;
            }
            match (self.play)(seed) {
                Ok(covered) => {
                    let mut met = met.lock().expect("nothing panics in there");
                    covered.into_iter().for_each(|(what, count)| *met.entry(what).or_default() += count);
                }
                Err(broken) => {
                    // The others play on to their end; no more begin.
                    next.store(count, Ordering::Relaxed);
                    let again = format!("cargo test -p kassa-server --test processes schedules::{}", self.name);
                    panic!("{broken}\nagain: KASSA_SEED={seed} {again}")
                }
            }
        }
    }
}

/// A check that meets nothing shows nothing.
fn check<'a>(met: &Coverage, wanted: impl Iterator<Item = &'a str>) {
    println!("{met:#?}");
    for what in wanted {
        assert!(met.get(what).is_some_and(|count| *count > 0), "{what} never happened: {met:#?}");
    }
}
