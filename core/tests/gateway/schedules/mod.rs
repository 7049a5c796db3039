//! Fault injection in random schedules over real sockets: merchants who pay, ask, lose patience and are killed, against
//! the sandbox with its faults, which has no idempotency: it charges twice whoever sends twice. Whatever happens,
//! nobody is charged twice, and everybody is told the truth.
//!
//! A seed decides operations, faults, patience and kills. Their timing is left to the machine, so unlike the simulation
//! in memory this is not deterministic. One seed again: `KASSA_SEED=17 cargo test -p kassa --test gateway schedules`;
//! another number of them: `KASSA_SCHEDULES=5000`.

mod books;
mod journal;
mod killed;
mod play;
mod scene;

use std::{sync::Mutex, thread};

use kassa::_internals::schedules::{caught::caught, settings::number};
use kassa_sandbox::FaultName;
use play::{Coverage, counted, play};

/// How many are played unless the environment says otherwise.
const SCHEDULES: u64 = 500;
/// How many are played at once: most of the time they wait.
const AT_ONCE: u64 = 24;

#[test]
fn nothing_is_lost_over_real_sockets() {
    if let Some(seed) = number("KASSA_SEED") {
        caught(|| play(seed)).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        return;
    }
    let schedules = number("KASSA_SCHEDULES").unwrap_or(SCHEDULES);
    let coverage = Mutex::new(Coverage::default());
    thread::scope(|scope| {
        for first in 0..AT_ONCE {
            let coverage = &coverage;
            scope.spawn(move || play_every(first, schedules, coverage));
        }
    });
    if schedules >= SCHEDULES {
        check_coverage(&coverage.into_inner().expect("nothing panics in there"));
    }
}

/// Started by the test above, and killed.
#[tokio::test]
#[ignore = "a part of the test above, which starts it"]
async fn a_process_that_is_killed() {
    killed::play_if_told().await;
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

/// A fault that never strikes shows nothing.
fn check_coverage(coverage: &Coverage) {
    for fault in FaultName::ALL {
        assert!(coverage.get(fault).is_some_and(|struck| *struck > 0), "{fault} never struck");
    }
}
