//! One schedule, from its seed to the end: some merchants at once, perhaps a crash, then the gateway answers again, and
//! the truth has to come out.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use fastrand::Rng;
use futures_util::future::{join_all, try_join_all};
use tokio::{runtime::Builder, time::timeout};

use super::super::memory::{Memory, config};
use super::{
    caught::caught,
    coverage::Coverage,
    ending::Ending,
    journaled::Journaled,
    line::{Line, Process},
    merchant::{Broken, Merchant, key_of},
    scene::{Disk, InMemory},
    world::World,
};
use crate::{
    Gateway, PaymentError, PaymentRef, PollPolicy, Verdict,
    operations::operation::Effect,
    pipeline::outcome::{Again, ResendPolicy, again},
    response::Response,
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
        // A close waits for the payments that nobody waits for any more, and for no more than their deadline.
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

pub(super) fn open(world: &Arc<World>, process: &Process, policy: Policy) -> (Arc<Line>, Gateway) {
    let line = Arc::new(Line::new(world.clone(), process.clone(), policy == Policy::Resending));
    let transport = Arc::new(Memory { stub: line.clone() });
    let gateway = Gateway::with_policy(transport, config("b"), policy.function()).expect("a good configuration");
    (line, gateway)
}

/// A new process asks about everything that the old one stored.
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
        told_the_truth(&key, world.payment(&key).map(|payment| payment.end), outcome)
    });
    try_join_all(watches).await.map(drop)
}

fn told_the_truth(
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
