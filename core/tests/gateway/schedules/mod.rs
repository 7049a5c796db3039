//! Fault injection in random schedules over real sockets: merchants who pay, query, cancel and are killed, against
//! the sandbox with its faults and without idempotency: a request that is sent twice is charged twice. Whatever happens,
//! nobody is charged twice, and every reported outcome is true.
//!
//! A seed decides operations, faults, patience and kills. Their timing is left to the machine, so unlike the simulation
//! in memory this is not deterministic. `KASSA_SEED=17 cargo test -p kassa --test gateway schedules` plays one seed again;
//! `KASSA_SCHEDULES=5000` plays as many, and `KASSA_FIRST_SEED=1000000` begins with another seed than 0.

mod books;
mod journal;
mod killed;
mod play;
mod scene;

use std::{sync::Mutex, thread};

use kassa::_internals::schedules::harness::{caught, number};
use kassa_sandbox::FaultName;
use play::{Coverage, counted, play};

/// How many are played unless the environment says otherwise.
const SCHEDULES: u64 = 125;
/// From this number of schedules on, every fault must have struck, except the rare ones.
const EVERY_FAULT: u64 = 500;
/// From this number of schedules on, the rare ones must have struck, too.
const RARE_FAULTS: u64 = 2_000;
/// It strikes only a callback that says that a payment is pending.
const RARE: [FaultName; 1] = [FaultName::CallbackOutOfOrder];
/// How many are played at once: most of the time they wait.
const AT_ONCE: u64 = 24;

#[test]
fn nothing_is_lost_over_real_sockets() {
    if let Some(seed) = number("KASSA_SEED") {
        caught(|| play(seed)).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        return;
    }
    let schedules = number("KASSA_SCHEDULES").unwrap_or(SCHEDULES);
    let first_seed = number("KASSA_FIRST_SEED").unwrap_or(0);
    let coverage = Mutex::new(Coverage::default());
    thread::scope(|scope| {
        for worker in 0..AT_ONCE {
            let coverage = &coverage;
            scope.spawn(move || play_every(first_seed + worker, first_seed + schedules, coverage));
        }
    });
    check_coverage(&coverage.into_inner().expect("nothing panics in there"), schedules);
}

/// Started by the test above, and killed.
#[tokio::test]
#[ignore = "a part of the test above, which starts it"]
async fn process_that_is_killed() {
    killed::play_if_child().await;
}

fn play_every(first: u64, end: u64, coverage: &Mutex<Coverage>) {
    for seed in (first..end).step_by(usize::try_from(AT_ONCE).expect("a few")) {
        match caught(|| play(seed)) {
            Ok(covered) => {
                let mut coverage = coverage.lock().expect("nothing panics in there");
                *coverage = covered.into_iter().fold(std::mem::take(&mut *coverage), counted);
            }
            Err(broken) => panic!("{broken}\nagain: KASSA_SEED={seed} cargo test -p kassa --test gateway schedules"),
        }
    }
}

/// A fault that never strikes shows nothing. Few schedules are enough for most faults, and not for each of them.
fn check_coverage(coverage: &Coverage, schedules: u64) {
    let has_struck = |fault: &FaultName| coverage.get(fault).is_some_and(|struck| *struck > 0);
    let missing: Vec<FaultName> = FaultName::ALL.iter().copied().filter(|fault| !has_struck(fault)).collect();
    if schedules >= SCHEDULES {
        assert!(missing.len() < FaultName::ALL.len() / 2, "too many faults never struck: {missing:?}");
    }
    if schedules >= EVERY_FAULT {
        let is_due = |fault: &FaultName| schedules >= RARE_FAULTS || !RARE.contains(fault);
        let due: Vec<FaultName> = missing.into_iter().filter(is_due).collect();
        assert!(due.is_empty(), "these faults never struck: {due:?}");
    }
}
