//! One schedule, from its seed to the end: some merchants at once, perhaps a crash, then the gateway answers again, and
//! the truth has to come out.

use std::{
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use fastrand::Rng;
use futures_util::future::{join_all, try_join_all};
use tokio::{runtime::Builder, time::timeout};

use crate::{
    Gateway, PaymentError, PaymentRef, PollPolicy, Verdict,
    operations::Effect,
    pipeline::outcome::{Again, ResendPolicy, again},
    response::Response,
    testing::{
        memory::{Memory, config},
        schedules::{
            harness::{caught, number},
            journaled::Journaled,
            merchant::{Broken, Merchant, key_of},
            scene::{Coverage, Disk, InMemory},
            transport::{Process, WorldTransport},
            world::{Ending, World},
        },
    },
    transport::Failure,
};

/// How requests are sent again.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Policy {
    /// As the SDK does.
    Real,
    /// As it must not.
    Resending,
    /// It never comes to a decision.
    Panicking,
}

impl Policy {
    fn function(self) -> ResendPolicy {
        match self {
            Self::Real => again,
            Self::Resending => resend_whatever_is_lost,
            Self::Panicking => |_, _| panic!("nobody decides"),
        }
    }
}

fn resend_whatever_is_lost(effect: &Effect, result: &Result<Response, Failure>) -> Again {
    match result {
        Err(Failure::Lost { .. }) => Again::After(None),
        _ => again(effect, result),
    }
}

/// Plays a schedule and says what was covered.
pub(super) fn play(seed: u64, policy: Policy) -> Result<Coverage, Broken> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().expect("a runtime");
    let world = Arc::new(World::new(Rng::with_seed(seed)));
    let played = caught(|| runtime.block_on(schedule(&world, policy)));
    world.panic_in_a_task().map_or(played, Err)
}

async fn schedule(world: &Arc<World>, policy: Policy) -> Result<Coverage, Broken> {
    let disk = Arc::new(Mutex::new(Disk::default()));
    let process = Process::default();
    let journaled = Journaled::draw(world);
    let gateways = (0..world.random(|rng| rng.usize(1..4)))
        .map(|_| {
            let (line, gateway) = open(world, &process, policy);
            (line, journaled.iter().fold(gateway, |gateway, journaled| gateway.with_journal(journaled.open())))
        })
        .collect::<Vec<_>>();
    journaled.iter().for_each(|journaled| journaled.draw_fault(world));
    let stories = gateways.iter().enumerate().map(|(number, (line, gateway))| {
        let order = format!("order-{number}");
        let (world, line, gateway, disk) = (world.clone(), line.clone(), gateway.clone(), disk.clone());
        Merchant { scene: InMemory { world, line, disk }, gateway, order }.run()
    });
    if world.random(|rng| rng.u8(..4) == 0) {
        let time = world.random(|rng| Duration::from_millis(rng.u64(..40_000)));
        timeout(time, try_join_all(stories)).await.unwrap_or(Ok(Vec::new()))?;
        process.kill();
    } else {
        try_join_all(stories).await?;
        // A close waits for payments whose callers are gone, at most until their deadline.
        let closing = join_all(gateways.iter().map(|(_, gateway)| gateway.close()));
        timeout(Duration::from_secs(60), closing).await.map_err(|_| "a close never came to an end".to_owned())?;
    }
    drop(gateways);

    world.heal();
    if let Some(journaled) = &journaled {
        journaled.restart(world);
        journaled.recover(world, policy).await?;
    }
    recover(world, &disk, policy).await?;
    check_books(world, &disk)?;
    Ok(std::mem::take(&mut disk.lock().expect("nothing panics in here").coverage))
}

pub(super) fn open(world: &Arc<World>, process: &Process, policy: Policy) -> (Arc<WorldTransport>, Gateway) {
    let line = Arc::new(WorldTransport::new(world.clone(), process.clone(), policy == Policy::Resending));
    let transport = Arc::new(Memory { stub: line.clone() });
    let gateway = Gateway::with_policy(transport, config("b"), policy.function()).expect("a good configuration");
    (line, gateway)
}

/// A new process queries everything that the old one stored.
async fn recover(world: &Arc<World>, disk: &Mutex<Disk>, policy: Policy) -> Result<(), Broken> {
    let stored: Vec<String> =
        disk.lock().expect("nothing panics in here").payments.iter().map(PaymentRef::to_string).collect();
    let watches = stored.into_iter().map(|text| async move {
        let payment: PaymentRef = text.parse().map_err(|error| format!("{text} is not read back: {error}"))?;
        let (line, gateway) = open(world, &Process::default(), policy);
        line.begin_call();
        let policy = PollPolicy { deadline: Duration::from_secs(600), ..PollPolicy::default() };
        let watch = gateway.watch(payment.clone(), policy).map_err(|error| format!("no watch: {error}"))?;
        let outcome = watch.outcome().await;
        let key = key_of(&payment);
        let is_doubted = matches!(outcome, Ok(Some(Verdict::Mismatch { .. } | Verdict::Unverifiable { .. })));
        if is_doubted && world.repeats_itself() {
            return Ok(());
        }
        check_reported_outcome(&key, world.payment(&key).map(|payment| payment.end), outcome)
    });
    try_join_all(watches).await.map(drop)
}

fn check_reported_outcome(
    key: &str,
    books: Option<Option<Ending>>,
    outcome: Result<Option<Verdict>, PaymentError>,
) -> Result<(), Broken> {
    match (books, &outcome) {
        (Some(Some(Ending::Charged)), Ok(Some(Verdict::Charged { .. })))
        | (Some(Some(Ending::Rejected)), Ok(Some(Verdict::Rejected { .. })))
        | (None, Err(PaymentError::DeadlineExpired { .. })) => Ok(()),
        _ => Err(format!("{key} is {books:?}, and its watch ended in {outcome:?}")),
    }
}

/// What must hold of the gateway's books, whatever was said.
fn check_books(world: &World, disk: &Mutex<Disk>) -> Result<(), Broken> {
    for (key, payment) in world.payments() {
        if payment.times_made > 1 || payment.times_charged > 1 {
            return Err(format!("{key} was charged twice: {payment:?}"));
        }
    }
    for (id, error) in &disk.lock().expect("nothing panics in here").clean_calls {
        if world.call(*id).effects > 0 {
            return Err(format!("a call was said to have done nothing, and did: {error}"));
        }
    }
    Ok(())
}

// The schedules in memory, as tests.

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
fn policy_that_resends_is_found_out() {
    let found: Vec<String> = (0..500).filter_map(|seed| play(seed, Policy::Resending).err()).collect();
    for sentence in ["was sent twice", "was charged twice"] {
        assert!(found.iter().any(|broken| broken.contains(sentence)), "nobody noticed that a payment {sentence}");
    }
}

/// The tasks of the SDK are its runtime's, which keeps their panics to itself.
#[test]
fn panic_inside_the_sdk_is_found_out() {
    let found = (0..20).filter_map(|seed| play(seed, Policy::Panicking).err()).collect::<Vec<_>>();
    assert!(found.iter().any(|broken| broken == "it panicked: nobody decides"), "{found:?}");
}

/// Otherwise a failing seed would be of no use.
#[test]
fn seed_makes_the_same_schedule_again() {
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
