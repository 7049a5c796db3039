//! Random schedules with real processes (crash testing with fault injection). A seed decides who does what, which faults
//! strike and who dies; the timing is left to the machine. One seed again:
//! `KASSA_SEED=17 cargo test -p kassa-server --test processes schedules`; another number of them:
//! `KASSA_PROCESS_SCHEDULES=2000`.

use std::{
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
};

use kassa_sandbox::FaultName;

use crate::{
    gateway_side::FAULTS,
    play::{Coverage, play},
};

/// How many are played unless the environment says otherwise.
const SCHEDULES: u64 = 200;
/// How many are played at once: most of the time they wait.
const AT_ONCE: usize = 20;

#[test]
fn nothing_is_lost_whoever_is_killed() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    if let Some(seed) = number("KASSA_SEED") {
        let met = play(seed).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        println!("{met:#?}");
        return;
    }
    let schedules = number("KASSA_PROCESS_SCHEDULES").unwrap_or(SCHEDULES);
    let (next, met) = (AtomicU64::new(0), Mutex::new(Coverage::new()));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| play_some(&next, schedules, &met));
        }
    });
    if schedules >= SCHEDULES {
        check(&met.into_inner().expect("no schedule failed"));
    }
}

fn play_some(next: &AtomicU64, schedules: u64, met: &Mutex<Coverage>) {
    loop {
        let seed = next.fetch_add(1, Ordering::Relaxed);
        if seed >= schedules {
            return;
        }
        match play(seed) {
            Ok(covered) => {
                let mut met = met.lock().expect("nothing panics in there");
                covered.into_iter().for_each(|(what, count)| *met.entry(what).or_default() += count);
            }
            Err(broken) => {
                // The others play on to their end; no more begin.
                next.store(schedules, Ordering::Relaxed);
                panic!("{broken}\nagain: KASSA_SEED={seed} cargo test -p kassa-server --test processes schedules")
            }
        }
    }
}

/// A check that meets nothing shows nothing.
fn check(met: &Coverage) {
    println!("{met:#?}");
    let kinds = [
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
    // These need a payment at just their moment.
    let rare = [FaultName::StuckPending, FaultName::OtpTwice, FaultName::CallbackOutOfOrder];
    let faults: Vec<_> = FAULTS.iter().filter(|fault| !rare.contains(fault)).map(|fault| fault.to_string()).collect();
    for what in kinds.into_iter().chain(faults.iter().map(String::as_str)) {
        assert!(met.get(what).is_some_and(|count| *count > 0), "{what} never happened: {met:#?}");
    }
}
