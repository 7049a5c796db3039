//! One schedule, from its seed to the end: a sandbox with injected faults, merchants, payers, perhaps a kill. Then the
//! faults end, and every payment has to be reported as it is.

use std::{
    collections::{HashMap, HashSet},
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use fastrand::Rng;
use futures_util::future::try_join_all;
use kassa::{
    _internals::schedules::merchant::{Broken, PRICE, key_of},
    Callback, Gateway, PaymentError, PaymentKind, PaymentRef, PollPolicy, StatusReport, Verdict,
};
use kassa_sandbox::{EndpointName, Fault, FaultName, PaymentStatus, ReusedOrderNumber, Sandbox, SandboxOptions};
use kassa_test_patience::{patience, patient};
use tokio::runtime::Builder;

use super::{
    books,
    journal::{Event, Journal},
    killed::play_and_kill,
    scene::{open, play_merchants},
};

/// How often each fault struck.
pub type Coverage = HashMap<FaultName, u64>;

/// Plays a schedule and says what was covered.
pub fn play(seed: u64) -> Result<Coverage, Broken> {
    let mut rng = Rng::with_seed(seed);
    let sandbox = Sandbox::start(SandboxOptions {
        reused_order_number: ReusedOrderNumber::ChargeTwice,
        callback_pauses: Vec::new(),
        ..SandboxOptions::default()
    })
    .expect("a sandbox");
    set_faults(&sandbox, &mut rng);
    let (merchants, payers) = (rng.u64(..), rng.fork());
    let killed_after = (rng.u8(..8) == 0).then(|| Duration::from_millis(rng.u64(..1_200)));

    let (journal, mut by_payer) = thread::scope(|scope| {
        let (stop, stopped) = channel();
        let sandbox = &sandbox;
        let deciding = scope.spawn(move || decide_now_and_then(sandbox, payers, &stopped));
        let journal = match killed_after {
            Some(after) => play_and_kill(merchants, sandbox.url(), after),
            None => play_here(merchants, sandbox.url()),
        };
        drop(stop);
        Ok::<_, Broken>((journal?, deciding.join().expect("payers")))
    })?;
    books::check(&sandbox, &journal, &by_payer).map_err(|broken| with_the_story(&sandbox, &journal, broken))?;
    let coverage =
        sandbox.faults().list().into_iter().map(|set| (set.fault.name(), set.struck)).fold(Coverage::new(), counted);

    sandbox.faults().clear();
    by_payer.extend(decide_all(&sandbox, &mut rng));
    let recovered = runtime().block_on(recover(&sandbox, &journal, &mut by_payer, &mut rng));
    recovered.map_err(|broken| with_the_story(&sandbox, &journal, broken))?;
    books::check(&sandbox, &journal, &by_payer).map_err(|broken| with_the_story(&sandbox, &journal, broken))?;
    Ok(coverage)
}

/// Adds the journal and the sandbox's records, which are needed to understand what broke.
fn with_the_story(sandbox: &Sandbox, journal: &[Event], broken: Broken) -> Broken {
    let lines: Vec<String> = journal.iter().map(Event::to_string).collect();
    let requests: Vec<String> = sandbox.requests().iter().map(|request| format!("{request:?}")).collect();
    format!("{broken}\nthe journal:\n{}\nthe requests:\n{}", lines.join("\n"), requests.join("\n"))
}

/// Adds up how often each fault struck.
pub fn counted(mut coverage: Coverage, (fault, struck): (FaultName, u64)) -> Coverage {
    *coverage.entry(fault).or_default() += struck;
    coverage
}

fn runtime() -> tokio::runtime::Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

fn play_here(seed: u64, url: &str) -> Result<Vec<Event>, Broken> {
    let (listener, events) = channel();
    runtime().block_on(play_merchants(seed, url, &Journal::Channel(listener)));
    Ok(events.iter().collect())
}

/// One schedule in ten has no faults at all; most have some, which strike one endpoint or all, often or rarely.
fn set_faults(sandbox: &Sandbox, rng: &mut Rng) {
    let faults = if rng.u8(..10) == 0 { 0 } else { rng.usize(1..8) };
    for _ in 0..faults {
        let name = FaultName::ALL[rng.usize(..FaultName::ALL.len())];
        let mut fault = Fault::new(name).probability(rng.f64()).seed(rng.u64(..));
        fault = match name {
            FaultName::Delay | FaultName::CallbackLate => fault.after(Duration::from_millis(rng.u64(..1_000))),
            FaultName::RetryAfter | FaultName::Unavailable => fault.retry_after_seconds(rng.u32(..2)),
            _ => fault,
        };
        if rng.bool() {
            fault = fault.times(rng.u64(1..4));
        }
        let narrow = fault.clone().endpoint(EndpointName::ALL[rng.usize(..EndpointName::ALL.len())]);
        // Not every fault can strike at every endpoint, or at one.
        if rng.bool() || sandbox.faults().add(narrow).is_err() {
            sandbox.faults().add(fault).expect("a fault");
        }
    }
}

/// Payers who come and go: now and then one pays or cancels. Gives the gateway's numbers of the payments that were
/// decided.
fn decide_now_and_then(sandbox: &Sandbox, mut rng: Rng, stopped: &Receiver<()>) -> HashSet<String> {
    let mut decided = HashSet::new();
    loop {
        let pause = Duration::from_millis(rng.u64(20..400));
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return decided;
        }
        for payment in sandbox.payments() {
            match rng.u8(..6) {
                0 if sandbox.approve(&payment.gateway_number).is_ok() => decided.insert(payment.gateway_number),
                1 if sandbox.decline(&payment.gateway_number).is_ok() => decided.insert(payment.gateway_number),
                _ => false,
            };
        }
    }
}

/// In the end every payer does something, and every provider decides.
fn decide_all(sandbox: &Sandbox, rng: &mut Rng) -> Vec<String> {
    let mut decided = Vec::new();
    for payment in sandbox.payments().into_iter().filter(|payment| !payment.status.is_final()) {
        let number = payment.gateway_number;
        let approve = rng.bool();
        // A payer whose test card hangs leaves the decision to the provider.
        for _ in 0..2 {
            let _final_already = if approve { sandbox.approve(&number) } else { sandbox.decline(&number) };
        }
        decided.push(number);
    }
    decided
}

/// A new process queries everything that the old one stored, and verifies every callback.
async fn recover(
    sandbox: &Sandbox,
    journal: &[Event],
    by_payer: &mut HashSet<String>,
    rng: &mut Rng,
) -> Result<(), Broken> {
    let gateway = open(sandbox.url(), |config| config.payment_deadline = patient(Duration::from_secs(30)));
    let stored = journal.iter().filter_map(|event| match event {
        Event::Stored { payment } => Some(payment.to_string()),
        _ => None,
    });
    let mut open: Vec<PaymentRef> = stored
        .map(|text| text.parse().map_err(|error| format!("{text} is not read back: {error}")))
        .collect::<Result<_, _>>()?;
    // A request that was on its way when its sender was killed may arrive only after its watch found no payment: ask
    // again then.
    while !open.is_empty() {
        by_payer.extend(decide_all(sandbox, rng));
        let ends = try_join_all(open.iter().map(|payment| follow(sandbox, &gateway, payment))).await?;
        open = ends.into_iter().flatten().collect();
    }
    for attempt in sandbox.callbacks() {
        believe_no_lie(sandbox, &gateway, &attempt.body).await?;
    }
    Ok(())
}

/// The payment comes to its true end; or it is given back, where it was made only now.
async fn follow(sandbox: &Sandbox, gateway: &Gateway, payment: &PaymentRef) -> Result<Option<PaymentRef>, Broken> {
    let key = key_of(payment);
    // A payment that arrived after all others were decided is still open, and is decided in the next round.
    let has_end = sandbox.payment(&key).is_some_and(|payment| payment.status.is_final());
    // Long enough for a payment that is final. A payment that was never made takes the whole deadline. So may one that was made, on a slow
    // machine; the next round queries it again.
    let deadline = if has_end { patience() } else { Duration::from_millis(300) };
    let policy = PollPolicy::default().with_interval(Duration::from_millis(20)).with_deadline(deadline);
    let watch = gateway.watch(payment.clone(), policy).map_err(|error| format!("no watch: {error}"))?;
    let outcome = watch.outcome().await;
    let exists = sandbox.payment(&key).map(|payment| payment.status);
    match (&outcome, exists) {
        (Ok(Some(Verdict::Charged { report, .. })), Some(PaymentStatus::Charged)) if is_of(report, &key, payment) => {
            Ok(None)
        }
        (Ok(Some(Verdict::Rejected { .. })), Some(PaymentStatus::Rejected))
        | (Err(PaymentError::DeadlineExpired { .. }), None) => Ok(None),
        (Err(PaymentError::DeadlineExpired { .. }), Some(_)) if !has_end => Ok(Some(payment.clone())),
        _ => Err(format!("{key} is {exists:?}, and its watch ended in {outcome:?}")),
    }
}

/// A report of the right sum.
fn is_of(report: &StatusReport, key: &str, payment: &PaymentRef) -> bool {
    let price = if payment.kind == PaymentKind::Qr { PRICE * 100 } else { PRICE };
    let named = [Some(key), payment.gateway_number.as_deref()];
    report.amount == Some(price.into()) && named.contains(&report.order_number.as_deref())
}

/// A callback is confirmed as charged only where the sandbox's records say so and the callback is true.
async fn believe_no_lie(sandbox: &Sandbox, gateway: &Gateway, body: &str) -> Result<(), Broken> {
    let callback = Callback::parse(body).map_err(|error| format!("the callback is not read: {error}: {body}"))?;
    let number = &callback.order_number;
    let Some(payment) = sandbox.payment(number) else { return Err(format!("a callback of nothing: {body}")) };
    let stored = match (payment.kind, &payment.transaction_id) {
        (kassa_sandbox::PaymentKind::Card, _) => PaymentRef::card(number, PRICE.into(), "KGS"),
        (kassa_sandbox::PaymentKind::Megapay, _) => PaymentRef::megapay(number, PRICE.into()),
        (kassa_sandbox::PaymentKind::Mbank, _) => PaymentRef::mbank(number, PRICE.into()),
        (_, Some(id)) => PaymentRef::qr(Some(i64::from(PRICE) * 100)).with_transaction_id(id),
        (_, None) => PaymentRef::pay_form(PRICE.into()),
    };
    let is_true = payment.is_charged() && callback.amount.is_some() && payment.amount == callback.amount;
    let verdict = gateway.verify_callback(&callback, &stored).await;
    let believed = verdict.as_ref().is_ok_and(|verdict| verdict.is_charged());
    let claims_charge = callback.status == Some(kassa::PaymentStatus::Charged);
    let right = if claims_charge { believed == is_true } else { is_true || !believed };
    if right { Ok(()) } else { Err(format!("{payment:?}: of the callback {body} it was said: {verdict:?}")) }
}
