//! Two workers on one database, whose clocks are an hour apart, interleaved by a seed at every transaction, request and
//! delivery.

use std::{
    sync::{Arc, Mutex},
    task::{Context, Waker},
    time::Duration,
};

use fastrand::Rng;
use kassa::{FakeFault, FakePlan};
use kassa_server::{Boxed, CheckoutState, Cursor, NewCheckout, PaymentState};

use crate::{
    invariants::{check, check_end},
    support::{
        lock, one,
        runner::Interleaved,
        world::{Process, World},
    },
};

const SEEDS: u64 = 200;

fn two(world: &World) -> [Arc<Process>; 2] {
    [0, 3600].map(|offset| Arc::new(world.start_with(None, Duration::from_secs(offset), World::settings())))
}

fn order() -> NewCheckout {
    NewCheckout::new("order-1", 390.into(), "Two tickets", "https://shop.example.kg/paid")
}

/// Every app presses the button twice, on whichever process it meets.
#[test]
fn concurrent_payments_of_a_checkout_send_one() {
    for seed in 0..SEEDS {
        let (mut random, world) = (Rng::with_seed(seed), World::new(seed));
        let workers = two(&world);
        let mut calls = Interleaved::default();
        let (begun, refused) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(0)));
        for (worker, by_qr) in [(0, false), (1, false), (0, true), (1, true), (0, false)] {
            let (server, begun, refused) = (workers[worker].server.clone(), begun.clone(), refused.clone());
            calls.add(&workers[worker], async move {
                let id = server.open_checkout(order()).await.unwrap().checkout.id;
                let paid = match by_qr {
                    true => server.pay_by_qr(&id, None).await,
                    false => server.pay_by_mbank(&id, "996700000001", None).await,
                };
                match paid {
                    Ok(payment) => lock(&begun).push(payment.id),
                    Err(_) => *lock(&refused) += 1,
                }
            });
        }
        calls.finish(&mut random, &world.fake);
        assert_eq!(world.fake.payments().len(), 1, "seed {seed}");
        let (begun, refused) = (lock(&begun).clone(), *lock(&refused));
        assert!(begun.iter().all(|id| *id == begun[0]) && begun.len() + refused == 5, "seed {seed}: {begun:?}");
        check(&world).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

#[test]
fn concurrent_confirmations_send_one() {
    for seed in 0..SEEDS {
        let (mut random, world) = (Rng::with_seed(seed), World::new(seed));
        let workers = two(&world);
        let server = workers[0].server.clone();
        let id = workers[0].run(server.open_checkout(order())).unwrap().checkout.id;
        let payment = workers[0].run(server.pay_by_mbank(&id, "996700000001", None)).unwrap();
        let mut calls = Interleaved::default();
        for worker in [0, 1, 0, 1] {
            let (server, id, payment, otp) =
                (workers[worker].server.clone(), id.clone(), payment.id.clone(), world.fake.otp());
            calls.add(&workers[worker], async move { drop(server.confirm(&id, &payment, &otp, None).await) });
        }
        calls.finish(&mut random, &world.fake);
        let sent = lock(&world.log).sent.iter().filter(|(_, what)| what == "otp").count();
        assert_eq!(sent, 1, "seed {seed}");
        check(&world).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
    }
}

/// The calendar jumps by an hour, ahead and back, and no machine's own clock agrees with another's: nothing ends that has
/// not ended, and everything that has is found.
#[test]
fn clock_skew_of_an_hour_is_tolerated() {
    for seed in 0..SEEDS {
        let (mut random, world) = (Rng::with_seed(seed), World::new(seed));
        let workers = two(&world);
        world.fake.plan(FakePlan::Charge { after: Duration::from_secs(random.u64(0..100)) });
        let server = workers[0].server.clone();
        let long = order().with_lifetime(Duration::from_secs(30 * 24 * 3600));
        let id = workers[0].run(server.open_checkout(long)).unwrap().checkout.id;
        let mut calls = Interleaved::default();
        let (payer, paid) = (id.clone(), server.clone());
        calls.add(&workers[0], async move { drop(paid.pay_by_qr(&payer, None).await) });
        for turn in 0..40 {
            let worker = &workers[turn % 2];
            let server = worker.server.clone();
            calls.add(worker, async move {
                let _ = server.poll_once().await;
                let _ = server.deliver_once().await;
            });
            if random.u32(0..4) == 0 {
                world.jump(Duration::from_secs(3600), random.bool());
            }
            (0..random.usize(0..30)).for_each(|_| calls.step(&mut random));
            world.fake.advance(Duration::from_secs(random.u64(0..20)));
        }
        calls.finish(&mut random, &world.fake);
        check(&world).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        world.close();
        check_end(&world).unwrap_or_else(|broken| panic!("seed {seed}: {broken}"));
        let view = workers[0].run(server.checkout(&id)).unwrap();
        // A jump ahead can take the sender for dead; then its code was shown to nobody, and is charged here all the same.
        let states: Vec<_> = view.payments.iter().map(|payment| payment.state).collect();
        match states[..] {
            [PaymentState::Charged] => assert_eq!(view.checkout.state, CheckoutState::Paid, "seed {seed}"),
            [PaymentState::NotMade | PaymentState::Unverifiable] => {}
            _ => panic!("seed {seed}: {states:?}"),
        }
    }
}

/// A calendar that is an hour ahead takes the sender of a mobile-bank payment for dead. Its own late answer counts all the
/// same, and nobody sends it again.
#[test]
fn late_response_of_dead_sender_is_recorded() {
    let (mut random, world) = (Rng::with_seed(1), World::new(1));
    let workers = two(&world);
    let id = workers[0].run(workers[0].server.open_checkout(order())).unwrap().checkout.id;
    let mut calls = Interleaved::default();
    let (payer, server) = (id.clone(), workers[0].server.clone());
    calls.add(&workers[0], async move { drop(server.pay_by_mbank(&payer, "996700000001", None).await) });
    let is_sending = || {
        let state: Option<String> = one(&lock(&world.db), "SELECT state FROM payments", []);
        state.as_deref() == Some("sending")
    };
    while !is_sending() {
        calls.step(&mut random);
    }
    world.jump(Duration::from_secs(3600), true);
    workers[1].run(workers[1].server.poll_once()).unwrap();
    let states = |world: &World| -> String { one(&lock(&world.db), "SELECT state FROM payments", []).unwrap() };
    assert_eq!(states(&world), "unknown");
    calls.finish(&mut random, &world.fake);
    assert_eq!(states(&world), "awaiting");
    assert_eq!(world.fake.payments().len(), 1);
    check(&world).unwrap();
}

/// The gateway takes no mobile-bank payments, and asks to wait. There is one place for sending.
#[test]
fn waiting_payment_holds_no_send_slot() {
    let world = World::new(0);
    let mut settings = World::settings();
    settings.max_concurrent_sends = 1;
    let process = Arc::new(world.start_with(None, Duration::ZERO, settings));
    let server = process.server.clone();
    let opened = |reference: &str| {
        let order = NewCheckout::new(reference, 390.into(), "Two tickets", "https://shop.example.kg/paid");
        process.run(server.open_checkout(order)).unwrap().checkout.id
    };
    let ids = ["order-1", "order-2", "order-3"].map(opened);
    lock(&world.faults.0).next = Some(FakeFault::TooManyRequests { retry_after: Duration::from_secs(20) });
    process.run(server.pay_by_mbank(&ids[0], "996700000001", None)).unwrap();
    let (mut calls, mut random) = (Interleaved::default(), Rng::with_seed(0));
    let (waiting, payer) = (server.clone(), ids[1].clone());
    calls.add(&process, async move { drop(waiting.pay_by_mbank(&payer, "996700000001", None).await) });
    (0..50).for_each(|_| calls.step(&mut random));
    let state = || process.run(server.checkout(&ids[1])).unwrap().payments[0].state;
    assert_eq!(state(), PaymentState::Prepared);
    assert_eq!(process.run(server.pay_by_qr(&ids[2], None)).unwrap().state, PaymentState::Awaiting);
    assert_eq!(state(), PaymentState::Prepared);
}

/// An event that was taken is followed by the next one at once, and not when the worker would look again by itself.
#[test]
fn stream_events_are_delivered_back_to_back() {
    let world = World::new(0);
    let process = world.start(None);
    let server = process.server.clone();
    let id = process.run(server.open_checkout(order())).unwrap().checkout.id;
    let payment = process.run(server.pay_by_qr(&id, None)).unwrap();
    world.fake.charge(payment.qr_text.as_deref().unwrap()).unwrap();
    process.run(server.check_now(&id)).unwrap();
    process.run(server.poll_once()).unwrap();
    let event_count = process.run(server.events_after(&Cursor::default(), 10)).unwrap().len();
    assert_eq!(event_count, 4);
    let began = world.fake.now();
    server.run();
    let mut tasks: Vec<Boxed<'static, ()>> = Vec::new();
    let mut cx = Context::from_waker(Waker::noop());
    while lock(&world.shop).seen.len() < event_count {
        for _ in 0..100 {
            tasks.append(&mut lock(&process.tasks));
            tasks.retain_mut(|task| task.as_mut().poll(&mut cx).is_pending());
        }
        world.fake.advance(Duration::from_millis(5));
        let passed = world.fake.now().saturating_sub(began);
        assert!(passed < Duration::from_millis(500), "{} of {event_count} events", lock(&world.shop).seen.len());
    }
}
