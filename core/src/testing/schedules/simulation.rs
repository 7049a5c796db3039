//! The schedules in memory, as tests.

use std::thread;

use super::{
    coverage::Coverage,
    play::{Policy, play},
    settings::number,
};

/// How many are played unless the environment says otherwise.
const SCHEDULES: u64 = 5_000;
/// From this number of schedules on, each operation must have met each fault with both kinds of callers.
const BOTH_CALLERS: u64 = 20_000;

#[test]
fn nothing_is_lost_and_nobody_is_charged_twice() {
    if let Some(seed) = number("KASSA_SEED") {
        play(seed, Policy::Real).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        return;
    }
    let schedules = number("KASSA_SCHEDULES").unwrap_or(SCHEDULES);
    let first_seed = number("KASSA_FIRST_SEED").unwrap_or(0);
    let workers = thread::available_parallelism().map_or(1, usize::from) as u64;
    let shares: Vec<_> = (0..workers)
        .map(|worker| thread::spawn(move || play_every(first_seed + worker, workers, first_seed + schedules)))
        .collect();
    let mut coverage = Coverage::default();
    for share in shares {
        coverage.add(share.join().expect("a schedule failed; its message says which"));
    }
    if schedules >= SCHEDULES {
        coverage.check_faults();
    }
    if schedules >= BOTH_CALLERS {
        coverage.check_callers();
    }
}

/// A check that cannot fail shows nothing: a policy that sends again what it has heard nothing of must be found out.
#[test]
fn a_policy_that_resends_is_found_out() {
    let found: Vec<String> = (0..500).filter_map(|seed| play(seed, Policy::Resending).err()).collect();
    for sentence in ["was sent twice", "was charged twice"] {
        assert!(found.iter().any(|broken| broken.contains(sentence)), "nobody noticed that a payment {sentence}");
    }
}

/// The tasks of the SDK are its runtime's, which keeps their panics to itself.
#[test]
fn a_panic_inside_the_sdk_is_found_out() {
    let found = (0..20).filter_map(|seed| play(seed, Policy::Panicking).err()).collect::<Vec<_>>();
    assert!(found.iter().any(|broken| broken == "it panicked: nobody decides"), "{found:?}");
}

/// Otherwise a failing seed would be of no use.
#[test]
fn a_seed_makes_the_same_schedule_again() {
    for seed in 0..50 {
        assert_eq!(play(seed, Policy::Real), play(seed, Policy::Real), "seed {seed}");
    }
}

fn play_every(first: u64, step: u64, end: u64) -> Coverage {
    let mut coverage = Coverage::default();
    for seed in (first..end).step_by(usize::try_from(step).expect("a few")) {
        match play(seed, Policy::Real) {
            Ok(covered) => coverage.add(covered),
            Err(broken) => panic!("{broken}\nagain: KASSA_SEED={seed} cargo test -p kassa --lib schedules"),
        }
    }
    coverage
}
